// Measures contact of bodies with themselves in caches, on the skin that is drawn alone: how deep
// parts get into each other, and how far those stay apart that push each other. For docs/adjust.md.
//
//   figures_contact CACHE...
#include <algorithm>
#include <cstdio>

#include "supple/contact/closest_point.h"
#include "supple/core/error.h"
#include "supple/io/cache.h"
#include "supple/mesh/weld.h"
#include "support/skin_overlap.h"

namespace supple {
namespace {

// Surface within this distance at rest is a vertex's own, m; so low vertices stand on the ground.
constexpr double reach = 0.12, ground = 0.02;

// How far before other parts' nearest surface a point is, m; negative behind it.
double signed_gap(const TriangleMesh& rest, std::span<const Vec3f> posed, size_t point) {
  const Vec3d at = posed[point].cast<double>();
  double nearest = 1e9, side = 1;
  for (const Vec3i& t : rest.triangles) {
    TriangleCorners corners;
    bool own = false;
    for (size_t c = 0; c < 3; ++c) {
      const auto v = static_cast<size_t>(t[static_cast<int>(c)]);
      own |= static_cast<double>((rest.positions[v] - rest.positions[point]).norm()) < reach;
      corners[c] = posed[v].cast<double>();
    }
    if (own || (corners[0] - at).squaredNorm() > 0.04) continue;
    const Vec3d away = at - at_weights(corners, closest_weights(corners, at));
    if (!(away.norm() < nearest)) continue;
    nearest = away.norm();
    side = away.dot((corners[1] - corners[0]).cross(corners[2] - corners[0]));
  }
  return side < 0 ? -nearest : nearest;
}

void measure(const char* folder) {
  const CacheReader cache(folder);
  const TriangleMesh& skin = cache.info().skin;
  const Weld weld = weld_by_position(skin.positions);
  const TriangleMesh rest = welded_mesh(weld, skin.positions, skin.triangles);
  const test::OverlapMeter meter(rest, reach);
  struct Worst {
    double value = 0;
    int frame = 0;
    void add(double v, int f) {
      if (v > value) *this = {v, f};
    }
  } found, inside, gap;
  size_t touching = 0, most = 0;
  const FrameRange& range = cache.info().range;
  for (int i = 0; i < cache.frame_count(); ++i) {
    const CacheFrame frame = cache.read_frame(range.first + i);
    std::vector<Vec3f> posed;
    for (const int32_t v : weld.vertex_of_point)
      posed.push_back(frame.positions[static_cast<size_t>(v)]);
    std::span<const float> depths;
    for (const ChunkArray& array : frame.extras)
      if (array.name == "map/contact")
        depths = {reinterpret_cast<const float*>(array.data.data()), frame.positions.size()};
    if (depths.empty()) throw_input_error(folder, "map/contact", "is not there");
    size_t count = 0;
    for (size_t p = 0; p < posed.size(); ++p) {
      const float depth = depths[static_cast<size_t>(weld.vertex_of_point[p])];
      if (!(depth > 0) || static_cast<double>(posed[p].y()) < ground) continue;
      ++count;
      found.add(static_cast<double>(depth), frame.frame);
      gap.add(signed_gap(rest, posed, p), frame.frame);
    }
    touching += count > 0 ? 1 : 0;
    most = std::max(most, count);
    // The meter asks a little outside of the skin, so that it finds what is close as well.
    for (const int32_t v : meter.measure(posed, 0).vertices)
      inside.add(-signed_gap(rest, posed, static_cast<size_t>(v)), frame.frame);
  }
  std::printf(
      "%s: touches itself in %zu of %d frames, at %zu vertices at most\n"
      "  depth of contact points %.2f mm (frame %d), of vertices in other parts %.2f mm (frame "
      "%d)\n"
      "  gap before vertices that are pushed %.2f mm (frame %d)\n",
      folder, touching, cache.frame_count(), most, 1e3 * found.value, found.frame,
      1e3 * inside.value, inside.frame, 1e3 * gap.value, gap.frame);
}

}  // namespace
}  // namespace supple

int main(int count, char** arguments) {
  try {
    for (int i = 1; i < count; ++i) supple::measure(arguments[i]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
