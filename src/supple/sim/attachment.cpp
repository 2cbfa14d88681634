#include "supple/sim/attachment.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/math/polar.h"
#include "supple/math/smooth_step.h"
#include "supple/sim/selection.h"

namespace supple {
namespace {

// Bones reach this far beyond their surface, in cells, so that those narrower than a cell hold.
constexpr double reach = 0.75;

// Nodes within this distance of a bone that holds hard are part of it, in cells.
constexpr double hard_reach = 0.25;

// Where the scene wants no flesh, nodes hold as firmly as bones do.
constexpr double rig_stiffness = 20;

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

// Nodes of pieces that no bone runs through, such as a hat or an eye: they follow the rig.
std::vector<bool> boneless_nodes(const FleshRig& rig, std::span<const Vec3d> rest) {
  const std::vector<int32_t> pieces = rig.mesh().pieces();
  std::vector<bool> has_bone(pieces.size(), false), result;
  for (size_t n = 0; n < pieces.size(); ++n)
    for (const FleshBone& bone : rig.bones())
      if (bone.hold != BoneHold::none && bone.distance(rest[n]) < reach / 2 * rig.solid().spacing)
        has_bone[static_cast<size_t>(pieces[n])] = true;
  for (const int32_t piece : pieces) result.push_back(!has_bone[static_cast<size_t>(piece)]);
  return result;
}

// Smooths numbers of the nodes over a seam as wide as `width` times the body's longest side: means
// with the neighbours, each of which spreads by about half a cell.
void soften(const FleshRig& rig, std::span<const Vec3d> rest, double width,
            std::vector<float>& values) {
  constexpr double spread = 0.29, most = 400;
  Box3d box;
  for (const Vec3d& node : rest) box.extend(node);
  const double seam = width * box.sizes().maxCoeff() / (2 * rig.solid().spacing);
  const auto passes = static_cast<int>(std::min(most, seam * seam / spread));
  const LatticeMesh::Neighbours near = rig.mesh().neighbours();
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

Attachment::Attachment(const FleshRig& rig, const AttachmentInput& input,
                       const BodySettings& settings)
    : m_binds(rig.character().binds) {
  const LatticeMesh& mesh = rig.mesh();
  map_flesh(rig, settings.flesh);
  std::vector<float> flesh;
  if (!m_flesh.empty()) {
    const auto& points = rig.skin().mesh.positions;
    flesh = rig.to_nodes(m_flesh);
    soften(rig, input.rest, settings.flesh.blend, flesh);
    LatticeEmbedding(rig.solid(), mesh, points).interpolate(flesh, m_flesh);
    for (float& f : m_flesh) f = std::clamp(f, 0.0f, 1.0f);
  }

  const std::vector<bool> boneless = settings.attach.hold == BoneHold::none
                                         ? std::vector<bool>(input.rest.size(), false)
                                         : boneless_nodes(rig, input.rest);
  const double h = rig.solid().spacing;
  const double swing = 2 * std::numbers::pi * settings.attach.follow;
  for (size_t n = 0; n < input.rest.size(); ++n) {
    m_rest.push_back(input.rest[n].cast<float>());
    const double unit = input.young[n] * h;
    const double rigid = boneless[n] ? 1 : flesh.empty() ? 0 : 1 - static_cast<double>(flesh[n]);
    const double follow = input.masses[n] * swing * swing + rig_stiffness * unit * rigid;
    Blend blend;
    for (const Influence& i : rig.weights().of(n))
      blend.add(i.bind, follow * static_cast<double>(i.weight));
    bool held = false;
    for (const FleshBone& bone : rig.bones()) {
      if (bone.hold != BoneHold::soft && bone.hold != BoneHold::hard) continue;
      const double beyond = rig.beyond(bone, n, input.rest[n]) / h;
      if (beyond >= reach) continue;
      // Where a bone has no say, as those that cross others have, its place is as firm but follows
      // the skin.
      const double say = rig.say_of(bone.shape.joint, n);
      const double hold = bone.stiffness * unit * smooth_step(1 - beyond / reach);
      blend.add(bone.shape.bind, hold * say);
      for (const Influence& i : rig.weights().of(n))
        blend.add(i.bind, hold * (1 - say) * static_cast<double>(i.weight));
      held = held || (bone.hold == BoneHold::hard && beyond <= hard_reach);
    }
    if (held) m_held.push_back(static_cast<int32_t>(n));
    m_stiffness.push_back(blend.total());
    // Without any pull a node still needs a place to be carried to.
    if (blend.total() > 0)
      m_weights.add_vertex(blend.influences(), 0);
    else
      m_weights.add_vertex(rig.weights().of(n), 0);
  }
  m_skinner = std::make_unique<Skinner>(m_weights, m_binds);
}

// Flesh per point of the skin: what the attribute says, times what bones and regions say.
void Attachment::map_flesh(const FleshRig& rig, const FleshSettings& map) {
  if (map.attribute.empty() && map.bones.empty() && map.regions.empty()) return;
  const Character& character = rig.character();
  const auto& points = rig.skin().mesh.positions;
  m_flesh.assign(points.size(), map.bones.empty() && map.regions.empty() ? 1.0f : 0.0f);
  std::vector<bool> fleshy(character.skeleton.size(), false);
  for (const std::string& name : map.bones)
    fleshy[static_cast<size_t>(character.skeleton.require(name, rig.file(), "body.flesh.bones"))] =
        true;
  std::vector<Selection> regions;
  for (size_t r = 0; r < map.regions.size(); ++r)
    regions.emplace_back(map.regions[r], 0, rig.file(), fmt::format("body.flesh.regions[{}]", r));
  std::vector<float> painted;
  if (!map.attribute.empty()) painted = rig.painted(map.attribute, "body.flesh.attribute");
  for (size_t p = 0; p < points.size(); ++p) {
    const auto vertex = static_cast<size_t>(rig.skin().vertex_of_point[p]);
    double flesh = static_cast<double>(m_flesh[p]);
    for (const Influence& i : character.weights.of(vertex))
      if (fleshy[static_cast<size_t>(character.binds[static_cast<size_t>(i.bind)].joint)])
        flesh += static_cast<double>(i.weight);
    for (const Selection& region : regions)
      if (region.contains(points[p].cast<double>())) flesh = 1;
    if (!painted.empty()) flesh *= static_cast<double>(painted[p]);
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
