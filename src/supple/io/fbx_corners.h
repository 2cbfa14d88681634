// The polygon corners of one imported mesh, and which of them are the same vertex.
#pragma once

#include <assimp/scene.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "supple/math/types.h"

namespace supple::fbx {

/// A bone's pull on a corner: the bone's number in the mesh.
struct CornerWeight {
  int32_t bone = 0;
  float weight = 0;
};

/// The corners of a mesh with everything that tells two vertices apart, checked on construction.
class Corners {
 public:
  /// Throws an input error naming `file` when an index is out of range or a number not finite.
  Corners(const aiMesh& mesh, std::string_view file);

  /// Corner triples of the mesh's triangles; faces of other sizes are left out.
  const std::vector<Vec3i>& triangles() const { return m_triangles; }

  /// Faces left out.
  size_t other_faces() const { return m_other_faces; }

  /// One corner for every vertex, in order of first appearance among the corners in use.
  const std::vector<int32_t>& vertices() const { return m_vertices; }

  /// The vertex each corner became; -1 for corners of no triangle.
  const std::vector<int32_t>& vertex_of() const { return m_vertex_of; }

  /// Position in the mesh's own space.
  Vec3f position(int32_t corner) const;

  /// The bones that pull a corner.
  std::span<const CornerWeight> weights(int32_t corner) const;

  /// How far a blend shape moves a corner, in the mesh's own space.
  Vec3f shape_offset(unsigned shape, int32_t corner) const;

 private:
  void read_faces();
  void read_weights();
  void check_numbers() const;
  void weld();
  uint64_t hash(int32_t corner) const;
  bool same(int32_t a, int32_t b) const;

  const aiMesh& m_mesh;
  std::string_view m_file;
  std::vector<Vec3i> m_triangles;
  size_t m_other_faces = 0;
  std::vector<int32_t> m_weight_offsets;
  std::vector<CornerWeight> m_weights;
  std::vector<int32_t> m_vertices;
  std::vector<int32_t> m_vertex_of;
};

}  // namespace supple::fbx
