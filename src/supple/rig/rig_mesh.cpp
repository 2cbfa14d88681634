#include "supple/rig/rig_mesh.h"

#include <algorithm>

#include "supple/core/error.h"

namespace supple {
namespace {

// The joints of a file that some skin follows. Files without one (or whose skin hangs on a single
// node) have only nodes, any of which may be a bone.
std::vector<bool> bones_of(const Skeleton& skeleton) {
  std::vector<bool> bones;
  for (const Joint& joint : skeleton.joints) bones.push_back(joint.is_bone);
  if (std::count(bones.begin(), bones.end(), true) < 2) bones.clear();
  return bones;
}

// Drops channels of blend shapes, which belong to the skeleton's own skin, and clips left empty.
void keep_joint_channels(std::vector<Clip>& clips) {
  for (Clip& clip : clips)
    std::erase_if(clip.channels, [](const Channel& channel) {
      return channel.target == ChannelTarget::shape_weights;
    });
  std::erase_if(clips, [](const Clip& clip) { return clip.channels.empty(); });
}

void check(const Character& character, const SkeletonSource& source) {
  if (character.skin.triangles.empty())
    throw_input_error(character.source, "mesh", "it has no triangles to rig");
  if (source.skeleton.size() < 2)
    throw_input_error(source.file, "skeleton", "it has no bones: at least two joints are needed");
}

}  // namespace

RigReport rig_mesh(Character& character, SkeletonSource source, const RigOptions& options) {
  check(character, source);
  RigReport report;
  AutoWeightOptions weight_options = options.weights;
  weight_options.bones = bones_of(source.skeleton);
  keep_joint_channels(source.clips);
  report.fit = fit_skeleton(character.skin, options.fit, source.skin, weight_options.bones,
                            source.skeleton, source.clips);
  if (report.fit.inside == 0)
    throw_input_error(source.file, "skeleton",
                      fmt::format("all its bones lie outside the mesh of {}{}", character.source,
                                  options.fit == FitKind::none ? "; let it be fitted" : ""));
  AutoWeights made = automatic_weights(character.skin, source.skeleton, weight_options);

  character.skeleton = std::move(source.skeleton);
  character.clips = std::move(source.clips);
  character.binds = std::move(made.binds);
  character.weights = std::move(made.weights);
  for (Joint& joint : character.skeleton.joints) joint.is_bone = false;
  for (const Bind& bind : character.binds) character.skeleton.joints[bind.joint].is_bone = true;
  for (Part& part : character.parts) {
    part.rigid = false;
    part.joint = -1;
  }
  report.joints = character.skeleton.size();
  report.bones = character.binds.size();
  report.cell_size = made.cell_size;
  report.loose_vertices = made.loose_vertices;
  return report;
}

}  // namespace supple
