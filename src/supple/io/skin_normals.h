// Vertex normals of a skin whose vertices were split by an exporter: smooth across texture seams,
// sharp where the input file has sharp edges.
#pragma once

#include "supple/io/animated_skin.h"
#include "supple/io/gltf_document.h"

namespace supple {

/// Computes normals frame by frame; which vertices share one is decided once.
class SkinNormals {
 public:
  /// Vertices at the same place share a normal; with `source`, only where they had the same normal
  /// in the input file.
  SkinNormals(const AnimatedSkin& skin, const GltfDocument* source);

  /// Unit normals of all vertices at `positions`, zero where there is no triangle of positive area.
  void compute(std::span<const Vec3f> positions, std::span<Vec3f> normals) const;

 private:
  std::vector<int32_t> m_group_of_vertex;
  std::vector<int32_t> m_vertex_of_group;
  std::vector<Vec3i> m_triangles;  // over groups
};

}  // namespace supple
