#include "actors/pomelo_parts.h"

namespace supple::actors {

using namespace modelling;

Vec3d on_arm(double along, double to_thumb, double to_back) {
  return shoulder + along * arm + to_thumb * thumb_side + to_back * hand_back;
}

Vec3d on_finger(int finger, double along) {
  // Fingers spread: their lines meet behind the wrist.
  return on_arm(along, (finger - 1) * (0.0435 + 0.30 * (along - 0.375)));
}

Mat3d hand_axes() {
  Mat3d axes;
  axes << arm, hand_back, thumb_side;
  return axes;
}

Shape eye_shape(double gap) {
  return ellipsoid(eye, Vec3d(0.050, 0.064, 0.036) + Vec3d::Constant(gap),
                   turn(24, Vec3d::UnitY()));
}

Shape smile(double gap) {
  return arc({0, 0.906, 0.222}, 0.054, 0.80, 0.0055 + gap, turn(180, Vec3d::UnitZ()));
}

Armature pomelo_armature() {
  Armature a;
  std::vector<Freedom> free = ball_joint();
  for (const auto& [name, axis] : {std::pair{"side", 0}, {"height", 1}, {"ahead", 2}})
    free.push_back({name, Vec3d::Unit(axis), true});
  const Freedom bend{"bend", Vec3d::UnitX()}, twist{"twist", Vec3d::UnitY()},
      lean{"lean", Vec3d::UnitZ()};
  a.add("pelvis", "", {0, 0.340, -0.030}, free);
  a.add("spine", "pelvis", {0, 0.390, -0.030}, ball_joint());
  a.add("chest", "spine", {0, 0.655, -0.020}, ball_joint());
  // Marks at the ends of bones, without freedom: they make the belly follow the spine and not the
  // thighs, which are nearer, and the whole face follow the head.
  a.add("belly_end", "spine", {0, 0.450, 0.200});
  a.add_pair("flank_end", "spine", {0.170, 0.460, 0.050});
  a.add_pair("rib_end", "chest", {0.090, 0.640, 0.050});
  a.add("neck", "chest", {0, 0.765, -0.010}, {bend, lean});
  a.add("head", "neck", {0, 0.830, -0.005}, ball_joint());
  a.add("head_end", "head", {0, 1.080, 0});
  a.add("face_end", "head", {0, 0.920, 0.140});
  a.add_pair("cheek_end", "head", {0.130, 0.880, 0.090});
  a.add_pair("ear_end", "head", {0.320, 1.070, 0.000});
  a.add_pair("clavicle", "chest", {0.045, 0.715, -0.010}, {lean, twist});
  a.add_pair("shoulder", "clavicle", shoulder,
             {{"raise", Vec3d::UnitZ()}, {"swing", -Vec3d::UnitY()}, {"roll", arm}});
  a.add_pair("elbow", "shoulder", on_arm(0.155), {{"curl", -arm_top}});
  a.add_pair("wrist", "elbow", on_arm(0.290), {{"bend", -thumb_side}, {"wave", hand_back}});
  for (int f = 0; f < 3; ++f) {
    const std::string name = finger_names[f];
    a.add_pair(name, "wrist", on_finger(f, 0.390), {{"curl", -thumb_side}});
    a.add_pair(name + "_tip", name, on_finger(f, 0.436), {{"curl", -thumb_side}});
  }
  a.add_pair("thumb", "wrist", on_arm(0.318, 0.040), {{"curl", 0.8 * arm - 0.6 * thumb_side}});
  a.add_pair("hip", "pelvis", hip,
             {{"bend", -Vec3d::UnitX()}, {"twist", Vec3d::UnitY()}, {"spread", Vec3d::UnitZ()}});
  a.add_pair("knee", "hip", knee, {bend});
  a.add_pair("ankle", "knee", ankle, {bend, lean});
  a.add_pair("toe_end", "ankle", {0.170, 0.035, 0.150});
  return a;
}

}  // namespace supple::actors
