// Cages cut apart between limbs: where two legs stand closer than an element is large, both lie in
// the same tetrahedra, and would move as one. Such elements get a copy for each of them, with nodes
// of its own, as [Molino 2004] does for cracks: nodes are copied for every part of the matter
// around them that does not hang together there.
//
// What hangs together is a matter of the solid's graph (solid_graph.h), whose links never lead
// through the air, however narrow. Shells without any link to others, such as eyes, stay with what
// is nearest. Not handled: limbs that overlap at rest, which are one solid.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "supple/mesh/tet_filling.h"
#include "supple/mesh/tet_locate.h"
#include "supple/mesh/triangle_mesh.h"

namespace supple {

/// A cage after it was cut, and what became of what.
class CutCage {
 public:
  /// Lists of numbers, one after another.
  struct Lists {
    std::vector<int32_t> offsets, entries;

    std::span<const int32_t> of(size_t list) const {
      return {entries.data() + offsets[list], entries.data() + offsets[list + 1]};
    }
  };

  /// Cuts a cage with nodes about `spacing` (length units) apart around a skin whose equal points
  /// are welded.
  CutCage(const TetMesh& cage, const TriangleMesh& skin, double spacing);

  TetMesh mesh;                      ///< nodes and elements in the order they had
  std::vector<int32_t> tet_before;   ///< of every element, the one it was
  std::vector<int32_t> node_before;  ///< of every node, the one it was
  /// Of every node: whether it carries the matter that is nearest to its place; one of its copies
  /// does.
  std::vector<uint8_t> at_home;
  std::vector<Vec3d> matter;  ///< of every node: the middle of its matter; its place if not cut

  /// How many elements there are that share their place with others.
  size_t copies() const;

  /// What fills the elements, when this filled those before.
  TetFilling divide(const TetFilling& before) const;

  /// Where points lie, of which the first are all of the skin's.
  std::vector<TetLocation> locate(std::span<const Vec3d> points) const;

 private:
  using Corners = std::array<int32_t, 4>;
  struct Sample {
    Vec3d position;
    double volume;  // it stands for
    int32_t tet;    // before
    int32_t copy;   // element
  };

  std::vector<int32_t> find_parts(const Lists& links, std::span<Corners> part) const;
  std::vector<Corners> copy_elements(std::span<const Corners> part,
                                     std::span<const int32_t> counts);
  void copy_nodes(std::span<const Corners> combinations);
  void find_matter(std::span<const int32_t> counts);

  TetMesh m_before;
  size_t m_skin_points = 0, m_first_of_skin = 0;
  std::vector<Sample> m_samples;  // of the solid, those of the skin's points after the cells'
  Lists m_of_tet;                 // samples in every element before
  std::vector<int32_t> m_first;   // of the elements before, the first element
};

}  // namespace supple
