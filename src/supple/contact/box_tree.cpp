#include "supple/contact/box_tree.h"

#include <embree3/rtcore.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <span>

#include "supple/core/error.h"
#include "supple/core/parallel.h"

namespace supple {
namespace {

constexpr double farthest = 1e15;  // squares of it are numbers in single precision too

struct FloatBox {
  Vec3f low = Vec3f::Zero(), high = Vec3f::Zero();
};

float rounded_down(double x) {
  const auto f = static_cast<float>(x);
  return static_cast<double>(f) > x ? std::nextafter(f, -std::numeric_limits<float>::max()) : f;
}

float rounded_up(double x) { return -rounded_down(-x); }

// Pairs as they are found, on many threads: those beyond the room there is are only counted.
struct FoundPairs {
  const FloatBox* boxes;
  const void* context;
  BoxTree::Wanted wanted;
  std::span<BoxTree::Pair> room;
  std::atomic<size_t> count = 0;

  void add(uint32_t a, uint32_t b) {
    if (!(a < b)) return;
    const FloatBox &one = boxes[a], &two = boxes[b];
    if (!(one.low.array() <= two.high.array()).all() ||
        !(two.low.array() <= one.high.array()).all() || !wanted(context, a, b))
      return;
    const size_t at = count.fetch_add(1, std::memory_order_relaxed);
    if (at < room.size()) room[at] = {a, b};
  }
};

void on_pairs(void* found, RTCCollision* pairs, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    static_cast<FoundPairs*>(found)->add(pairs[i].primID0, pairs[i].primID1);
}

// A search in progress.
struct Search {
  void* context;
  BoxTree::Visit visit;
  double margin;  // that the search reaches further than asked, in metres

  // Relative errors of squared distances in single precision stay well below 1e-5.
  float reach(double radius) const {
    return radius < farthest ? rounded_up(radius * (1 + 1e-5) + margin)
                             : std::numeric_limits<float>::infinity();
  }
};

bool on_box(RTCPointQueryFunctionArguments* arguments) {
  const auto& search = *static_cast<const Search*>(arguments->userPtr);
  const float radius = search.reach(search.visit(search.context, arguments->primID));
  if (!(radius < arguments->query->radius)) return false;
  arguments->query->radius = radius;
  return true;
}

void box_bounds(const RTCBoundsFunctionArguments* arguments) {
  const FloatBox& box = static_cast<const FloatBox*>(arguments->geometryUserPtr)[arguments->primID];
  RTCBounds& out = *arguments->bounds_o;
  out.lower_x = box.low[0];
  out.lower_y = box.low[1];
  out.lower_z = box.low[2];
  out.upper_x = box.high[0];
  out.upper_y = box.high[1];
  out.upper_z = box.high[2];
}

}  // namespace

struct BoxTree::Scene {
  std::vector<FloatBox> boxes;
  double extent = 0;  // largest coordinate of any box
  RTCDevice device = nullptr;
  RTCScene scene = nullptr;
  RTCGeometry geometry = nullptr;

  explicit Scene(size_t count) : boxes(count) {
#ifdef SUPPLE_THREAD_SANITIZER
    device = rtcNewDevice("threads=1");
#else
    device = rtcNewDevice(nullptr);
#endif
    if (device == nullptr) throw Error(ErrorKind::simulation, "Embree cannot be started");
    scene = rtcNewScene(device);
    rtcSetSceneFlags(scene,
                     static_cast<RTCSceneFlags>(RTC_SCENE_FLAG_DYNAMIC | RTC_SCENE_FLAG_ROBUST));
    geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_USER);
    rtcSetGeometryUserPrimitiveCount(geometry, static_cast<unsigned>(count));
    rtcSetGeometryUserData(geometry, boxes.data());
    rtcSetGeometryBoundsFunction(geometry, box_bounds, nullptr);
    rtcAttachGeometryByID(scene, geometry, 0);
  }
  ~Scene() {
    rtcReleaseGeometry(geometry);
    rtcReleaseScene(scene);
    rtcReleaseDevice(device);
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
};

BoxTree::BoxTree(size_t count) : m_scene(std::make_unique<Scene>(count)) {}
BoxTree::~BoxTree() = default;
BoxTree::BoxTree(BoxTree&&) noexcept = default;
BoxTree& BoxTree::operator=(BoxTree&&) noexcept = default;

size_t BoxTree::size() const { return m_scene->boxes.size(); }

void BoxTree::set(size_t item, const Box3d& box) {
  FloatBox& to = m_scene->boxes[item];
  to = {};
  const bool usable = (box.min().array() <= box.max().array()).all() &&
                      (box.min().array() > -farthest).all() && (box.max().array() < farthest).all();
  if (!usable) return;
  for (int c = 0; c < 3; ++c) {
    to.low[c] = rounded_down(box.min()[c]);
    to.high[c] = rounded_up(box.max()[c]);
  }
}

void BoxTree::update() {
  Scene& s = *m_scene;
  s.extent = 0;
  for (const FloatBox& box : s.boxes)
    s.extent = std::max({s.extent, static_cast<double>(-box.low.minCoeff()),
                         static_cast<double>(box.high.maxCoeff())});
  if (s.boxes.empty()) return;
  rtcCommitGeometry(s.geometry);
  rtcCommitScene(s.scene);
}

void BoxTree::search(const Vec3d& point, double radius, void* context, Visit visit) const {
  if (m_scene->boxes.empty() || !(point.cwiseAbs().maxCoeff() < farthest)) return;
  // What rounding the point can move it by, and some more for differences of coordinates.
  const double size = std::max(m_scene->extent, point.cwiseAbs().maxCoeff());
  Search search{context, visit, 5e-7 * size};
  RTCPointQuery query{};
  query.x = static_cast<float>(point[0]);
  query.y = static_cast<float>(point[1]);
  query.z = static_cast<float>(point[2]);
  query.radius = search.reach(radius);
  RTCPointQueryContext stack;
  rtcInitPointQueryContext(&stack);
  rtcPointQuery(m_scene->scene, &query, &stack, on_box, &search);
}

void BoxTree::overlaps(const void* context, Wanted wanted, std::vector<Pair>& out) const {
  const Scene& s = *m_scene;
  out.resize(std::max(out.capacity(), size_t{64}));
  for (bool is_whole = s.boxes.size() < 2; !is_whole;) {
    FoundPairs found{s.boxes.data(), context, wanted, out};
    rtcCollide(s.scene, s.scene, on_pairs, &found);
    is_whole = found.count <= out.size();
    out.resize(is_whole ? found.count.load() : 2 * found.count);
  }
  if (s.boxes.size() < 2) out.clear();
}

}  // namespace supple
