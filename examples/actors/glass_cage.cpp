#include "actors/glass_cage.h"

#include <algorithm>
#include <map>

#include "modelling/quilt.h"
#include "modelling/sculpture.h"

namespace supple::actors {
namespace {

using namespace modelling;

// Planes that cut space into boxes, each of which is all glass or all air.
std::array<std::vector<double>, 3> cuts(const GlassCage& cage, int detail) {
  std::array<std::vector<double>, 3> result;
  const double half = cage.width / 2, outer = half + cage.thickness;
  for (const int axis : {0, 2}) {
    result[axis].push_back(-outer);
    for (int i = 0; i <= detail; ++i) result[axis].push_back(-half + cage.width * i / detail);
    result[axis].push_back(outer);
  }
  for (int i = 0; i <= detail; ++i) result[1].push_back(cage.height * i / detail);
  result[1].push_back(cage.height + cage.thickness);
  return result;
}

// Sews the faces between glass and air.
Quilt sew(const GlassCage& cage, int detail) {
  const auto planes = cuts(cage, detail);
  const Vec3i count(detail + 2, detail + 1, detail + 2);  // of boxes
  const auto is_glass = [&](const Vec3i& box) {
    if ((box.array() < 0).any() || (box.array() >= count.array()).any()) return false;
    const bool is_wall =
        box[0] == 0 || box[0] == count[0] - 1 || box[2] == 0 || box[2] == count[2] - 1;
    return is_wall || box[1] == count[1] - 1;
  };
  Quilt quilt;
  std::map<std::array<int, 3>, int> numbers;
  const auto corner = [&](const Vec3i& at) {
    const auto [found, is_new] = numbers.try_emplace({at[0], at[1], at[2]}, quilt.size());
    if (is_new)
      quilt.add_vertex({planes[0][static_cast<size_t>(at[0])],
                        planes[1][static_cast<size_t>(at[1])],
                        planes[2][static_cast<size_t>(at[2])]});
    return found->second;
  };
  for (int n = 0; n < count.prod(); ++n) {
    const Vec3i box(n % count[0], n / count[0] % count[1], n / count[0] / count[1]);
    if (!is_glass(box)) continue;
    for (int axis = 0; axis < 3; ++axis)
      for (const int way : {0, 1}) {
        const Vec3i out = Vec3i::Unit(axis), u = Vec3i::Unit((axis + 1) % 3),
                    v = Vec3i::Unit((axis + 2) % 3);
        if (is_glass(box + (2 * way - 1) * out)) continue;
        const Vec3i at = box + way * out;
        const int a = corner(at), b = corner(at + u), c = corner(at + u + v), d = corner(at + v);
        way == 1 ? quilt.add_quad(a, b, c, d) : quilt.add_quad(d, c, b, a);
      }
  }
  return quilt;
}

}  // namespace

double GlassCage::volume() const {
  double sum = 0;
  for (const CagePlate& plate : plates) sum += plate.size.prod();
  return sum;
}

GlassCage glass_cage(int detail) {
  GlassCage cage;
  const double w = cage.width, h = cage.height, t = cage.thickness, outer = w + 2 * t;
  const double wall = 0.5 * (w + t);
  cage.plates = {CagePlate{{0, h + t / 2, 0}, {outer, t, outer}},
                 CagePlate{{wall, h / 2, 0}, {t, h, outer}},
                 CagePlate{{-wall, h / 2, 0}, {t, h, outer}},
                 CagePlate{{0, h / 2, wall}, {w, h, t}}, CagePlate{{0, h / 2, -wall}, {w, h, t}}};
  cage.mesh = sew(cage, std::max(1, detail)).mesh();
  return cage;
}

Character glass_cage_model(int detail) {
  const GlassCage cage;
  const Quilt quilt = sew(cage, std::max(1, detail));
  // Greenish like thick glass, more so towards the ground.
  const auto colour = [&](int v) -> Vec3d {
    const double down = 1 - quilt.place(v)[1] / (cage.height + cage.thickness);
    return screen_colour(0.80, 0.91, 0.94) * (1 - down) + screen_colour(0.55, 0.78, 0.76) * down;
  };
  return quilt.character("glass_cage", colour);
}

}  // namespace supple::actors
