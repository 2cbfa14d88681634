#include "actors/motors.h"

namespace supple::actors {

int degrees_of_freedom(std::span<const ActorJoint> joints) {
  size_t sum = 0;
  for (const ActorJoint& joint : joints) sum += joint.type == "free" ? 6 : joint.axes.size();
  return static_cast<int>(sum);
}

void Motors::add_root(const std::string& name, const Vec3d& place) {
  m_armature.add(name, "", place);
  m_joints.push_back({name, "free", {}, {}});
}

void Motors::add(const std::string& name, const std::string& parent, const Vec3d& place,
                 const std::vector<modelling::Freedom>& turns,
                 const std::vector<TurnLimits>& limits) {
  m_armature.add(name, parent, place, turns);
  ActorJoint joint{name, turns.size() == 2 ? "universal" : "hinge", {}, limits};
  for (const modelling::Freedom& turn : turns) joint.axes.push_back(turn.axis.normalized());
  m_joints.push_back(std::move(joint));
}

void rig(Character& character, const Motors& motors, std::span<const BoneShares> shares) {
  character.skeleton = motors.armature().skeleton();
  const std::vector<Affine> globals =
      global_matrices(character.skeleton, rest_pose(character.skeleton));
  for (size_t b = 0; b < globals.size(); ++b)
    character.binds.push_back({static_cast<int>(b), globals[b].inverse()});
  for (const BoneShares& vertex : shares) {
    std::vector<Influence> influences;
    for (const auto& [bone, share] : vertex)
      influences.push_back({bone, static_cast<float>(share)});
    character.weights.add_vertex(influences, 0);
  }
}

}  // namespace supple::actors
