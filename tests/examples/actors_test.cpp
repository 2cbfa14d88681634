// Every actor of the examples: a clean skin at every resolution, smooth weights, smooth clips.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <map>
#include <numbers>

#include "actors/cast.h"
#include "actors/pomelo.h"
#include "examples/exact_intersections.h"
#include "io/bake_test_support.h"
#include "supple/io/character_writer.h"
#include "supple/io/load.h"
#include "supple/mesh/topology.h"
#include "support/test_support.h"

namespace supple::actors {

// Tests are listed by the actor's name.
void PrintTo(const CastMember& member, std::ostream* out) { *out << member.name; }

}  // namespace supple::actors

namespace supple::test {
namespace {

using actors::CastMember;

// What is asked of each actor beyond what holds for all.
struct Demands {
  int64_t shells;
  bool symmetric;
  double least_angle;  // of any triangle, degrees
};
const std::map<std::string, Demands> demands = {{"pomelo", {3, true, 10}},
                                                {"forearm", {1, false, 7}},
                                                {"shoulder", {1, true, 10}},
                                                {"wriggler", {1, false, 4}}};

class Actors : public testing::TestWithParam<CastMember> {
 protected:
  const Demands& demanded() const { return demands.at(GetParam().name); }
};

struct TriangleFacts {
  double least_angle = 180;  // degrees
  double least_area = INFINITY, mean_area = 0;
};

TriangleFacts measure(const TriangleMesh& mesh) {
  TriangleFacts facts;
  for (const Vec3i& t : mesh.triangles) {
    Vec3d p[3];
    for (int c = 0; c < 3; ++c) p[c] = mesh.positions[t[c]].cast<double>();
    const double area = 0.5 * (p[1] - p[0]).cross(p[2] - p[0]).norm();
    facts.least_area = std::min(facts.least_area, area);
    facts.mean_area += area / static_cast<double>(mesh.triangles.size());
    for (int c = 0; c < 3; ++c) {
      const Vec3d u = p[(c + 1) % 3] - p[c], v = p[(c + 2) % 3] - p[c];
      facts.least_angle = std::min(
          facts.least_angle, std::atan2(u.cross(v).norm(), u.dot(v)) * 180 / std::numbers::pi);
    }
  }
  return facts;
}

// The vertex at the mirror image of every vertex; -1 where there is none.
std::vector<int> mirror_partners(const TriangleMesh& mesh) {
  const auto key = [](const Vec3f& p, float side) {
    return std::array<float, 3>{side * p[0] + 0.0f, p[1], p[2]};
  };
  std::map<std::array<float, 3>, int> places;
  for (size_t v = 0; v < mesh.positions.size(); ++v)
    places[key(mesh.positions[v], 1)] = static_cast<int>(v);
  std::vector<int> partners;
  for (const Vec3f& p : mesh.positions) {
    const auto found = places.find(key(p, -1));
    partners.push_back(found == places.end() ? -1 : found->second);
  }
  return partners;
}

TEST_P(Actors, SkinIsCleanAtEveryResolution) {
  const int full = GetParam().vertices;
  double volume = 0;
  Box3f box;
  for (const int vertices : {full, full / 2, full / 4}) {
    SCOPED_TRACE(fmt::format("{} vertices asked for", vertices));
    const TriangleMesh mesh = GetParam().skin(vertices).skin;
    EXPECT_NEAR(mesh.positions.size(), vertices, 0.08 * vertices);
    const Topology topology = analyse_topology(mesh.positions.size(), mesh.triangles);
    EXPECT_TRUE(topology.closed());
    EXPECT_EQ(topology.shells, demanded().shells);
    EXPECT_EQ(topology.duplicate_triangles, 0);
    // Euler's formula: every shell is a ball, without handles or pinched vertices.
    const auto euler = static_cast<int64_t>(mesh.positions.size()) - topology.edges +
                       static_cast<int64_t>(mesh.triangles.size());
    EXPECT_EQ(euler, 2 * demanded().shells);
    const TriangleFacts facts = measure(mesh);
    EXPECT_GT(facts.least_angle, demanded().least_angle);
    EXPECT_GT(facts.least_area, 0.002 * facts.mean_area);
    EXPECT_EQ(IntersectionFinder(mesh).find().size(), 0u);
    const double own_volume = signed_volume(mesh.positions, mesh.triangles);
    const Box3f own_box = bounding_box(mesh.positions);
    if (vertices == full) {
      volume = own_volume;
      box = own_box;
      EXPECT_GT(volume, 0);
    }
    EXPECT_NEAR(own_volume, volume, 0.01 * volume);
    const float tolerance = 0.01f * box.diagonal().norm();
    EXPECT_LT((own_box.min() - box.min()).cwiseAbs().maxCoeff(), tolerance);
    EXPECT_LT((own_box.max() - box.max()).cwiseAbs().maxCoeff(), tolerance);
    fmt::print("{}: {} vertices, least angle {:.1f} degrees, least area {:.3f} of the mean\n",
               GetParam().name, mesh.positions.size(), facts.least_angle,
               facts.least_area / facts.mean_area);
    if (!demanded().symmetric) continue;
    const std::vector<int> partners = mirror_partners(mesh);
    EXPECT_EQ(std::count(partners.begin(), partners.end(), -1), 0);
  }
}

// Weights of a vertex by joint name, left and right exchanged if `mirrored`.
std::map<std::string, double> weights_by_name(const Character& character, size_t vertex,
                                              bool mirrored) {
  std::map<std::string, double> result;
  for (const Influence& influence : character.weights.of(vertex)) {
    const int joint = character.binds[influence.bind].joint;
    std::string name = character.skeleton.joints[joint].name;
    if (mirrored && name.starts_with("left_"))
      name.replace(0, 4, "right");
    else if (mirrored && name.starts_with("right_"))
      name.replace(0, 5, "left");
    result[name] += double{influence.weight};
  }
  return result;
}

double difference(const std::map<std::string, double>& a, const std::map<std::string, double>& b) {
  double most = 0;
  for (const auto& [name, weight] : a) {
    const auto other = b.find(name);
    most = std::max(most, std::abs(weight - (other == b.end() ? 0 : other->second)));
  }
  for (const auto& [name, weight] : b)
    if (!a.contains(name)) most = std::max(most, weight);
  return most;
}

void expect_good_weights(const Character& character, bool symmetric) {
  const TriangleMesh& skin = character.skin;
  ASSERT_EQ(character.weights.vertices(), skin.positions.size());
  std::vector<std::map<std::string, double>> weights;
  for (size_t v = 0; v < skin.positions.size(); ++v) {
    weights.push_back(weights_by_name(character, v, false));
    double sum = 0;
    for (const auto& [name, weight] : weights.back()) {
      ASSERT_GE(weight, 0) << name;
      sum += weight;
    }
    ASSERT_NEAR(sum, 1, 1e-5);
    ASSERT_LE(character.weights.of(v).size(), 4u);
  }
  double steepest = 0;
  for (const Vec3i& t : skin.triangles)
    for (int c = 0; c < 3; ++c)
      steepest = std::max(steepest, difference(weights[t[c]], weights[t[(c + 1) % 3]]));
  fmt::print("{}: weights change by at most {:.3f} along an edge\n", character.name, steepest);
  EXPECT_LE(steepest, 0.25);
  if (!symmetric) return;
  const std::vector<int> partners = mirror_partners(skin);
  double odd = 0;
  for (size_t v = 0; v < partners.size(); ++v)
    if (partners[v] >= 0)
      odd = std::max(odd, difference(weights[v], weights_by_name(character, partners[v], true)));
  fmt::print("{}: left and right weights differ by at most {:.2g}\n", character.name, odd);
  EXPECT_LE(odd, 1e-6);
}

// All local transforms as numbers; of a quaternion and its opposite always the same one.
Eigen::VectorXd numbers(const Character& character, const Clip& clip, double time) {
  Pose pose = rest_pose(character);
  apply_clip(clip, time, pose);
  Eigen::VectorXd result(7 * static_cast<Eigen::Index>(pose.local.size()));
  for (size_t j = 0; j < pose.local.size(); ++j) {
    const Quatd& q = pose.local[j].rotation;
    const Eigen::Index at = 7 * static_cast<Eigen::Index>(j);
    result.segment<3>(at) = pose.local[j].translation;
    result.segment<4>(at + 3) = q.w() < 0 ? Eigen::Vector4d(-q.coeffs()) : q.coeffs();
  }
  return result;
}

// Velocity just before and just after every key, the end of the clip joined to its start.
void expect_smooth_loop(const Character& character, const Clip& clip) {
  const double rate = clip_rate(clip), instant = 1e-5;
  const int keys = static_cast<int>(std::lround((clip.end() - clip.start()) * rate));
  const auto at = [&](double time) { return numbers(character, clip, clip.start() + time); };
  const double end = clip.end() - clip.start();
  EXPECT_LT((at(0) - at(end)).cwiseAbs().maxCoeff(), 1e-6) << clip.name;
  double jump = 0, speed = 0;
  for (int k = 0; k <= keys; ++k) {
    const double time = k == keys ? 0 : k / rate, from = k == 0 || k == keys ? end : time;
    const Eigen::VectorXd before = (at(from) - at(from - instant)) / instant;
    const Eigen::VectorXd after = (at(time + instant) - at(time)) / instant;
    jump = std::max(jump, (after - before).cwiseAbs().maxCoeff());
    speed = std::max(speed, after.cwiseAbs().maxCoeff());
  }
  fmt::print("{}: '{}' of {:.2f} s, speed up to {:.2f}, jumps up to {:.2g}\n", character.name,
             clip.name, end, speed, jump);
  EXPECT_LT(jump, 0.01 * std::max(speed, 1.0)) << clip.name;
  EXPECT_GT(speed, 0.1) << clip.name;
}

TEST_P(Actors, RigHoldsAtFullResolution) {
  const std::clock_t ticks = std::clock();
  const auto start = std::chrono::steady_clock::now();
  const Character character = GetParam().make(GetParam().vertices);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print("{}: {} vertices built in {:.2f} s, {:.2f} s of processor time\n", character.name,
             character.skin.positions.size(), took.count(),
             static_cast<double>(std::clock() - ticks) / CLOCKS_PER_SEC);
  expect_good_weights(character, demanded().symmetric);

  // The file says the same, and is valid.
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / (character.name + ".glb");
  write_character(file, character);
  const Character read = read_character(file);
  ASSERT_EQ(read.skin.positions.size(), character.skin.positions.size());
  ASSERT_NE(read.attribute("COLOR_0"), nullptr);
  ASSERT_EQ(read.clips.size(), character.clips.size());
  bool has_scene_clip = false;
  for (size_t c = 0; c < read.clips.size(); ++c) {
    EXPECT_EQ(read.clips[c].name, character.clips[c].name);
    for (const Channel& channel : read.clips[c].channels)
      EXPECT_EQ(channel.interpolation, Interpolation::cubic_spline);
    expect_smooth_loop(character, character.clips[c]);
    expect_smooth_loop(read, read.clips[c]);
    if (read.clips[c].name != GetParam().scenes.front().clip) continue;
    has_scene_clip = true;
    EXPECT_NEAR(read.clips[c].end(), GetParam().scenes.front().seconds, 1e-6);
    EXPECT_EQ(clip_rate(read.clips[c]), 24);
  }
  EXPECT_TRUE(has_scene_clip);
  SUPPLE_EXPECT_VALID_GLTF({file});
}

INSTANTIATE_TEST_SUITE_P(Cast, Actors, testing::ValuesIn(actors::cast()),
                         [](const auto& info) { return info.param.name; });

TEST(Pomelo, HasFiftyToSixtyFreedoms) {
  const size_t freedoms = actors::pomelo().armature.freedom_count();
  EXPECT_GE(freedoms, 50u);
  EXPECT_LE(freedoms, 60u);
}

// Feet neither sink nor slide: soles stay above the ground, and where toes are down from one moment
// to the next they stay where they are.
TEST(Pomelo, FeetKeepToTheGround) {
  const modelling::Actor actor = actors::pomelo();
  const Skeleton& skeleton = actor.armature.skeleton();
  std::vector<Vec3d> soles[2];
  for (const Vec3f& p : modelling::model(actor, 8000).skin.positions)
    if (p[1] < 0.04f) soles[p[0] > 0 ? 0 : 1].push_back(p.cast<double>());
  for (const Clip& clip : actor.clips) {
    double lowest = 1, slip = 0;
    Vec3d before[2];
    bool was_down[2] = {false, false};
    for (int f = 0; f <= static_cast<int>(std::lround(clip.end() * 96)); ++f) {
      Pose pose = rest_pose(skeleton);
      apply_clip(clip, f / 96.0, pose);
      const auto globals = global_matrices(skeleton, pose);
      for (const int side : {0, 1}) {
        const std::string name = side == 0 ? "left_ankle" : "right_ankle";
        const Affine foot = globals[static_cast<size_t>(actor.armature.joint(name))] *
                            Eigen::Translation3d(-actor.armature.place(name));
        double low = 1;
        for (const Vec3d& point : soles[side]) low = std::min(low, (foot * point)[1]);
        lowest = std::min(lowest, low);
        const Vec3d toes = foot * Vec3d(side == 0 ? 0.177 : -0.177, 0.038, 0.165);
        const bool down = toes[1] < 0.038 + 0.001;
        if (down && was_down[side] && clip.name != "walk")  // a walk in place runs on a belt
          slip = std::max(slip, (toes - before[side]).norm());
        before[side] = toes;
        was_down[side] = down;
      }
    }
    fmt::print("{}: soles down to {:.4f} m, slip up to {:.4f} m in a quarter of a frame\n",
               clip.name, lowest, slip);
    EXPECT_GT(lowest, -0.005) << clip.name;
    EXPECT_LT(slip, 0.002) << clip.name;
  }
}

}  // namespace
}  // namespace supple::test
