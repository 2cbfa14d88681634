#include "supple/sim/attachment.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/math/polar.h"
#include "supple/sim/node_weights.h"
#include "supple/sim/selection.h"

namespace supple {
namespace {

// Bones reach this far beyond their surface, in cells, so that those narrower than a cell hold.
constexpr double reach = 0.75;

// Where the scene wants no flesh, nodes hold as firmly as bones do.
constexpr double rig_stiffness = 20;

double smooth_step(double t) {
  t = std::clamp(t, 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

// Weights of joint motions at one node.
class Blend {
 public:
  void add(int32_t bind, double weight) {
    if (!(weight > 0)) return;
    m_total += weight;
    for (Influence& i : m_influences)
      if (i.bind == bind) {
        i.weight += static_cast<float>(weight);
        return;
      }
    m_influences.push_back({bind, static_cast<float>(weight)});
  }
  double total() const { return m_total; }
  std::span<const Influence> influences() const { return m_influences; }

 private:
  std::vector<Influence> m_influences;
  double m_total = 0;
};

// How far a node lies beyond the surface of a bone, in cells; negative inside.
double beyond_bone(const BoneShape& bone, const Vec3d& node, double spacing) {
  return (bone.axis_distance(node) - bone.radius) / spacing;
}

// How much a bone has a say at a node, from 0 to 1: nothing where the skin follows others more than
// twice as much, so that bones that cross (handles, helpers) do not tear at each other's flesh.
double rule_of(std::span<const Influence> weights, int32_t bind) {
  float own = 0, most = 0;
  for (const Influence& i : weights) {
    most = std::max(most, i.weight);
    if (i.bind == bind) own = i.weight;
  }
  return most > 0 ? smooth_step(static_cast<double>(own / most) * 2 - 1) : 0;
}

// Nodes of pieces that no bone runs through, such as a hat or an eye: they follow the rig.
std::vector<bool> boneless_nodes(const AttachmentInput& input, std::span<const BoneShape> bones) {
  const std::vector<int32_t> pieces = input.mesh.pieces();
  std::vector<bool> has_bone(pieces.size(), false), result;
  for (size_t n = 0; n < pieces.size(); ++n)
    for (const BoneShape& bone : bones)
      if (beyond_bone(bone, input.rest[n], input.solid.spacing) < reach / 2)
        has_bone[static_cast<size_t>(pieces[n])] = true;
  for (const int32_t piece : pieces) result.push_back(!has_bone[static_cast<size_t>(piece)]);
  return result;
}

// Smooths numbers of the nodes over a seam as wide as `width` times the body's longest side: means
// with the neighbours, each of which spreads by about half a cell.
void soften(const AttachmentInput& input, double width, std::vector<float>& values) {
  constexpr double spread = 0.29, most = 400;
  Box3d box;
  for (const Vec3d& node : input.rest) box.extend(node);
  const double seam = width * box.sizes().maxCoeff() / (2 * input.solid.spacing);
  const auto passes = static_cast<int>(std::min(most, seam * seam / spread));
  const LatticeMesh::Neighbours near = input.mesh.neighbours();
  std::vector<float> means(values.size());
  for (int pass = 0; pass < passes; ++pass) {
    parallel_for(values.size(), 2048, [&](size_t begin, size_t end) {
      for (size_t n = begin; n < end; ++n) {
        float sum = values[n];
        for (int32_t e = near.offsets[n]; e < near.offsets[n + 1]; ++e)
          sum += values[static_cast<size_t>(near.nodes[static_cast<size_t>(e)])];
        means[n] = sum / static_cast<float>(1 + near.offsets[n + 1] - near.offsets[n]);
      }
    });
    values.swap(means);
  }
}

}  // namespace

Attachment::Attachment(const AttachmentInput& input, const BodySettings& settings,
                       const std::string& file)
    : m_binds(input.character.binds) {
  const Character& character = input.character;
  const SkinWeights skin =
      node_weights(input.solid, input.mesh, input.skin.mesh.positions, character.weights,
                   input.skin.vertex_of_point, character.binds.size());
  find_bones(input, settings, file);
  map_flesh(input, settings, file);
  std::vector<float> flesh;
  if (!m_flesh.empty()) {
    flesh = spread_to_nodes(input.solid, input.mesh, input.skin.mesh.positions, m_flesh, 1);
    soften(input, settings.flesh.blend, flesh);
    LatticeEmbedding(input.solid, input.mesh, input.skin.mesh.positions)
        .interpolate(flesh, m_flesh);
    for (float& f : m_flesh) f = std::clamp(f, 0.0f, 1.0f);
  }

  const std::vector<bool> boneless = settings.attach.hold == BoneHold::none
                                         ? std::vector<bool>(input.rest.size(), false)
                                         : boneless_nodes(input, m_bones);
  const double h = input.solid.spacing, unit = input.young * h;
  const double swing = 2 * std::numbers::pi * settings.attach.follow;
  for (size_t n = 0; n < input.rest.size(); ++n) {
    m_rest.push_back(input.rest[n].cast<float>());
    const double rigid = boneless[n] ? 1 : flesh.empty() ? 0 : 1 - static_cast<double>(flesh[n]);
    const double follow = input.masses[n] * swing * swing + rig_stiffness * unit * rigid;
    Blend blend;
    for (const Influence& i : skin.of(n)) blend.add(i.bind, follow * static_cast<double>(i.weight));
    bool held = false;
    for (size_t b = 0; b < m_bones.size(); ++b) {
      const double beyond = beyond_bone(m_bones[b], input.rest[n], h);
      const double own = rule_of(skin.of(n), m_bones[b].bind);
      blend.add(m_bones[b].bind, m_holds[b] * unit * own * smooth_step(1 - beyond / reach));
      held = held || beyond <= 0.25;
    }
    if (held && settings.attach.hold == BoneHold::hard) m_held.push_back(static_cast<int32_t>(n));
    m_stiffness.push_back(blend.total());
    // Without any pull a node still needs a place to be carried to.
    if (blend.total() > 0)
      m_weights.add_vertex(blend.influences(), 0);
    else
      m_weights.add_vertex(skin.of(n), 0);
  }
  m_skinner = std::make_unique<Skinner>(m_weights, m_binds);
}

void Attachment::find_bones(const AttachmentInput& input, const BodySettings& settings,
                            const std::string& file) {
  if (settings.attach.hold == BoneHold::none) return;
  const TriangleMesh& skin = input.skin.mesh;
  const VoxelGrid solid =
      voxelise(skin.positions, skin.triangles, {.spacing = input.solid.spacing});
  m_bones = bone_shapes(input.character, skin.positions, solid, 1);
  std::vector<double> thickness(m_bones.size(), settings.attach.thickness);
  m_holds.assign(m_bones.size(), settings.attach.stiffness);
  for (size_t i = 0; i < settings.attach.bones.size(); ++i) {
    const BoneSettings& own = settings.attach.bones[i];
    const int joint = input.character.skeleton.require(
        own.joint, file, fmt::format("body.attach.bones[{}].joint", i));
    for (size_t b = 0; b < m_bones.size(); ++b) {
      if (m_bones[b].joint != joint) continue;
      if (own.thickness) thickness[b] = *own.thickness;
      if (own.stiffness) m_holds[b] = *own.stiffness;
    }
  }
  for (size_t b = 0; b < m_bones.size(); ++b) m_bones[b].radius *= thickness[b];
}

// Flesh per point of the skin: what the attribute says, times what bones and regions say.
void Attachment::map_flesh(const AttachmentInput& input, const BodySettings& settings,
                           const std::string& file) {
  const FleshSettings& map = settings.flesh;
  if (map.attribute.empty() && map.bones.empty() && map.regions.empty()) return;
  const Character& character = input.character;
  const auto& points = input.skin.mesh.positions;
  m_flesh.assign(points.size(), map.bones.empty() && map.regions.empty() ? 1.0f : 0.0f);
  std::vector<bool> fleshy(character.skeleton.size(), false);
  for (const std::string& name : map.bones)
    fleshy[static_cast<size_t>(character.skeleton.require(name, file, "body.flesh.bones"))] = true;
  std::vector<Selection> regions;
  for (size_t r = 0; r < map.regions.size(); ++r)
    regions.emplace_back(map.regions[r], 0, file, fmt::format("body.flesh.regions[{}]", r));
  const VertexAttribute* painted =
      map.attribute.empty() ? nullptr : character.attribute(map.attribute);
  if (!map.attribute.empty() && painted == nullptr) {
    std::vector<std::string> names;
    for (const VertexAttribute& a : character.attributes) names.push_back(a.name);
    throw_input_error(file, "body.flesh.attribute",
                      fmt::format("the character has no attribute '{}'{}", printable(map.attribute),
                                  suggestion(map.attribute, names)));
  }
  for (size_t p = 0; p < points.size(); ++p) {
    const auto vertex = static_cast<size_t>(input.skin.vertex_of_point[p]);
    double flesh = static_cast<double>(m_flesh[p]);
    for (const Influence& i : character.weights.of(vertex))
      if (fleshy[static_cast<size_t>(character.binds[static_cast<size_t>(i.bind)].joint)])
        flesh += static_cast<double>(i.weight);
    for (const Selection& region : regions)
      if (region.contains(points[p].cast<double>())) flesh = 1;
    if (painted != nullptr)
      flesh *=
          static_cast<double>(painted->values[vertex * static_cast<size_t>(painted->components)]);
    m_flesh[p] = static_cast<float>(std::clamp(flesh, 0.0, 1.0));
  }
}

void Attachment::targets(std::span<const Affine> joints, std::span<Vec3f> out) const {
  m_skinner->skin(SkinningMethod::linear, joints, m_rest, out);
}

void Attachment::rotations(std::span<const Affine> joints, std::span<Mat3d> out) const {
  std::vector<Quatd> turns;
  for (const Bind& bind : m_binds)
    turns.emplace_back(
        nearest_rotation((joints[static_cast<size_t>(bind.joint)] * bind.rest_to_joint).linear()));
  parallel_for(out.size(), 1024, [&](size_t begin, size_t end) {
    for (size_t n = begin; n < end; ++n) {
      // The mean of quaternions, all taken on the side of the first.
      Eigen::Vector4d sum = Eigen::Vector4d::Zero();
      for (const Influence& i : m_weights.of(n)) {
        const Eigen::Vector4d q = turns[static_cast<size_t>(i.bind)].coeffs();
        sum += (sum.dot(q) < 0 ? -1.0 : 1.0) * static_cast<double>(i.weight) * q;
      }
      out[n] = sum.norm() > 1e-6 ? Quatd(sum.normalized()).toRotationMatrix() : Mat3d::Identity();
    }
  });
}

void Attachment::carry(std::span<const Affine> before, std::span<const Affine> after,
                       std::span<Vec3d> nodes) const {
  std::vector<Affine> from, to;
  for (const Bind& bind : m_binds) {
    from.push_back(before[static_cast<size_t>(bind.joint)] * bind.rest_to_joint);
    to.push_back(after[static_cast<size_t>(bind.joint)] * bind.rest_to_joint);
  }
  parallel_for(nodes.size(), 1024, [&](size_t begin, size_t end) {
    for (size_t n = begin; n < end; ++n) {
      Eigen::Matrix<double, 3, 4> a = Eigen::Matrix<double, 3, 4>::Zero(), b = a;
      for (const Influence& i : m_weights.of(n)) {
        const auto bind = static_cast<size_t>(i.bind);
        a += static_cast<double>(i.weight) * from[bind].affine().matrix();
        b += static_cast<double>(i.weight) * to[bind].affine().matrix();
      }
      const Vec3d rest = m_rest[n].cast<double>();
      const Vec3d old_place = a.leftCols<3>() * rest + a.col(3);
      const Vec3d new_place = b.leftCols<3>() * rest + b.col(3);
      // What is away from the old place turns with the blended motion, where that has not
      // collapsed.
      Vec3d away = nodes[n] - old_place;
      const Mat3d old_turn = a.leftCols<3>();
      if (std::abs(old_turn.determinant()) > 0.05 * std::pow(old_turn.norm() / std::sqrt(3.0), 3))
        away = b.leftCols<3>() * old_turn.inverse() * away;
      nodes[n] = new_place + away;
    }
  });
}

}  // namespace supple
