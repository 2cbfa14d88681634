#include "supple/io/baked_shapes.h"

#include "supple/core/parallel.h"
#include "supple/io/gltf_accessor_writer.h"
#include "supple/math/flat.h"

namespace supple {
namespace {

// Puts `fallback(v)` where a vertex has no normal: it has no triangle of positive area.
template <class Fallback>
void fill_missing(std::vector<Vec3f>& normals, const Fallback& fallback) {
  for (size_t v = 0; v < normals.size(); ++v)
    if (normals[v].isZero(0)) normals[v] = fallback(v);
}

// The mean of all normals is the base that principal components start from. Where normals all but
// cancel out, the base shape's own normal stays.
void move_to_mean(std::vector<Vec3f>& base, const std::vector<Vec3f>& sum_of_changes, int frames) {
  constexpr float shortest = 0.1f;
  for (size_t v = 0; v < base.size(); ++v) {
    const Vec3f mean = base[v] + sum_of_changes[v] / static_cast<float>(frames);
    if (mean.norm() >= shortest) base[v] = mean;
  }
}

// Normals of the base shape, and the change of the normals projected onto the shapes like the
// positions, frame after frame.
void bake_normals(const AnimatedSkin& skin, const SkinNormals& normals, BakedShapes& baked) {
  const FrameBasis& basis = baked.positions;
  const size_t vertices = skin.rest.size();
  std::vector<Vec3f> base(vertices), frame_normals(vertices), sum(vertices, Vec3f::Zero());
  normals.compute(basis.base, base);
  fill_missing(base, [](size_t) { return Vec3f(0, 1, 0); });
  baked.normal_shapes.assign(basis.shapes.size(), std::vector<Vec3f>(vertices, Vec3f::Zero()));
  for (int f = 0; f < skin.frame_count; ++f) {
    if (basis.projection.col(f).isZero(0)) continue;
    normals.compute(skin.frame(f).positions, frame_normals);
    fill_missing(frame_normals, [&](size_t v) { return base[v]; });
    parallel_for(vertices, 4096, [&](size_t begin, size_t end) {
      for (size_t v = begin; v < end; ++v) sum[v] += frame_normals[v] - base[v];
      for (size_t s = 0; s < baked.normal_shapes.size(); ++s) {
        const float share = basis.projection(static_cast<Eigen::Index>(s), f);
        if (share == 0) continue;
        for (size_t v = begin; v < end; ++v)
          baked.normal_shapes[s][v] += share * (frame_normals[v] - base[v]);
      }
    });
  }
  if (basis.compressed) move_to_mean(base, sum, skin.frame_count);
  baked.base_normals = std::move(base);
}

// The values of a part's vertices, each changed by `change(value, number within the part)`.
template <class Change>
std::vector<Vec3f> of_part(const std::vector<Vec3f>& values, const Part& part,
                           const Change& change) {
  std::vector<Vec3f> result;
  result.reserve(static_cast<size_t>(part.vertices.count));
  for (int32_t v = 0; v < part.vertices.count; ++v) {
    const Vec3d value =
        values[static_cast<size_t>(part.vertices.first) + static_cast<size_t>(v)].cast<double>();
    result.push_back(change(value, static_cast<size_t>(v)).template cast<float>());
  }
  return result;
}

void erase_moving_attributes(Json& attributes) {
  std::vector<std::string> moving;
  for (const auto& [name, unused] : attributes.items())
    if (name.starts_with("JOINTS_") || name.starts_with("WEIGHTS_") || name == "TANGENT")
      moving.push_back(name);
  for (const std::string& name : moving) attributes.erase(name);
}

}  // namespace

BakedShapes bake_shapes(const AnimatedSkin& skin, const SkinNormals& normals, int most_shapes,
                        const std::function<void(int, int)>& progress) {
  BakedShapes baked;
  baked.positions = find_frame_basis(skin, most_shapes, progress);
  bake_normals(skin, normals, baked);
  return baked;
}

void bake_primitive(GltfDocument& document, Json& primitive, const Part& part,
                    const BakedShapes& baked, const Affine& to_local) {
  Json& attributes = primitive["attributes"];
  erase_moving_attributes(attributes);
  const auto point = [&](const Vec3d& p, size_t) { return Vec3d(to_local * p); };
  const auto offset = [&](const Vec3d& d, size_t) { return Vec3d(to_local.linear() * d); };
  attributes["POSITION"] =
      add_vector_accessor(document, of_part(baked.positions.base, part, point), true);

  // With the scene's normals n = b + Σ w c and the node's matrix M, Mᵀ b / |Mᵀ b| + Σ w Mᵀ c / |Mᵀ
  // b| is turned by the viewer's M⁻ᵀ into the direction of n exactly, and is of unit length at w =
  // 0.
  const Mat3d turn = to_local.inverse().linear().transpose();
  std::vector<double> length;
  const auto base_normal = [&](const Vec3d& n, size_t) {
    const Vec3d local = turn * n;
    length.push_back(local.norm());
    return Vec3d(local / length.back());
  };
  const auto normal_change = [&](const Vec3d& c, size_t v) { return Vec3d(turn * c / length[v]); };
  attributes["NORMAL"] =
      add_vector_accessor(document, of_part(baked.base_normals, part, base_normal), false);

  Json targets = Json::array();
  for (size_t s = 0; s < baked.positions.shapes.size(); ++s)
    targets.push_back(
        {{"POSITION",
          add_vector_accessor(document, of_part(baked.positions.shapes[s], part, offset), true)},
         {"NORMAL", add_vector_accessor(
                        document, of_part(baked.normal_shapes[s], part, normal_change), false)}});
  primitive.erase("targets");
  if (!targets.empty()) primitive["targets"] = std::move(targets);
}

}  // namespace supple
