// What the joints of a skeleton with dynamics are told to do, from the controls of a scene: follow
// keys or a clip, hold, be passive, or bring a bone to a place.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "supple/articulation/joint_path.h"
#include "supple/sim/instant.h"
#include "supple/sim/tet_model.h"

namespace supple {

/// Controls of a skeleton over time.
class TetControl {
 public:
  /// For the skeleton of a model; all must outlive it. Throws an input error naming `file` for
  /// controls that are not possible.
  TetControl(const Character& character, const TetModel& model, const ArticulatedBody& skeleton,
             const SkeletonSettings& settings, const FrameRange& range, const std::string& file);

  /// Prepares the steps between two frames, at which the joints of the clip are `from` and `to`.
  void begin_frame(std::span<const Affine> from, std::span<const Affine> to);

  /// Writes what joints do in the step of h seconds that begins at `time` (seconds since the first
  /// frame); `moment` is its end, and `part` how much of its frame, up to 1, is over then. The body
  /// must be updated, and its forces found. Joints faster than they can be are slowed: returns how
  /// many.
  int order(TetCharacter& body, double time, const Moment& moment, double part,
            const Vec3d& gravity, double h, JointOrders& orders);

  /// Where joints were when the controls that are on began: part of the state.
  Eigen::VectorXd began;
  int on_since = -2;               ///< which control was on last, -1 for none; part of the state
  std::vector<Affine> bones_then;  ///< bones when it began; part of the state

  /// Whether some control follows the clip; else the body begins in the bind pose.
  bool tracks() const;

  /// The numbers of all joints in the pose of the rig's joints.
  Eigen::VectorXd numbers_of(std::span<const Affine> joints) const;

 private:
  struct Control {
    const ControlSettings* settings = nullptr;
    std::vector<size_t> bones;  // it is for
    JointPath path;
    Script script;
    int bone = -1;
    Vec3d point = Vec3d::Zero();  // in the bone's frame
    std::unique_ptr<DirectControl> direct;
  };

  void set_path(Control& control, const std::string& here, const std::string& file);
  void aim(const Control& control, double time, double part, Eigen::VectorXd& target) const;
  void reach(const Control& control, TetCharacter& body, const Moment& moment, const Vec3d& gravity,
             double h, JointOrders& orders);
  void drive(const Control& control, TetCharacter& body, const Eigen::VectorXd& target, double h,
             JointOrders& orders);

  const TetModel& m_model;
  const ArticulatedBody& m_skeleton;
  ArticulatedBody m_laden;  // the skeleton with all the flesh on it
  HybridDynamics m_laden_dynamics;
  FrameRange m_range;
  std::vector<Control> m_controls;
  std::vector<double> m_inertia;  // that every bone's joint moves, kg m²
  Eigen::VectorXd m_target, m_resistances;
  Eigen::VectorXd m_tracked, m_track;  // joints of the clip at a frame, and the way to the next
  std::vector<uint8_t> m_supported;
};

}  // namespace supple
