#include "supple/mesh/cage_lattice.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

// Where the middle of the skin's box may lie in the lattice, in units of half the spacing. At the
// first four a symmetric skin gets a symmetric cage; the others, in the middle of a tetrahedron, of
// a side and of a short edge, allow for the smallest ones.
const std::vector<Vec3d> places{{0, 0, 0},      {1, 0, 0},   {0, 1, 0},
                                {0, 0, 1},      {1, 0.5, 0}, {1, 2.0 / 3, 1.0 / 3},
                                {0.5, 0.5, 0.5}};

// Tetrahedra that a solid of this volume and surface takes, about: twelve in a cube, half of those
// on the surface beyond it.
double estimate(double volume, double area, double length, double spacing) {
  return 12 * volume / (spacing * spacing * spacing) + 5 * area / (spacing * spacing) +
         4 * length / spacing;
}

class LatticeSearch {
 public:
  LatticeSearch(const TriangleMesh& skin, const SkinSolid& solid, double elements)
      : m_skin(skin), m_solid(solid), m_elements(elements) {
    const Box3f box = bounding_box(skin.positions);
    m_middle = (box.min().cast<double>() + box.max().cast<double>()) / 2;
    m_length = (box.max() - box.min()).cast<double>().norm();
  }

  CageLattice run() {
    find_spacing();
    if (error() > 0.08) try_places();
    return std::move(m_best);
  }

 private:
  double largest() const { return 3 * m_length; }  // one tetrahedron holds the whole box
  double smallest() const { return m_length / 50000; }

  double error() const {
    return m_best.tets.empty() ? INFINITY : off(static_cast<double>(m_best.tets.size()));
  }
  double off(double count) const { return std::abs(std::log(count / m_elements)); }

  // Counts the tetrahedra at one spacing and place, and keeps the best.
  double count(double spacing, const Vec3d& place) {
    CageLattice tried;
    tried.lattice = {m_middle - spacing / 2 * place, spacing};
    tried.tets =
        tets_of_solid(tried.lattice, m_skin, m_solid, static_cast<size_t>(4 * m_elements + 200));
    const auto result = static_cast<double>(tried.tets.size());
    if (off(result) < error()) m_best = std::move(tried);
    return result;
  }

  // Numbers grow with a power of the spacing between that of lengths and of volumes: a secant of
  // their logarithms, kept between what was too coarse and too fine.
  void find_spacing() {
    double fine = smallest(), coarse = largest(), spacing = first_guess(), power = -2.5;
    double last_spacing = 0, last_count = 0;
    for (int i = 0; i < 9; ++i) {
      const double found = count(spacing, places[0]);
      if (error() < 0.03) return;
      (found > m_elements ? fine : coarse) = spacing;
      if (last_count > 0 && found != last_count && spacing != last_spacing)
        power =
            std::clamp(std::log(found / last_count) / std::log(spacing / last_spacing), -3.5, -1.0);
      last_spacing = spacing;
      last_count = found;
      spacing *= std::pow(m_elements / found, 1 / power);
      if (!(spacing > 1.0001 * fine && spacing < coarse / 1.0001))
        spacing = std::sqrt(fine * coarse);
      if (coarse / fine < 1.001) return;
    }
  }

  double first_guess() const {
    const double volume = std::abs(signed_volume(m_skin.positions, m_skin.triangles));
    const double area = surface_area(m_skin.positions, m_skin.triangles);
    double fine = smallest(), coarse = largest();
    for (int i = 0; i < 60; ++i) {
      const double spacing = std::sqrt(fine * coarse);
      (estimate(volume, area, m_length, spacing) > m_elements ? fine : coarse) = spacing;
    }
    return std::sqrt(fine * coarse);
  }

  // Tries other places of the lattice around the best spacing; up to the largest for few elements.
  void try_places() {
    const double from = 0.7 * m_best.lattice.spacing;
    const double to =
        m_elements < 50 ? largest() : std::min(1.5 * m_best.lattice.spacing, largest());
    constexpr int steps = 12;
    for (const Vec3d& place : places)
      for (int i = 0; i <= steps; ++i) {
        count(to * std::pow(from / to, static_cast<double>(i) / steps), place);
        if (error() < 0.05) return;
      }
  }

  const TriangleMesh& m_skin;
  const SkinSolid& m_solid;
  double m_elements;
  Vec3d m_middle;
  double m_length;  // of the skin's box
  CageLattice m_best;
};

}  // namespace

CageLattice find_cage_lattice(const TriangleMesh& skin, const SkinSolid& solid, double elements) {
  return LatticeSearch(skin, solid, elements).run();
}

}  // namespace supple
