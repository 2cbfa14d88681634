#include "supple/contact/ray_caster.h"

#include <embree3/rtcore.h>

#include <cstring>
#include <limits>
#include <vector>

#include "supple/core/error.h"
#include "supple/core/parallel.h"

namespace supple {
namespace {

// A ray that passes the triangles of one vertex by.
struct Context {
  RTCIntersectContext embree;
  const std::vector<Vec3i>* triangles = nullptr;
  int32_t vertex = -1;
};

void pass_by(const RTCFilterFunctionNArguments* arguments) {
  // Embree hands the context on as what it begins with.
  const auto* context = reinterpret_cast<const Context*>(arguments->context);
  const unsigned triangle = RTCHitN_primID(arguments->hit, arguments->N, 0);
  if ((*context->triangles)[triangle].cwiseEqual(context->vertex).any()) arguments->valid[0] = 0;
}

}  // namespace

struct RayCaster::Scene {
  std::vector<Vec3i> triangles;
  RTCDevice device = nullptr;
  RTCScene scene = nullptr;

  Scene(std::span<const Vec3f> positions, std::span<const Vec3i> mesh)
      : triangles(mesh.begin(), mesh.end()) {
#ifdef SUPPLE_THREAD_SANITIZER
    device = rtcNewDevice("threads=1");
#else
    device = rtcNewDevice(nullptr);
#endif
    if (device == nullptr) throw Error(ErrorKind::simulation, "Embree cannot be started");
    scene = rtcNewScene(device);
    rtcSetSceneFlags(scene, static_cast<RTCSceneFlags>(RTC_SCENE_FLAG_ROBUST |
                                                       RTC_SCENE_FLAG_CONTEXT_FILTER_FUNCTION));
    RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    void* to = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                                       sizeof(Vec3f), positions.size());
    std::memcpy(to, static_cast<const void*>(positions.data()), positions.size_bytes());
    to = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                 sizeof(Vec3i), triangles.size());
    std::memcpy(to, static_cast<const void*>(triangles.data()), mesh.size_bytes());
    rtcCommitGeometry(geometry);
    rtcAttachGeometryByID(scene, geometry, 0);
    rtcReleaseGeometry(geometry);
    rtcCommitScene(scene);
  }
  ~Scene() {
    rtcReleaseScene(scene);
    rtcReleaseDevice(device);
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
};

RayCaster::RayCaster(std::span<const Vec3f> positions, std::span<const Vec3i> triangles)
    : m_scene(std::make_unique<Scene>(positions, triangles)) {}
RayCaster::~RayCaster() = default;
RayCaster::RayCaster(RayCaster&&) noexcept = default;
RayCaster& RayCaster::operator=(RayCaster&&) noexcept = default;

RayHit RayCaster::cast(const Vec3f& origin, const Vec3f& direction, int32_t vertex) const {
  Context context;
  rtcInitIntersectContext(&context.embree);
  context.embree.filter = pass_by;
  context.triangles = &m_scene->triangles;
  context.vertex = vertex;
  RTCRayHit ray{};
  ray.ray.org_x = origin[0];
  ray.ray.org_y = origin[1];
  ray.ray.org_z = origin[2];
  ray.ray.dir_x = direction[0];
  ray.ray.dir_y = direction[1];
  ray.ray.dir_z = direction[2];
  ray.ray.tfar = std::numeric_limits<float>::infinity();
  ray.ray.mask = ~0u;
  ray.hit.geomID = RTC_INVALID_GEOMETRY_ID;
  rtcIntersect1(m_scene->scene, &context.embree, &ray);
  if (ray.hit.geomID == RTC_INVALID_GEOMETRY_ID) return {};
  return {static_cast<int32_t>(ray.hit.primID), ray.ray.tfar, ray.hit.u, ray.hit.v};
}

}  // namespace supple
