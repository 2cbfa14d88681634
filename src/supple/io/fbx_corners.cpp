#include "supple/io/fbx_corners.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "supple/core/chunk.h"
#include "supple/core/error.h"

namespace supple::fbx {
namespace {

bool is_finite(const aiVector3D& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

bool is_finite(const aiColor4D& c) {
  return std::isfinite(c.r) && std::isfinite(c.g) && std::isfinite(c.b) && std::isfinite(c.a);
}

template <class T>
void check_finite(const T* values, unsigned count, std::string_view file, std::string_view field) {
  if (!values) return;
  for (unsigned i = 0; i < count; ++i)
    if (!is_finite(values[i])) throw_input_error(file, field, "a number is not finite");
}

}  // namespace

Corners::Corners(const aiMesh& mesh, std::string_view file) : m_mesh(mesh), m_file(file) {
  if (mesh.mNumVertices > static_cast<unsigned>(std::numeric_limits<int32_t>::max() / 4))
    throw_input_error(file, "mesh", fmt::format("{} corners are too many", mesh.mNumVertices));
  if (mesh.mNumVertices > 0 && !mesh.mVertices)
    throw_input_error(file, "mesh", "positions are missing");
  read_faces();
  check_numbers();
  read_weights();
  weld();
}

void Corners::read_faces() {
  if (m_mesh.mNumFaces > 0 && !m_mesh.mFaces)
    throw_input_error(m_file, "mesh", "faces are missing");
  m_triangles.reserve(m_mesh.mNumFaces);
  for (unsigned f = 0; f < m_mesh.mNumFaces; ++f) {
    const aiFace& face = m_mesh.mFaces[f];
    if (face.mNumIndices != 3 || !face.mIndices) {
      ++m_other_faces;
      continue;
    }
    for (unsigned k = 0; k < 3; ++k)
      if (face.mIndices[k] >= m_mesh.mNumVertices)
        throw_input_error(m_file, "triangle",
                          fmt::format("index {} is outside 0..{}", face.mIndices[k],
                                      int64_t{m_mesh.mNumVertices} - 1));
    m_triangles.emplace_back(face.mIndices[0], face.mIndices[1], face.mIndices[2]);
  }
}

void Corners::check_numbers() const {
  const unsigned count = m_mesh.mNumVertices;
  check_finite(m_mesh.mVertices, count, m_file, "position");
  check_finite(m_mesh.mTextureCoords[0], count, m_file, "texture coordinate");
  check_finite(m_mesh.mColors[0], count, m_file, "colour");
  if (m_mesh.mNumAnimMeshes > 0 && !m_mesh.mAnimMeshes)
    throw_input_error(m_file, "shape", "blend shapes are missing");
  for (unsigned s = 0; s < m_mesh.mNumAnimMeshes; ++s) {
    const aiAnimMesh* shape = m_mesh.mAnimMeshes[s];
    if (!shape || (shape->mVertices && shape->mNumVertices != count))
      throw_input_error(m_file, "shape", "has another number of vertices than its mesh");
    check_finite(shape->mVertices, count, m_file, "shape position");
  }
}

// Sorts the weights, given bone by bone, by corner.
void Corners::read_weights() {
  if (m_mesh.mNumBones > 0 && !m_mesh.mBones)
    throw_input_error(m_file, "skin", "bones are missing");
  m_weight_offsets.assign(m_mesh.mNumVertices + 1, 0);
  int64_t total = 0;
  const auto each_weight = [&](const auto& visit) {
    for (unsigned b = 0; b < m_mesh.mNumBones; ++b) {
      const aiBone* bone = m_mesh.mBones[b];
      if (!bone || (bone->mNumWeights > 0 && !bone->mWeights))
        throw_input_error(m_file, "skin", "weights are missing");
      for (unsigned w = 0; w < bone->mNumWeights; ++w)
        visit(static_cast<int32_t>(b), bone->mWeights[w]);
    }
  };
  each_weight([&](int32_t, const aiVertexWeight& given) {
    if (given.mVertexId >= m_mesh.mNumVertices)
      throw_input_error(m_file, "weight",
                        fmt::format("vertex {} is outside 0..{}", given.mVertexId,
                                    int64_t{m_mesh.mNumVertices} - 1));
    if (!std::isfinite(given.mWeight)) throw_input_error(m_file, "weight", "is not finite");
    if (++total > std::numeric_limits<int32_t>::max())
      throw_input_error(m_file, "weight", "there are too many of them");
    ++m_weight_offsets[given.mVertexId + 1];
  });
  for (size_t i = 1; i < m_weight_offsets.size(); ++i)
    m_weight_offsets[i] += m_weight_offsets[i - 1];
  m_weights.resize(static_cast<size_t>(total));
  std::vector<int32_t> next(m_weight_offsets.begin(), m_weight_offsets.end() - 1);
  each_weight([&](int32_t bone, const aiVertexWeight& given) {
    m_weights[next[given.mVertexId]++] = {bone, given.mWeight};
  });
}

Vec3f Corners::position(int32_t corner) const {
  const aiVector3D& p = m_mesh.mVertices[corner];
  return {p.x, p.y, p.z};
}

std::span<const CornerWeight> Corners::weights(int32_t corner) const {
  return {m_weights.data() + m_weight_offsets[corner],
          m_weights.data() + m_weight_offsets[corner + 1]};
}

Vec3f Corners::shape_offset(unsigned shape, int32_t corner) const {
  const aiAnimMesh& moved = *m_mesh.mAnimMeshes[shape];
  if (!moved.mVertices) return Vec3f::Zero();
  const aiVector3D offset = moved.mVertices[corner] - m_mesh.mVertices[corner];
  return {offset.x, offset.y, offset.z};
}

// Adding zero makes one number of the two zeros, which compare equal and must hash alike.
uint64_t Corners::hash(int32_t corner) const {
  const Vec3f p = position(corner);
  std::array<float, 5> key = {p[0] + 0.f, p[1] + 0.f, p[2] + 0.f, 0.f, 0.f};
  if (const aiVector3D* uv = m_mesh.mTextureCoords[0]) {
    key[3] = uv[corner].x + 0.f;
    key[4] = uv[corner].y + 0.f;
  }
  return checksum(std::as_bytes(std::span(key))) ^ checksum(std::as_bytes(weights(corner)));
}

bool Corners::same(int32_t a, int32_t b) const {
  if (m_mesh.mVertices[a] != m_mesh.mVertices[b]) return false;
  if (const aiVector3D* uv = m_mesh.mTextureCoords[0])
    if (uv[a].x != uv[b].x || uv[a].y != uv[b].y) return false;
  if (const aiColor4D* colour = m_mesh.mColors[0])
    if (colour[a] != colour[b]) return false;
  const auto equal_weight = [](const CornerWeight& x, const CornerWeight& y) {
    return x.bone == y.bone && x.weight == y.weight;
  };
  const auto of_a = weights(a), of_b = weights(b);
  if (!std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), equal_weight)) return false;
  for (unsigned s = 0; s < m_mesh.mNumAnimMeshes; ++s) {
    const aiAnimMesh& shape = *m_mesh.mAnimMeshes[s];
    if (shape.mVertices && shape.mVertices[a] != shape.mVertices[b]) return false;
  }
  return true;
}

void Corners::weld() {
  const size_t count = m_mesh.mNumVertices;
  std::vector<bool> used(count, false);
  for (const Vec3i& triangle : m_triangles)
    for (int k = 0; k < 3; ++k) used[triangle[k]] = true;
  m_vertex_of.assign(count, -1);
  const auto hash_of = [this](int32_t corner) { return hash(corner); };
  const auto equal = [this](int32_t a, int32_t b) { return same(a, b); };
  std::unordered_set<int32_t, decltype(hash_of), decltype(equal)> known(count / 4, hash_of, equal);
  for (size_t i = 0; i < count; ++i) {
    if (!used[i]) continue;
    const auto corner = static_cast<int32_t>(i);
    const auto [found, is_new] = known.insert(corner);
    if (is_new) {
      m_vertex_of[i] = static_cast<int32_t>(m_vertices.size());
      m_vertices.push_back(corner);
    } else {
      m_vertex_of[i] = m_vertex_of[*found];
    }
  }
}

}  // namespace supple::fbx
