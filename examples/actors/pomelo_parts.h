// What Pomelo's sculpture, armature and clips share: where things are. Left side, metres.
#pragma once

#include "modelling/armature.h"
#include "modelling/sculpture.h"

namespace supple::actors {

inline const Vec3d shoulder(0.150, 0.705, -0.010);
inline const Vec3d arm(0.743, -0.669, 0);              ///< from shoulder to hand
inline const Vec3d arm_top(0.669, 0.743, 0);           ///< away from the body, across the arm
inline const Vec3d hand_back(0.512, 0.569, 0.643);     ///< out of the back of the hand
inline const Vec3d thumb_side(-0.430, -0.478, 0.766);  ///< across the hand, towards the thumb
inline const Vec3d hip(0.110, 0.360, 0.000);
inline const Vec3d knee(0.132, 0.212, 0.030);
inline const Vec3d ankle(0.140, 0.072, 0.000);
inline const Vec3d toe_ball(0.177, 0.038, 0.165);  ///< centre of the middle toe
inline const Vec3d nose(0, 0.898, 0.226);
inline const Vec3d eye(0.097, 0.955, 0.164);
inline constexpr double eye_gap = 0.0025;

/// A point of the left arm (metres): along it from the shoulder, and across the hand towards the
/// thumb and the back of the hand.
Vec3d on_arm(double along, double to_thumb = 0, double to_back = 0);

/// Names of the fingers but the thumb.
inline constexpr const char* finger_names[] = {"little", "middle", "index"};

/// A point on the line of a finger (0 to 2, from the little one), `along` metres down the arm.
Vec3d on_finger(int finger, double along);

/// Turns the axes of the model to those of the left hand: along the arm, back, thumb.
Mat3d hand_axes();

/// The left eye, larger by a gap.
modelling::Shape eye_shape(double gap);

/// The groove of the mouth, wider by a gap.
modelling::Shape smile(double gap = 0);

/// Pomelo's joints.
modelling::Armature pomelo_armature();

}  // namespace supple::actors
