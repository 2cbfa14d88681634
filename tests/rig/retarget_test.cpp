// Retargeting: names, rest poses, proportions.
#include "supple/rig/retarget.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>

#include "supple/core/error.h"
#include "supple/rig/joint_names.h"

namespace supple {
namespace {

std::mt19937 generator(unsigned seed) { return std::mt19937(seed); }

Quatd random_rotation(std::mt19937& random, double most = 3) {
  std::normal_distribution<double> normal;
  const Vec3d axis = Vec3d(normal(random), normal(random), normal(random)).normalized();
  return Quatd(
      Eigen::AngleAxisd(std::uniform_real_distribution<double>(-most, most)(random), axis));
}

// A joint by name, parent and position in model space.
struct Spec {
  const char* name;
  const char* parent;
  Vec3d position;
};

// Builds a skeleton whose joints stand at given places; their axes are turned at random when
// `random` is given, which must not matter to anything seen in model space.
Skeleton build(const std::vector<Spec>& specs, std::mt19937* random = nullptr, double scale = 1) {
  Skeleton skeleton;
  std::vector<Affine> globals;
  for (const Spec& spec : specs) {
    Joint joint;
    joint.name = spec.name;
    joint.parent = skeleton.find(spec.parent);
    joint.is_bone = true;
    Affine global = Affine::Identity();
    if (random) global.linear() = random_rotation(*random).toRotationMatrix();
    global.translation() = scale * spec.position;
    const Affine local = joint.parent < 0 ? global : globals[joint.parent].inverse() * global;
    joint.rest.translation = local.translation();
    joint.rest.rotation = Quatd(local.linear());
    globals.push_back(global);
    skeleton.joints.push_back(joint);
  }
  return skeleton;
}

// A person in T-pose, hips at the origin as in motion capture files.
std::vector<Spec> t_pose() {
  return {{"Hips", "", {0, 0, 0}},
          {"LeftUpLeg", "Hips", {1, -1, 0}},
          {"LeftLeg", "LeftUpLeg", {1, -5, 0.2}},
          {"LeftFoot", "LeftLeg", {1, -9, 0}},
          {"RightUpLeg", "Hips", {-1, -1, 0}},
          {"RightLeg", "RightUpLeg", {-1, -5, 0.2}},
          {"RightFoot", "RightLeg", {-1, -9, 0}},
          {"Spine", "Hips", {0, 3, 0}},
          {"Neck", "Spine", {0, 6, 0}},
          {"Head", "Neck", {0, 7, 0.3}},
          {"LeftShoulder", "Spine", {0.6, 5.5, 0}},
          {"LeftArm", "LeftShoulder", {1.5, 5.5, 0}},
          {"LeftForeArm", "LeftArm", {4, 5.5, 0}},
          {"LeftHand", "LeftForeArm", {6.5, 5.5, 0}},
          {"RightShoulder", "Spine", {-0.6, 5.5, 0}},
          {"RightArm", "RightShoulder", {-1.5, 5.5, 0}},
          {"RightForeArm", "RightArm", {-4, 5.5, 0}},
          {"RightHand", "RightForeArm", {-6.5, 5.5, 0}}};
}

// The same body in A-pose, half the size, standing on the floor, with other names and with joints
// in between that have no counterpart.
std::vector<Spec> a_pose() {
  const double c = std::cos(0.8), s = std::sin(0.8);
  const Vec3d left(0.75, 7.25, 0), right(-0.75, 7.25, 0);
  const Vec3d out_left(c, -s, 0.1), out_right(-c, -s, 0.1);
  return {{"Armature", "", {0, 0, 0}},
          {"pelvis", "Armature", {0, 4.5, 0}},
          {"thigh_l", "pelvis", {0.5, 4, 0}},
          {"thigh_twist_l", "thigh_l", {0.55, 3, 0}},
          {"calf_l", "thigh_twist_l", {0.8, 2, 0.3}},
          {"foot_l", "calf_l", {0.8, 0, 0.1}},
          {"thigh_r", "pelvis", {-0.5, 4, 0}},
          {"calf_r", "thigh_r", {-0.8, 2, 0.3}},
          {"foot_r", "calf_r", {-0.8, 0, 0.1}},
          {"spine_01", "pelvis", {0, 6, 0}},
          {"neck_01", "spine_01", {0, 7.5, 0.1}},
          {"head", "neck_01", {0, 8, 0.3}},
          {"clavicle_l", "spine_01", {0.3, 7.25, 0}},
          {"upperarm_l", "clavicle_l", left},
          {"lowerarm_l", "upperarm_l", left + out_left},
          {"hand_l", "lowerarm_l", left + 2.2 * out_left},
          {"clavicle_r", "spine_01", {-0.3, 7.25, 0}},
          {"upperarm_r", "clavicle_r", right},
          {"lowerarm_r", "upperarm_r", right + out_right},
          {"hand_r", "lowerarm_r", right + 2.2 * out_right}};
}

// A motion that turns every joint and carries the first one around, keyed at uneven times.
Clip random_motion(const Skeleton& skeleton, std::mt19937& random, double height) {
  Clip clip;
  clip.name = "dance";
  clip.rate = 30;
  std::uniform_real_distribution<double> unit(-1, 1);
  const std::vector<double> times{0, 0.1, 0.25, 0.5, 0.6};
  for (size_t j = 0; j < skeleton.size(); ++j) {
    Channel rotation;
    rotation.target = ChannelTarget::rotation;
    rotation.joint = static_cast<int>(j);
    rotation.width = 4;
    rotation.times = times;
    for (size_t k = 0; k < times.size(); ++k) {
      const Quatd q = skeleton.joints[j].rest.rotation * random_rotation(random);
      rotation.values.insert(rotation.values.end(), {q.x(), q.y(), q.z(), q.w()});
    }
    clip.channels.push_back(rotation);
  }
  Channel travel;
  travel.joint = 0;
  travel.times = times;
  for (size_t k = 0; k < times.size(); ++k)
    travel.values.insert(travel.values.end(), {unit(random), height + unit(random), unit(random)});
  clip.channels.push_back(travel);
  return clip;
}

std::vector<Affine> globals_at(const Skeleton& skeleton, const Clip& clip, double time) {
  Pose pose = rest_pose(skeleton);
  apply_clip(clip, time, pose);
  return global_matrices(skeleton, pose);
}

Vec3d direction(const Skeleton& skeleton, const std::vector<Affine>& globals, const char* from,
                const char* to) {
  return (globals[skeleton.find(to)].translation() - globals[skeleton.find(from)].translation())
      .normalized();
}

TEST(Retarget, SameSkeletonGivesTheSameMotion) {
  std::mt19937 random = generator(1);
  for (const bool turned_axes : {false, true}) {
    for (const auto& specs : {t_pose(), a_pose()}) {
      const Skeleton skeleton = build(specs, turned_axes ? &random : nullptr);
      Clip motion = random_motion(skeleton, random, 3);
      RetargetReport report;
      const Clip result = retarget(skeleton, motion, skeleton, {}, &report);
      EXPECT_EQ(report.pairs.size(), skeleton.size());
      EXPECT_TRUE(report.unmatched.empty());
      EXPECT_NEAR(report.scale, 1, 1e-12);
      EXPECT_EQ(result.rate, 30);
      for (const double t : {-1.0, 0.0, 0.1, 0.25, 0.6, 2.0}) {
        const auto expected = globals_at(skeleton, motion, t);
        const auto found = globals_at(skeleton, result, t);
        for (size_t j = 0; j < skeleton.size(); ++j)
          EXPECT_LT((found[j].matrix() - expected[j].matrix()).norm(), 1e-6)
              << skeleton.joints[j].name << " at " << t;
      }
    }
  }
}

TEST(Retarget, LimbsPointWhereTheMotionsDo) {
  const std::vector<std::array<const char*, 4>> bones{
      {"thigh_l", "calf_l", "LeftUpLeg", "LeftLeg"},
      {"calf_l", "foot_l", "LeftLeg", "LeftFoot"},
      {"thigh_r", "calf_r", "RightUpLeg", "RightLeg"},
      {"calf_r", "foot_r", "RightLeg", "RightFoot"},
      {"upperarm_l", "lowerarm_l", "LeftArm", "LeftForeArm"},
      {"lowerarm_l", "hand_l", "LeftForeArm", "LeftHand"},
      {"upperarm_r", "lowerarm_r", "RightArm", "RightForeArm"},
      {"lowerarm_r", "hand_r", "RightForeArm", "RightHand"}};
  std::mt19937 random = generator(2);
  const Skeleton source = build(t_pose());
  const Clip motion = random_motion(source, random, 9);
  for (const bool turned_axes : {false, true}) {
    const Skeleton target = build(a_pose(), turned_axes ? &random : nullptr);
    RetargetReport report;
    const Clip result = retarget(source, motion, target, {}, &report);
    EXPECT_EQ(report.pairs.size(), 18u);
    EXPECT_EQ(report.unmatched, (std::vector<std::string>{"Armature", "thigh_twist_l"}));
    std::set<int> driven;
    for (const Channel& channel : result.channels) {
      EXPECT_EQ(channel.times, motion.channels[0].times);
      EXPECT_EQ(channel.interpolation, Interpolation::linear);
      driven.insert(channel.joint);
    }
    EXPECT_EQ(driven.size(), 18u);
    for (const double t : motion.channels[0].times) {
      const auto theirs = globals_at(source, motion, t);
      const auto own = globals_at(target, result, t);
      for (const auto& [from, to, source_from, source_to] : bones)
        EXPECT_LT(
            (direction(target, own, from, to) - direction(source, theirs, source_from, source_to))
                .norm(),
            1e-6)
            << from << " at " << t;
    }
  }
}

// While the motion stands in its rest pose, the trunk keeps the character's own build: a sloping
// neck is not straightened because the motion's is upright.
TEST(Retarget, TrunkKeepsTheCharactersBuild) {
  const Skeleton source = build(t_pose()), target = build(a_pose());
  std::mt19937 random = generator(5);
  Clip still = random_motion(source, random, 9);
  still.channels.erase(still.channels.begin(), still.channels.end() - 1);  // travel alone is left
  const Clip result = retarget(source, still, target);
  const auto rest = global_matrices(target, rest_pose(target));
  const auto posed = globals_at(target, result, 0.25);
  for (const auto& [from, to] : {std::pair{"neck_01", "head"}, {"clavicle_l", "upperarm_l"}})
    EXPECT_LT((direction(target, posed, from, to) - direction(target, rest, from, to)).norm(), 1e-9)
        << from;
}

// Standing still in the motion's rest pose, moving the hips: the feet stay on the floor with those
// of the motion, although the character's own legs are spread and bent, and travel is scaled.
TEST(Retarget, TravelIsScaledFromTheStandingPose) {
  std::mt19937 random = generator(3);
  const Skeleton source = build(t_pose());
  const Skeleton target = build(a_pose(), &random);
  Clip motion;
  Channel travel;
  travel.joint = 0;
  travel.times = {0, 1};
  travel.values = {0, 9, 0, 4, 8, -2};  // the hips of the source stand 9 above its feet
  motion.channels = {travel};
  RetargetReport report;
  const Clip result = retarget(source, motion, target, {}, &report);
  const int pelvis = target.find("pelvis"), left = target.find("foot_l"),
            right = target.find("foot_r");
  const auto standing = globals_at(target, result, 0);
  EXPECT_NEAR(std::min(standing[left].translation()[1], standing[right].translation()[1]), 0, 1e-9);
  const double height = standing[pelvis].translation()[1];
  EXPECT_GT(height, 4.5);  // straighter legs are longer
  EXPECT_NEAR(report.scale, height / 9, 1e-9);
  EXPECT_LT((standing[pelvis].translation() - Vec3d(0, height, 0)).norm(), 1e-9);
  const auto moved = [&](double scale) { return Vec3d(4 * scale, height - scale, -2 * scale); };
  EXPECT_LT((globals_at(target, result, 1)[pelvis].translation() - moved(report.scale)).norm(),
            1e-9);
  RetargetOptions options;
  options.scale = 2;
  const Clip doubled = retarget(source, motion, target, options);
  EXPECT_LT((globals_at(target, doubled, 1)[pelvis].translation() - moved(2)).norm(), 1e-9);
}

// Bones keep their length whatever the motion.
TEST(Retarget, CharacterKeepsItsProportions) {
  std::mt19937 random = generator(4);
  const Skeleton source = build(t_pose(), &random);
  const Skeleton target = build(a_pose(), &random, 0.01);
  const Clip result = retarget(source, random_motion(source, random, 9), target);
  const auto rest = global_matrices(target, rest_pose(target));
  const auto posed = globals_at(target, result, 0.25);
  for (size_t j = 2; j < target.size(); ++j) {
    const int parent = target.joints[j].parent;
    EXPECT_NEAR((posed[j].translation() - posed[parent].translation()).norm(),
                (rest[j].translation() - rest[parent].translation()).norm(), 1e-9);
  }
}

TEST(Retarget, ExplicitMapIsTakenLiterally) {
  std::mt19937 random = generator(5);
  const Skeleton source = build(t_pose()), target = build(a_pose());
  const Clip motion = random_motion(source, random, 9);
  RetargetOptions options;
  options.joint_map = {{"upperarm_l", "RightArm"}, {"lowerarm_l", "RightForeArm"}};
  RetargetReport report;
  const Clip result = retarget(source, motion, target, options, &report);
  EXPECT_EQ(report.pairs.size(), 2u);
  EXPECT_LT((direction(target, globals_at(target, result, 0.1), "upperarm_l", "lowerarm_l") -
             direction(source, globals_at(source, motion, 0.1), "RightArm", "RightForeArm"))
                .norm(),
            1e-6);
}

void expect_refused(const RetargetOptions& options, const Skeleton& target,
                    const std::string& words) {
  try {
    retarget(build(t_pose()), {}, target, options);
    FAIL() << "accepted: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(Retarget, RefusesUnknownNames) {
  RetargetOptions options;
  options.joint_map = {{"pelvos", "Hips"}};
  expect_refused(options, build(a_pose()), "did you mean 'pelvis'");
  options.joint_map = {{"pelvis", "Hipz"}};
  expect_refused(options, build(a_pose()), "did you mean 'Hips'");
  expect_refused({}, build({{"wheel", "", {0, 0, 0}}}), "no joints");
  expect_refused({}, Skeleton{}, "no joints");
}

TEST(Retarget, MotionWithoutKeysGivesAnEmptyClip) {
  EXPECT_TRUE(retarget(build(t_pose()), {}, build(a_pose())).channels.empty());
}

TEST(JointNames, ConventionsAreStripped) {
  const auto expect = [](const char* name, Side side, const char* words, const char* number) {
    EXPECT_EQ(plain_name(name), (PlainName{side, words, number})) << name;
  };
  for (const char* name : {"mixamorig:LeftForeArm", "forearm.L", "forearm_l", "l_forearm",
                           "LForeArm", "Left forearm", "Bip01 L Forearm"})
    EXPECT_EQ(plain_name(name).words, "forearm") << name;
  expect("forearm.L", Side::left, "forearm", "");
  expect("RightHandIndex1", Side::right, "handindex", "1.");
  expect("spine_03", Side::middle, "spine", "3.");
  expect("toe1-1.R", Side::right, "toe", "1.1.");
  expect("", Side::middle, "", "");
  expect("LeftToeBase", Side::left, "toebase", "");
  expect("Collar", Side::middle, "collar", "");
}

std::map<std::string, std::string> name_pairs(const std::vector<const char*>& a,
                                              const std::vector<const char*>& b) {
  Skeleton sa, sb;
  for (const char* name : a) sa.joints.emplace_back().name = name;
  for (const char* name : b) sb.joints.emplace_back().name = name;
  std::map<std::string, std::string> result;
  for (const JointPair& pair : pair_joints(sa, sb)) result[a[pair.a]] = b[pair.b];
  return result;
}

const std::vector<const char*> cmu{
    "Hips",         "LHipJoint",      "LeftUpLeg",      "LeftLeg",         "LeftFoot",
    "LeftToeBase",  "RHipJoint",      "RightUpLeg",     "RightLeg",        "RightFoot",
    "RightToeBase", "LowerBack",      "Spine",          "Spine1",          "Neck",
    "Neck1",        "Head",           "LeftShoulder",   "LeftArm",         "LeftForeArm",
    "LeftHand",     "LeftFingerBase", "LeftHandIndex1", "LThumb",          "RightShoulder",
    "RightArm",     "RightForeArm",   "RightHand",      "RightFingerBase", "RightHandIndex1",
    "RThumb"};

TEST(JointNames, MotionCaptureOntoMakehuman) {
  const auto pairs =
      name_pairs({"human",        "root",         "pelvis.L",     "upperleg01.L", "upperleg02.L",
                  "lowerleg01.L", "lowerleg02.L", "foot.L",       "toe1-1.L",     "toe1-2.L",
                  "toe2-1.L",     "pelvis.R",     "upperleg01.R", "lowerleg01.R", "foot.R",
                  "spine05",      "spine04",      "spine03",      "spine02",      "breast.L",
                  "spine01",      "clavicle.L",   "shoulder01.L", "upperarm01.L", "upperarm02.L",
                  "lowerarm01.L", "lowerarm02.L", "wrist.L",      "finger1-1.L",  "clavicle.R",
                  "shoulder01.R", "upperarm01.R", "lowerarm01.R", "wrist.R",      "neck01",
                  "neck02",       "neck03",       "head",         "jaw",          "eye.L"},
                 cmu);
  const std::map<std::string, std::string> expected{{"root", "Hips"},
                                                    {"upperleg01.L", "LeftUpLeg"},
                                                    {"lowerleg01.L", "LeftLeg"},
                                                    {"foot.L", "LeftFoot"},
                                                    {"toe1-1.L", "LeftToeBase"},
                                                    {"upperleg01.R", "RightUpLeg"},
                                                    {"lowerleg01.R", "RightLeg"},
                                                    {"foot.R", "RightFoot"},
                                                    {"spine05", "LowerBack"},
                                                    {"spine03", "Spine"},
                                                    {"spine01", "Spine1"},
                                                    {"clavicle.L", "LeftShoulder"},
                                                    {"upperarm01.L", "LeftArm"},
                                                    {"lowerarm01.L", "LeftForeArm"},
                                                    {"wrist.L", "LeftHand"},
                                                    {"clavicle.R", "RightShoulder"},
                                                    {"upperarm01.R", "RightArm"},
                                                    {"lowerarm01.R", "RightForeArm"},
                                                    {"wrist.R", "RightHand"},
                                                    {"neck01", "Neck"},
                                                    {"neck03", "Neck1"},
                                                    {"head", "Head"}};
  EXPECT_EQ(pairs, expected);
}

TEST(JointNames, OtherRigsOntoMotionCapture) {
  // Collar, shoulder, elbow, wrist: here the shoulder is the upper arm.
  auto pairs = name_pairs({"hip", "abdomen", "chest", "neck", "head", "LeftCollar", "LeftShoulder",
                           "LeftElbow", "LeftWrist", "LeftHip", "LeftKnee", "LeftAnkle"},
                          cmu);
  EXPECT_EQ(pairs["LeftCollar"], "LeftShoulder");
  EXPECT_EQ(pairs["LeftShoulder"], "LeftArm");
  EXPECT_EQ(pairs["LeftElbow"], "LeftForeArm");
  EXPECT_EQ(pairs["LeftHip"], "LeftUpLeg");
  EXPECT_EQ(pairs["LeftKnee"], "LeftLeg");
  EXPECT_EQ(pairs["LeftAnkle"], "LeftFoot");
  EXPECT_EQ(pairs["hip"], "Hips");
  pairs = name_pairs({"lThigh", "lShin", "lCollar", "lShldr", "lForeArm", "lHand"}, cmu);
  EXPECT_EQ(pairs["lThigh"], "LeftUpLeg");
  EXPECT_EQ(pairs["lShin"], "LeftLeg");
  EXPECT_EQ(pairs["lCollar"], "LeftShoulder");
  EXPECT_EQ(pairs["lShldr"], "LeftArm");
  EXPECT_EQ(pairs["lForeArm"], "LeftForeArm");
  EXPECT_EQ(pairs["lHand"], "LeftHand");
  // Limbs whose joints all have the same name are told apart by their order.
  pairs = name_pairs(
      {"Skeleton_torso_joint_1", "leg_joint_L_1", "leg_joint_L_2", "leg_joint_L_3", "leg_joint_L_5",
       "Skeleton_arm_joint_R", "Skeleton_arm_joint_R__2_", "Skeleton_arm_joint_R__3_"},
      cmu);
  EXPECT_EQ(pairs["leg_joint_L_1"], "LeftUpLeg");
  EXPECT_EQ(pairs["leg_joint_L_2"], "LeftLeg");
  EXPECT_EQ(pairs["leg_joint_L_3"], "LeftFoot");
  EXPECT_EQ(pairs["leg_joint_L_5"], "LeftToeBase");
  EXPECT_EQ(pairs["Skeleton_arm_joint_R"], "RightArm");
  EXPECT_EQ(pairs["Skeleton_arm_joint_R__2_"], "RightForeArm");
  EXPECT_EQ(pairs["Skeleton_arm_joint_R__3_"], "RightHand");
  // Hips are preferred to a root above them; equal names pair whatever they mean.
  pairs =
      name_pairs({"root", "Hips", "tail_01", "LThumb"}, {"root", "pelvis", "Tail.01", "LThumb"});
  EXPECT_EQ(pairs["Hips"], "pelvis");
  EXPECT_EQ(pairs["root"], "root");
  EXPECT_EQ(pairs["tail_01"], "Tail.01");
  EXPECT_EQ(pairs["LThumb"], "LThumb");
}

}  // namespace
}  // namespace supple
