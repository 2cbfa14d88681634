// The worm, the fish and the starfish, and the starfish's cage: counts as in [Kim 2011, table IV],
// clean skins, weights and joints.
#include "actors/self_propelled.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "actors/glass_cage.h"
#include "examples/exact_intersections.h"
#include "io/bake_test_support.h"
#include "supple/io/character_writer.h"
#include "supple/io/load.h"
#include "supple/mesh/topology.h"
#include "support/test_support.h"

namespace supple::test {
namespace {

using actors::ActorJoint;
using actors::SelfPropelled;

// What is asked of each animal.
struct Animal {
  std::string name;
  SelfPropelled (*make)(int detail);
  size_t vertices;
  size_t bones;
  int freedoms;
  Vec3d size;              // of its box, m
  double volume;           // of a simple solid much like it, m³
  double least_angle;      // of any triangle at detail 1, degrees
  double least_thickness;  // m
};

void PrintTo(const Animal& animal, std::ostream* out) { *out << animal.name; }

// A capsule; an ellipsoid of the flesh; a cone of the disc's height over a star.
const std::vector<Animal> animals = {
    {"worm", actors::worm, 262, 4, 9, {0.40, 0.05, 0.095}, 0.0012, 10, 0.008},
    {"fish", actors::fish, 958, 4, 9, {0.40, 0.18, 0.18}, 0.0015, 5, 0.008},
    {"starfish", actors::starfish, 1162, 16, 26, {0.32, 0.06, 0.335}, 0.0010, 5, 0.006}};

class SelfPropelledActors : public testing::TestWithParam<Animal> {};

double least_angle(const TriangleMesh& mesh) {
  double least = 180;
  for (const Vec3i& t : mesh.triangles)
    for (int c = 0; c < 3; ++c) {
      const Vec3d p = mesh.positions[t[c]].cast<double>();
      const Vec3d u = mesh.positions[t[(c + 1) % 3]].cast<double>() - p;
      const Vec3d v = mesh.positions[t[(c + 2) % 3]].cast<double>() - p;
      least = std::min(least, std::atan2(u.cross(v).norm(), u.dot(v)) * 180 / std::numbers::pi);
    }
  return least;
}

// Every edge is run along once in each direction, by an own count.
bool has_every_edge_twice(const TriangleMesh& mesh) {
  std::map<std::pair<int, int>, int> runs;
  for (const Vec3i& t : mesh.triangles)
    for (int c = 0; c < 3; ++c) ++runs[{t[c], t[(c + 1) % 3]}];
  for (const auto& [edge, count] : runs)
    if (count != 1 || !runs.contains({edge.second, edge.first})) return false;
  return true;
}

// A closed ball without handles, folds or loose vertices; returns its volume.
double expect_clean(const TriangleMesh& mesh) {
  EXPECT_TRUE(has_every_edge_twice(mesh));
  const Topology topology = analyse_topology(mesh.positions.size(), mesh.triangles);
  EXPECT_TRUE(topology.closed());
  EXPECT_EQ(topology.shells, 1);
  const auto vertices = static_cast<int64_t>(mesh.positions.size());
  EXPECT_EQ(vertices - topology.edges + static_cast<int64_t>(mesh.triangles.size()), 2);
  for (const auto& [a, b] : IntersectionFinder(mesh).find()) {
    const Vec3f p = mesh.positions[mesh.triangles[a][0]];
    ADD_FAILURE() << fmt::format("triangles {} and {} meet near ({}, {}, {})", a, b, p[0], p[1],
                                 p[2]);
  }
  std::set<std::array<float, 3>> places;
  for (const Vec3f& p : mesh.positions) places.insert({p[0], p[1], p[2]});
  EXPECT_EQ(places.size(), mesh.positions.size());
  return signed_volume(mesh.positions, mesh.triangles);
}

TEST_P(SelfPropelledActors, SkinHasThePapersSizeAndIsClean) {
  const TriangleMesh mesh = GetParam().make(1).character.skin;
  EXPECT_EQ(mesh.positions.size(), GetParam().vertices);
  const double volume = expect_clean(mesh);
  EXPECT_NEAR(volume, GetParam().volume, 0.15 * GetParam().volume);
  const Box3f box = bounding_box(mesh.positions);
  for (int axis = 0; axis < 3; ++axis)
    EXPECT_NEAR(box.sizes()[axis], GetParam().size[axis], 0.06 * GetParam().size[axis]);
  EXPECT_NEAR(box.min()[1], 0, 1e-6);
  EXPECT_GT(least_angle(mesh), GetParam().least_angle);
  fmt::print("{}: {:.4g} m³, least angle {:.1f} degrees\n", GetParam().name, volume,
             least_angle(mesh));
}

TEST_P(SelfPropelledActors, FinerSkinsAreTheSameShape) {
  const TriangleMesh coarse = GetParam().make(1).character.skin;
  const double volume = signed_volume(coarse.positions, coarse.triangles);
  size_t before = coarse.positions.size();
  for (const int detail : {2, 3}) {
    const TriangleMesh mesh = GetParam().make(detail).character.skin;
    EXPECT_GT(mesh.positions.size(), before);
    EXPECT_NEAR(mesh.positions.size(), detail * detail * coarse.positions.size(),
                0.15 * detail * detail * coarse.positions.size());
    // Coarse polygons lie inside the round shape.
    const double own = expect_clean(mesh);
    EXPECT_NEAR(own, volume, 0.10 * volume);
    EXPECT_GT(own, volume);
    before = mesh.positions.size();
  }
}

// Normals of a surface that is not too crooked point away from where it is thick: a short way
// along them is outside, a short way against them inside.
TEST_P(SelfPropelledActors, SkinIsThickEnoughEverywhere) {
  const TriangleMesh mesh = GetParam().make(1).character.skin;
  double thinnest = 1;
  for (const Vec3i& t : mesh.triangles) {
    const Vec3d a = mesh.positions[t[0]].cast<double>(), b = mesh.positions[t[1]].cast<double>(),
                c = mesh.positions[t[2]].cast<double>();
    const Vec3d centre = (a + b + c) / 3, inward = -(b - a).cross(c - a).normalized();
    double nearest = INFINITY;
    for (const Vec3i& other : mesh.triangles) {
      if (other == t) continue;
      const Vec3d p = mesh.positions[other[0]].cast<double>();
      const Vec3d u = mesh.positions[other[1]].cast<double>() - p;
      const Vec3d v = mesh.positions[other[2]].cast<double>() - p;
      Mat3d system;
      system << u, v, -inward;
      if (std::abs(system.determinant()) < 1e-15) continue;
      const Vec3d hit = system.partialPivLu().solve(centre - p);
      // Only what faces the other way counts: at rims the next triangle is near.
      const bool is_hit = hit[0] >= 0 && hit[1] >= 0 && hit[0] + hit[1] <= 1 && hit[2] > 1e-6;
      if (is_hit && u.cross(v).normalized().dot(inward) > 0.8) nearest = std::min(nearest, hit[2]);
    }
    if (nearest < INFINITY) thinnest = std::min(thinnest, nearest);
  }
  fmt::print("{}: at least {:.1f} mm thick\n", GetParam().name, 1000 * thinnest);
  EXPECT_GT(thinnest, 0.9 * GetParam().least_thickness);
}

TEST_P(SelfPropelledActors, WeightsAreSmooth) {
  for (const int detail : {1, 2}) {
    const Character character = GetParam().make(detail).character;
    ASSERT_EQ(character.binds.size(), GetParam().bones);
    ASSERT_EQ(character.weights.vertices(), character.skin.positions.size());
    std::vector<std::vector<double>> weights;
    std::vector<double> carried(character.binds.size());
    for (size_t v = 0; v < character.weights.vertices(); ++v) {
      weights.emplace_back(character.binds.size());
      double sum = 0;
      for (const Influence& influence : character.weights.of(v)) {
        EXPECT_GT(influence.weight, 0);
        weights.back()[influence.bind] += double{influence.weight};
        carried[influence.bind] += double{influence.weight};
        sum += double{influence.weight};
      }
      ASSERT_NEAR(sum, 1, 1e-6);
      ASSERT_LE(character.weights.of(v).size(), 4u);
    }
    for (const double bone : carried) EXPECT_GT(bone, 4);
    double steepest = 0;
    for (const Vec3i& t : character.skin.triangles)
      for (int c = 0; c < 3; ++c)
        for (size_t b = 0; b < carried.size(); ++b)
          steepest = std::max(steepest, std::abs(weights[t[c]][b] - weights[t[(c + 1) % 3]][b]));
    fmt::print("{}: weights change by at most {:.3f} along an edge\n", GetParam().name, steepest);
    EXPECT_LE(steepest, 0.5 / detail);
  }
}

TEST_P(SelfPropelledActors, JointsAreThoseOfTheSkeleton) {
  const SelfPropelled actor = GetParam().make(1);
  const Skeleton& skeleton = actor.character.skeleton;
  ASSERT_EQ(actor.joints.size(), skeleton.size());
  EXPECT_EQ(skeleton.size(), GetParam().bones);
  EXPECT_EQ(actors::degrees_of_freedom(actor.joints), GetParam().freedoms);
  int freedoms = 0;
  for (size_t j = 0; j < actor.joints.size(); ++j) {
    const ActorJoint& joint = actor.joints[j];
    EXPECT_EQ(joint.joint, skeleton.joints[j].name);
    EXPECT_EQ(joint.type == "free", skeleton.joints[j].parent < 0);
    EXPECT_EQ(joint.axes.size(), joint.type == "free" ? 0u : joint.type == "hinge" ? 1u : 2u);
    ASSERT_EQ(joint.limits.size(), joint.axes.size());
    freedoms += joint.type == "free" ? 6 : static_cast<int>(joint.axes.size());
    for (size_t a = 0; a < joint.axes.size(); ++a) {
      EXPECT_NEAR(joint.axes[a].norm(), 1, 1e-12);
      EXPECT_LT(joint.limits[a].least, 0);
      EXPECT_GT(joint.limits[a].most, 0);
    }
    if (joint.axes.size() == 2) {
      EXPECT_NEAR(joint.axes[0].dot(joint.axes[1]), 0, 1e-12);
    }
  }
  EXPECT_EQ(freedoms, GetParam().freedoms);
  // Bones turn about places within the flesh.
  const Box3f box = bounding_box(actor.character.skin.positions);
  for (const Affine& global : global_matrices(skeleton, rest_pose(skeleton)))
    EXPECT_TRUE(box.contains(Vec3f(global.translation().cast<float>())));
}

// The skin of an actor with one joint turned about one of its axes, by its weights.
std::vector<Vec3d> posed(const SelfPropelled& actor, const ActorJoint& joint, size_t axis,
                         double degrees) {
  const Character& character = actor.character;
  Pose pose = rest_pose(character);
  const double angle = degrees * std::numbers::pi / 180;
  pose.local[character.skeleton.find(joint.joint)].rotation =
      Quatd(Eigen::AngleAxisd(angle, joint.axes[axis]));
  const std::vector<Affine> globals = global_matrices(character.skeleton, pose);
  std::vector<Vec3d> result;
  for (size_t v = 0; v < character.skin.positions.size(); ++v) {
    Vec3d sum = Vec3d::Zero();
    for (const Influence& influence : character.weights.of(v)) {
      const Bind& bind = character.binds[influence.bind];
      sum += double{influence.weight} * (globals[bind.joint] * bind.rest_to_joint *
                                         character.skin.positions[v].cast<double>());
    }
    result.push_back(sum);
  }
  return result;
}

// Positive turns go the way the header says, as far as an own lever says.
TEST_P(SelfPropelledActors, PositiveTurnsGoTheWayTheySay) {
  const SelfPropelled actor = GetParam().make(1);
  for (const ActorJoint& joint : actor.joints)
    for (size_t axis = 0; axis < joint.axes.size(); ++axis) {
      const std::vector<Vec3d> moved = posed(actor, joint, axis, 20);
      Vec3d most = Vec3d::Zero(), from = Vec3d::Zero();
      for (size_t v = 0; v < moved.size(); ++v) {
        const Vec3d rest = actor.character.skin.positions[v].cast<double>();
        if ((moved[v] - rest).norm() <= most.norm()) continue;
        most = moved[v] - rest;
        from = rest;
      }
      Vec3d way = GetParam().name == "fish" ? Vec3d::UnitZ() : Vec3d::UnitY();
      if (axis == 1) way = Vec3d::UnitY().cross(from).normalized();  // round to the next arm
      EXPECT_GT(most.dot(way), 0.9 * most.norm()) << joint.joint << " " << axis;
      EXPECT_GT(most.norm(), 0.010) << joint.joint << " " << axis;
    }
}

TEST_P(SelfPropelledActors, FileSaysTheSame) {
  const Character character = GetParam().make(1).character;
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / (character.name + ".glb");
  write_character(file, character);
  const Character read = read_character(file);
  EXPECT_EQ(character.name, GetParam().name);
  ASSERT_EQ(read.skin.positions.size(), GetParam().vertices);
  for (size_t v = 0; v < read.skin.positions.size(); ++v)
    ASSERT_LT((read.skin.positions[v] - character.skin.positions[v]).norm(), 1e-6f);
  EXPECT_TRUE(has_every_edge_twice(read.skin));
  ASSERT_NE(read.attribute("COLOR_0"), nullptr);
  for (const Joint& joint : character.skeleton.joints)
    EXPECT_GE(read.skeleton.find(joint.name), 0) << joint.name;
  ASSERT_EQ(read.clips.size(), 1u);
  EXPECT_EQ(clip_rate(read.clips[0]), 24);
  SUPPLE_EXPECT_VALID_GLTF({file});
}

INSTANTIATE_TEST_SUITE_P(All, SelfPropelledActors, testing::ValuesIn(animals),
                         [](const auto& info) { return info.param.name; });

// Where every vertex goes under a map of space; -1 where there is no vertex.
std::vector<int> images(const TriangleMesh& mesh, const Mat3d& map) {
  std::vector<int> result;
  for (const Vec3f& p : mesh.positions) {
    const Vec3d image = map * p.cast<double>();
    int found = -1;
    for (size_t v = 0; v < mesh.positions.size() && found < 0; ++v)
      if ((mesh.positions[v].cast<double>() - image).norm() < 1e-6) found = static_cast<int>(v);
    result.push_back(found);
  }
  return result;
}

TEST(Starfish, HasFiveEqualArms) {
  const SelfPropelled actor = actors::starfish();
  const TriangleMesh& mesh = actor.character.skin;
  const Mat3d turn = Eigen::AngleAxisd(2 * std::numbers::pi / 5, Vec3d::UnitY()).toRotationMatrix();
  const std::vector<int> to = images(mesh, turn);
  ASSERT_EQ(std::count(to.begin(), to.end(), -1), 0);
  size_t still = 0;
  for (size_t v = 0; v < to.size(); ++v) still += to[v] == static_cast<int>(v);
  EXPECT_EQ(still, 2u);  // the poles
  const auto sorted = [](Vec3i t) {
    std::sort(t.data(), t.data() + 3);
    return std::array<int, 3>{t[0], t[1], t[2]};
  };
  std::set<std::array<int, 3>> triangles;
  for (const Vec3i& t : mesh.triangles) triangles.insert(sorted(t));
  for (const Vec3i& t : mesh.triangles)
    EXPECT_TRUE(triangles.contains(sorted({to[t[0]], to[t[1]], to[t[2]]})));
  // Weights and joints go round as well.
  const auto next = [&](int bind) { return bind == 0 ? 0 : 1 + (bind - 1 + 3) % 15; };
  for (size_t v = 0; v < to.size(); ++v) {
    std::map<int, double> own, other;
    for (const Influence& i : actor.character.weights.of(v)) own[next(i.bind)] += double{i.weight};
    for (const Influence& i : actor.character.weights.of(to[v])) other[i.bind] += double{i.weight};
    for (const auto& [bind, weight] : own) EXPECT_NEAR(other[bind], weight, 1e-5);
  }
  for (size_t j = 1; j < actor.joints.size(); ++j) {
    const ActorJoint& image = actor.joints[static_cast<size_t>(next(static_cast<int>(j)))];
    ASSERT_EQ(image.type, actor.joints[j].type);
    for (size_t a = 0; a < image.axes.size(); ++a)
      EXPECT_LT((turn * actor.joints[j].axes[a] - image.axes[a]).norm(), 1e-12);
  }
}

TEST(Starfish, IsItsOwnMirrorImageAndFlatBelow) {
  const TriangleMesh mesh = actors::starfish().character.skin;
  const std::vector<int> to = images(mesh, Vec3d(1, 1, -1).asDiagonal().toDenseMatrix());
  EXPECT_EQ(std::count(to.begin(), to.end(), -1), 0);
  const auto below = std::count_if(mesh.positions.begin(), mesh.positions.end(),
                                   [](const Vec3f& p) { return p[1] == 0; });
  EXPECT_EQ(below, 1162 / 2);
}

TEST(Fish, LeftAndRightAreMirrorImages) {
  const TriangleMesh mesh = actors::fish().character.skin;
  const std::vector<int> to = images(mesh, Vec3d(1, 1, -1).asDiagonal().toDenseMatrix());
  EXPECT_EQ(std::count(to.begin(), to.end(), -1), 0);
}

TEST(SelfPropelledCast, MakesAboutAsManyVerticesAsAskedFor) {
  ASSERT_EQ(actors::self_propelled().size(), animals.size());
  for (size_t i = 0; i < animals.size(); ++i) {
    const actors::CastMember& member = actors::self_propelled()[i];
    EXPECT_EQ(member.name, animals[i].name);
    EXPECT_EQ(static_cast<size_t>(member.vertices), animals[i].vertices);
    const Character same = member.make(member.vertices), finer = member.make(16 * member.vertices);
    EXPECT_EQ(same.skin.positions.size(), animals[i].vertices);
    EXPECT_NEAR(finer.skin.positions.size(), 16 * animals[i].vertices, 2.5 * animals[i].vertices);
    EXPECT_NE(same.clip(member.scenes.front().clip), nullptr);
  }
}

// Whether a point is in one of the cage's plates.
int plates_at(const actors::GlassCage& cage, const Vec3d& point) {
  int count = 0;
  for (const actors::CagePlate& plate : cage.plates)
    count += ((point - plate.centre).cwiseAbs().array() < plate.size.array() / 2).all();
  return count;
}

TEST(GlassCage, MeshEnclosesItsPlates) {
  for (const int detail : {1, 2, 5}) {
    const actors::GlassCage cage = actors::glass_cage(detail);
    const double volume = expect_clean(cage.mesh);
    EXPECT_NEAR(volume, cage.volume(), 1e-5 * volume);
    const Box3f box = bounding_box(cage.mesh.positions);
    Box3d plates;
    for (const actors::CagePlate& plate : cage.plates) {
      plates.extend(Vec3d(plate.centre - plate.size / 2));
      plates.extend(Vec3d(plate.centre + plate.size / 2));
    }
    EXPECT_LT((box.min().cast<double>() - plates.min()).norm(), 1e-6);
    EXPECT_LT((box.max().cast<double>() - plates.max()).norm(), 1e-6);
    EXPECT_NEAR(box.min()[1], 0, 1e-9);
    // Just within every face is one plate, just outside none.
    for (const Vec3i& t : cage.mesh.triangles) {
      const Vec3d a = cage.mesh.positions[t[0]].cast<double>(),
                  b = cage.mesh.positions[t[1]].cast<double>(),
                  c = cage.mesh.positions[t[2]].cast<double>();
      const Vec3d normal = (b - a).cross(c - a).normalized(), centre = (a + b + c) / 3;
      EXPECT_EQ(plates_at(cage, centre - 1e-4 * normal), 1);
      EXPECT_EQ(plates_at(cage, centre + 1e-4 * normal), 0);
    }
  }
}

TEST(GlassCage, WeighsWhatItSaysAndHoldsTheStarfish) {
  const actors::GlassCage cage = actors::glass_cage();
  EXPECT_NEAR(cage.mass(), 1.2, 0.01);
  EXPECT_EQ(plates_at(cage, {0, 0.001, 0}), 0);
  EXPECT_EQ(plates_at(cage, {0.224, 0.249, -0.224}), 0);
  for (const Vec3f& p : actors::starfish().character.skin.positions) {
    EXPECT_LT(std::abs(p[0]), cage.width / 2);
    EXPECT_LT(std::abs(p[2]), cage.width / 2);
    EXPECT_LT(p[1], cage.height);
  }
  EXPECT_EQ(actors::glass_cage_model().skin.triangles.size(), cage.mesh.triangles.size());
}

}  // namespace
}  // namespace supple::test
