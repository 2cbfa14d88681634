// The skeleton of an example's character, joint by joint: where each sits and in which ways it can
// move. Joints do not turn at rest: their axes are those of the model. A pair is one joint on
// either side of the plane x = 0 (left is +X), and the same value moves both as mirror images.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "supple/rig/skeleton.h"

namespace supple::modelling {

/// One way a joint can move: a turn about an axis (radians) or a slide along it (metres).
struct Freedom {
  std::string name;
  Vec3d axis = Vec3d::UnitX();
  bool slides = false;
};

/// Freedoms of a joint that turns like a ball: bend about X, twist about Y, lean about Z.
std::vector<Freedom> ball_joint();

/// Joints by name and the freedoms of each. Values of all freedoms make a pose; a joint's turns are
/// applied in the order of its list, the last one first.
class Armature {
 public:
  /// Adds a joint at a place in the model (metres); an empty parent makes it a root.
  void add(const std::string& name, const std::string& parent, const Vec3d& place,
           const std::vector<Freedom>& freedoms = {});

  /// Adds left_NAME at `place` and right_NAME at its mirror image. The parent may be a pair too.
  void add_pair(const std::string& name, const std::string& parent, const Vec3d& place,
                const std::vector<Freedom>& freedoms = {});

  /// Number of the joint of that name; it must exist.
  int joint(std::string_view name) const;

  /// Number of a joint's freedom of that name among all freedoms; it must exist.
  size_t freedom(std::string_view joint, std::string_view name) const;

  /// Numbers of all freedoms of a joint, in the order of its list.
  std::vector<size_t> freedoms_of(std::string_view joint) const;

  /// Place of a joint in the model at rest, in metres.
  const Vec3d& place(std::string_view name) const;

  /// How many freedoms all joints have together.
  size_t freedom_count() const { return m_freedoms.size(); }

  /// Which freedoms turn or slide a joint.
  bool turns(int joint) const;
  bool slides(int joint) const;

  /// The joints as a skeleton at rest.
  const Skeleton& skeleton() const { return m_skeleton; }

  /// Local transform of one joint for one value per freedom of the armature.
  Transform local(int joint, std::span<const double> values) const;

  /// Joint-to-model matrix of one joint.
  Affine frame(int joint, std::span<const double> values) const;

  /// Local transforms of all joints.
  Pose pose(std::span<const double> values) const;

 private:
  bool has(int joint, bool slides) const;

  Skeleton m_skeleton;
  std::vector<Vec3d> m_places;
  std::vector<Freedom> m_freedoms;         // of all joints, one after the other
  std::vector<size_t> m_first_freedom{0};  // of every joint, and the total at the end
};

}  // namespace supple::modelling
