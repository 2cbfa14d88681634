// Automatic weights on shapes whose right answer is known.
#include "supple/rig/auto_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "rig/blocks.h"
#include "supple/core/error.h"
#include "supple/core/parallel.h"

namespace supple {
namespace {

using test::add_joint;
using test::block_mesh;

// The weight of a joint at a vertex.
double weight_of(const AutoWeights& made, int joint, size_t vertex) {
  double sum = 0;
  for (const Influence& i : made.weights.of(vertex))
    if (made.binds[static_cast<size_t>(i.bind)].joint == joint) sum += double{i.weight};
  return sum;
}

// Non-negative, summing to one, at most `most` per vertex, strongest first.
void expect_sound(const AutoWeights& made, size_t vertices, size_t most = 4) {
  ASSERT_EQ(made.weights.vertices(), vertices);
  for (size_t v = 0; v < vertices; ++v) {
    const auto influences = made.weights.of(v);
    ASSERT_GE(influences.size(), 1u);
    ASSERT_LE(influences.size(), most);
    double sum = 0;
    for (size_t k = 0; k < influences.size(); ++k) {
      ASSERT_GE(influences[k].weight, 0);
      ASSERT_LT(influences[k].bind, static_cast<int32_t>(made.binds.size()));
      if (k > 0) {
        ASSERT_LE(influences[k].weight, influences[k - 1].weight);
      }
      sum += double{influences[k].weight};
    }
    ASSERT_NEAR(sum, 1, 1e-6);
  }
}

double largest_change(const AutoWeights& made, const TriangleMesh& mesh) {
  double largest = 0;
  for (const Vec3i& t : mesh.triangles)
    for (int k = 0; k < 3; ++k)
      for (const Bind& bind : made.binds)
        largest = std::max(
            largest, std::abs(weight_of(made, bind.joint, static_cast<size_t>(t[k])) -
                              weight_of(made, bind.joint, static_cast<size_t>(t[(k + 1) % 3]))));
  return largest;
}

// The largest weight a bone has at one end of an edge when it has none at the other: how much
// weights jump where bones are dropped.
double largest_newcomer(const AutoWeights& made, const TriangleMesh& mesh) {
  double largest = 0;
  for (const Vec3i& t : mesh.triangles)
    for (int k = 0; k < 3; ++k)
      for (const Bind& bind : made.binds)
        if (weight_of(made, bind.joint, static_cast<size_t>(t[k])) == 0)
          largest =
              std::max(largest, weight_of(made, bind.joint, static_cast<size_t>(t[(k + 1) % 3])));
  return largest;
}

// A bar along y from -20 to 20, eight thick.
TriangleMesh make_bar() {
  return block_mesh(20, [](int x, int, int z) { return x >= -4 && x < 4 && z >= -4 && z < 4; });
}

Skeleton bar_skeleton() {
  Skeleton skeleton;
  add_joint(skeleton, "lower", "", Vec3d(0, -20, 0));
  add_joint(skeleton, "upper", "lower", Vec3d(0, 0, 0));
  add_joint(skeleton, "upper_end", "upper", Vec3d(0, 20, 0));
  return skeleton;
}

TEST(AutoWeights, OfABarChangeOnceAndSmoothly) {
  const TriangleMesh bar = make_bar();
  const AutoWeights made = automatic_weights(bar, bar_skeleton());
  ASSERT_EQ(made.binds.size(), 2u);
  expect_sound(made, bar.positions.size());
  EXPECT_LE(largest_change(made, bar), 0.25);
  EXPECT_EQ(made.loose_vertices, 0u);
  std::map<std::pair<float, float>, std::map<float, double>> columns;  // by x z: y and weight
  for (size_t v = 0; v < bar.positions.size(); ++v) {
    const Vec3f& p = bar.positions[v];
    const double upper = weight_of(made, 1, v);
    columns[{p[0], p[2]}][p[1]] = upper;
    if (p[1] >= 12) {
      EXPECT_GT(upper, 0.95);
    }
    if (p[1] <= -12) {
      EXPECT_LT(upper, 0.05);
    }
    if (p[1] == 0) {
      EXPECT_NEAR(upper, 0.5, 0.02);
    }
  }
  for (const auto& [place, column] : columns) {
    double before = 0;
    for (const auto& [y, weight] : column) {
      EXPECT_GE(weight, before - 1e-3);
      before = weight;
    }
  }
}

TEST(AutoWeights, SmoothnessWidensTheChange) {
  const TriangleMesh bar = make_bar();
  double before = 1;
  for (const double smoothness : {0.5, 1.0, 2.0}) {
    AutoWeightOptions options;
    options.smoothness = smoothness;
    options.resolution = 64;
    const double change = largest_change(automatic_weights(bar, bar_skeleton(), options), bar);
    EXPECT_LT(change, before);
    before = change;
  }
}

// A body with two legs a block apart, arms beside it a block away, symmetric about x = 0.
bool figure(int x, int y, int z) {
  if (z < -3 || z >= 3) return false;
  const int side = x < 0 ? -1 - x : x;
  const bool body = side < 8 && y >= 0 && y < 24;
  const bool leg = side >= 1 && side < 8 && y >= -26 && y < 0;
  const bool arm = side >= 9 && side < 13 && y >= 0 && y < 24;
  const bool shoulder = side < 13 && y >= 20 && y < 24;
  return body || leg || arm || shoulder;
}

Skeleton figure_skeleton() {
  Skeleton skeleton;
  add_joint(skeleton, "hips", "", Vec3d(0, 3, 0));
  add_joint(skeleton, "chest", "hips", Vec3d(0, 18, 0));
  add_joint(skeleton, "chest_end", "chest", Vec3d(0, 23, 0));
  for (const double s : {1.0, -1.0}) {
    const std::string side = s > 0 ? ".L" : ".R";
    add_joint(skeleton, "shoulder" + side, "chest", Vec3d(s * 4, 22, 0));
    add_joint(skeleton, "arm" + side, "shoulder" + side, Vec3d(s * 11, 21, 0));
    add_joint(skeleton, "forearm" + side, "arm" + side, Vec3d(s * 11, 11, 0));
    add_joint(skeleton, "forearm" + side + "_end", "forearm" + side, Vec3d(s * 11, 1, 0));
    add_joint(skeleton, "thigh" + side, "hips", Vec3d(s * 4.5, 0, 0));
    add_joint(skeleton, "shin" + side, "thigh" + side, Vec3d(s * 4.5, -13, 0));
    add_joint(skeleton, "shin" + side + "_end", "shin" + side, Vec3d(s * 4.5, -25, 0));
  }
  return skeleton;
}

// The weight of all joints whose name ends in `side`.
double weight_of_side(const AutoWeights& made, const Skeleton& skeleton, const std::string& side,
                      size_t vertex) {
  double sum = 0;
  for (size_t j = 0; j < skeleton.size(); ++j)
    if (skeleton.joints[j].name.ends_with(side))
      sum += weight_of(made, static_cast<int>(j), vertex);
  return sum;
}

// Gaps of 2, 1 and half a cell: neither leg follows the other, no rib follows the arm beside it.
TEST(AutoWeights, DoNotCrossTheAir) {
  const TriangleMesh mesh = block_mesh(27, figure);
  const Skeleton skeleton = figure_skeleton();
  for (const int resolution : {100, 50, 25}) {
    AutoWeightOptions options;
    options.resolution = resolution;
    const AutoWeights made = automatic_weights(mesh, skeleton, options);
    expect_sound(made, mesh.positions.size());
    for (size_t v = 0; v < mesh.positions.size(); ++v) {
      const Vec3f& p = mesh.positions[v];
      const std::string other = p[0] > 0 ? ".R" : ".L", own = p[0] > 0 ? ".L" : ".R";
      if (p[1] < -8 || std::abs(p[0]) > 8) {
        ASSERT_LT(weight_of_side(made, skeleton, other, v), 0.01) << p.transpose();
      }
      if (p[1] > 4 && p[1] < 14 && std::abs(p[0]) <= 8) {
        const double arm = weight_of(made, skeleton.find("arm" + own), v) +
                           weight_of(made, skeleton.find("forearm" + own), v);
        ASSERT_LT(arm, 0.05) << p.transpose();
      }
      if (p[1] < 14 && p[1] > 0 && std::abs(p[0]) > 8) {
        ASSERT_GT(weight_of_side(made, skeleton, own, v), 0.9) << p.transpose();
      }
    }
  }
}

TEST(AutoWeights, OfASymmetricFigureAreSymmetric) {
  TriangleMesh mesh = block_mesh(27, figure);
  const Skeleton skeleton = figure_skeleton();
  std::map<std::array<float, 3>, size_t> numbers;
  for (size_t v = 0; v < mesh.positions.size(); ++v)
    numbers[{mesh.positions[v][0], mesh.positions[v][1], mesh.positions[v][2]}] = v;
  // The other half gets the mirror image of this half's diagonals.
  const size_t count = mesh.triangles.size();
  std::vector<Vec3i> triangles;
  for (size_t t = 0; t < count; ++t) {
    Vec3i mirror;
    float x = 0;
    for (int k = 0; k < 3; ++k) {
      const Vec3f& p = mesh.positions[static_cast<size_t>(mesh.triangles[t][k])];
      x += p[0];
      mirror[2 - k] = static_cast<int32_t>(numbers.at({-p[0], p[1], p[2]}));
    }
    if (x <= 0) continue;
    triangles.push_back(mesh.triangles[t]);
    triangles.push_back(mirror);
  }
  mesh.triangles = triangles;
  const AutoWeights made = automatic_weights(mesh, skeleton);
  EXPECT_LE(largest_change(made, mesh), 0.25);
  double worst = 0;
  for (const auto& [place, v] : numbers) {
    const size_t other = numbers.at({-place[0], place[1], place[2]});
    for (size_t j = 0; j < skeleton.size(); ++j) {
      std::string name = skeleton.joints[j].name;
      if (const size_t dot = name.find('.'); dot != std::string::npos)
        name[dot + 1] = name[dot + 1] == 'L' ? 'R' : 'L';
      worst = std::max(worst, std::abs(weight_of(made, static_cast<int>(j), v) -
                                       weight_of(made, skeleton.find(name), other)));
    }
  }
  EXPECT_LT(worst, 1e-4);
}

TEST(AutoWeights, AreTheSameForAnyThreadCount) {
  const TriangleMesh mesh = block_mesh(27, figure);
  std::vector<AutoWeights> results;
  for (const int threads : {1, 2, 5}) {
    set_thread_count(threads);
    AutoWeightOptions options;
    options.resolution = 64;
    results.push_back(automatic_weights(mesh, figure_skeleton(), options));
  }
  set_thread_count(0);
  for (const AutoWeights& other : results) {
    ASSERT_EQ(results[0].weights.offsets, other.weights.offsets);
    for (size_t i = 0; i < other.weights.influences.size(); ++i) {
      ASSERT_EQ(results[0].weights.influences[i].bind, other.weights.influences[i].bind);
      ASSERT_EQ(results[0].weights.influences[i].weight, other.weights.influences[i].weight);
    }
  }
}

// Without the caps at both ends the bar is an open tube, wound inside.
TEST(AutoWeights, OfAnOpenTubeAreThoseOfTheBar) {
  const TriangleMesh bar = make_bar();
  TriangleMesh tube = bar;
  std::erase_if(tube.triangles, [&](const Vec3i& t) {
    const float a = tube.positions[static_cast<size_t>(t[0])][1],
                b = tube.positions[static_cast<size_t>(t[1])][1],
                c = tube.positions[static_cast<size_t>(t[2])][1];
    return std::abs(a) == 20 && a == b && b == c;
  });
  ASSERT_LT(tube.triangles.size(), bar.triangles.size());
  const AutoWeights closed = automatic_weights(bar, bar_skeleton());
  const AutoWeights open = automatic_weights(tube, bar_skeleton());
  expect_sound(open, bar.positions.size());
  for (size_t v = 0; v < bar.positions.size(); ++v)
    EXPECT_NEAR(weight_of(open, 1, v), weight_of(closed, 1, v), 0.05);
}

// A sheet has no inside: the bones beside it reach it along its surface.
TEST(AutoWeights, OfASheet) {
  TriangleMesh sheet;
  for (int y = 0; y <= 40; ++y)
    for (int x = 0; x <= 8; ++x)
      sheet.positions.emplace_back(static_cast<float>(x - 4), static_cast<float>(y - 20), 0.0f);
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 8; ++x) {
      const int v = 9 * y + x;
      sheet.triangles.emplace_back(v, v + 1, v + 10);
      sheet.triangles.emplace_back(v, v + 10, v + 9);
    }
  const AutoWeights made = automatic_weights(sheet, bar_skeleton());
  expect_sound(made, sheet.positions.size());
  EXPECT_LE(largest_change(made, sheet), 0.3);
  for (size_t v = 0; v < sheet.positions.size(); ++v) {
    if (sheet.positions[v][1] > 10) {
      EXPECT_GT(weight_of(made, 1, v), 0.9);
    }
    if (sheet.positions[v][1] < -10) {
      EXPECT_LT(weight_of(made, 1, v), 0.1);
    }
  }
}

// Buttons before the bar touch nothing: they follow the nearest part. Seams split vertices: both
// halves get the same weights.
TEST(AutoWeights, OfLoosePartsAndSeams) {
  TriangleMesh mesh = make_bar();
  const size_t bar_vertices = mesh.positions.size();
  for (const float y : {-14.0f, 14.0f}) {
    const auto first = static_cast<int32_t>(mesh.positions.size());
    for (const Vec3f& p : {Vec3f(-1, y, 6), Vec3f(1, y, 6), Vec3f(0, y + 1, 6), Vec3f(0, y, 7)})
      mesh.positions.push_back(p);
    for (const Vec3i& t : {Vec3i(0, 2, 1), Vec3i(0, 1, 3), Vec3i(1, 2, 3), Vec3i(2, 0, 3)})
      mesh.triangles.emplace_back(t.array() + first);
  }
  const size_t seam = mesh.positions.size();
  for (size_t v = 0; v < 20; ++v) mesh.positions.push_back(mesh.positions[v]);
  const AutoWeights made = automatic_weights(mesh, bar_skeleton());
  expect_sound(made, mesh.positions.size());
  EXPECT_EQ(made.loose_vertices, 8u);
  for (size_t v = bar_vertices; v < seam; ++v)
    EXPECT_NEAR(weight_of(made, 1, v), mesh.positions[v][1] > 0 ? 1 : 0, 0.05);
  for (size_t v = 0; v < 20; ++v) EXPECT_EQ(weight_of(made, 1, v), weight_of(made, 1, seam + v));
}

TEST(AutoWeights, OfBonesOutsideAreSensible) {
  const TriangleMesh bar = make_bar();
  Skeleton skeleton;
  add_joint(skeleton, "root", "", Vec3d(0, -19, 0));
  add_joint(skeleton, "lower", "root", Vec3d(0, -18, 0));
  add_joint(skeleton, "upper", "lower", Vec3d(7, 0, 0));  // three beside the bar
  add_joint(skeleton, "upper_end", "upper", Vec3d(6, 20, 0));
  const AutoWeights made = automatic_weights(bar, skeleton);
  for (size_t v = 0; v < bar.positions.size(); ++v) {
    if (bar.positions[v][1] > 14) {
      EXPECT_GT(weight_of(made, 2, v), 0.9);
    }
    if (bar.positions[v][1] < -14) {
      EXPECT_LT(weight_of(made, 2, v), 0.1);
    }
  }
}

// A root on the floor, a joint where its child is, an end mark, and what the user leaves out.
TEST(AutoWeights, LeaveHelpersOut) {
  const TriangleMesh bar = make_bar();
  Skeleton skeleton;
  add_joint(skeleton, "root", "", Vec3d(30, -60, 0));
  add_joint(skeleton, "lower", "root", Vec3d(0, -19, 0));
  add_joint(skeleton, "middle", "lower", Vec3d(0, 0, 0));
  add_joint(skeleton, "roll", "lower", Vec3d(0, 0, 0));
  add_joint(skeleton, "upper", "roll", Vec3d(0, 0, 0));
  add_joint(skeleton, "tip", "upper", Vec3d(0, 19, 0));
  const auto names = [&](const AutoWeights& made) {
    std::vector<std::string> result;
    for (const Bind& bind : made.binds)
      result.push_back(skeleton.joints[static_cast<size_t>(bind.joint)].name);
    return result;
  };
  AutoWeightOptions options;
  options.resolution = 64;
  options.left_out = {"middle"};
  EXPECT_EQ(names(automatic_weights(bar, skeleton, options)),
            (std::vector<std::string>{"lower", "upper"}));
  options.left_out = {"middle", "upper"};
  EXPECT_EQ(names(automatic_weights(bar, skeleton, options)), std::vector<std::string>{"lower"});
  options.left_out = {"uper"};
  try {
    automatic_weights(bar, skeleton, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'upper'?"), std::string::npos);
  }
}

// A joint at the end of a chain carries the flesh beyond it.
TEST(AutoWeights, EndsOfChainsRunOn) {
  const TriangleMesh bar = make_bar();
  Skeleton skeleton;
  add_joint(skeleton, "lower", "", Vec3d(0, -20, 0));
  add_joint(skeleton, "upper", "lower", Vec3d(0, 0, 0));
  const AutoWeights made = automatic_weights(bar, skeleton);
  for (size_t v = 0; v < bar.positions.size(); ++v)
    if (std::abs(bar.positions[v][1]) > 12) {
      EXPECT_NEAR(weight_of(made, 1, v), bar.positions[v][1] > 0 ? 1 : 0, 0.06);
    }
}

// A chain of short bones in a thick bar: many are about equally near everywhere.
TEST(AutoWeights, KeepTheMostInfluencesAllowed) {
  const TriangleMesh bar =
      block_mesh(40, [](int x, int, int z) { return x >= -8 && x < 8 && z >= -8 && z < 8; });
  Skeleton skeleton;
  for (int k = 0; k <= 16; ++k)
    add_joint(skeleton, "link" + std::to_string(k), k == 0 ? "" : "link" + std::to_string(k - 1),
              Vec3d(0, 5 * k - 40, 0));
  for (const int influences : {1, 2, 4, 8}) {
    AutoWeightOptions options;
    options.influences = influences;
    options.resolution = 64;
    const AutoWeights made = automatic_weights(bar, skeleton, options);
    expect_sound(made, bar.positions.size(), static_cast<size_t>(influences));
    if (influences >= 4) {
      EXPECT_LE(largest_change(made, bar), 0.15) << influences;
      EXPECT_LE(largest_newcomer(made, bar), 0.1) << influences;
    }
  }
}

TEST(AutoWeights, RefuseWhatHasNoAnswer) {
  EXPECT_THROW(automatic_weights({}, bar_skeleton()), Error);
  EXPECT_THROW(automatic_weights(make_bar(), {}), Error);
  TriangleMesh flat;
  flat.positions = {Vec3f(0, 0, 0), Vec3f(0, 0, 0), Vec3f(0, 0, 0)};
  flat.triangles = {Vec3i(0, 1, 2)};
  expect_sound(automatic_weights(flat, bar_skeleton()), 3);
  Skeleton point;
  add_joint(point, "only", "", Vec3d(5, 5, 5));
  const AutoWeights made = automatic_weights(make_bar(), point);
  EXPECT_EQ(made.binds.size(), 1u);
  expect_sound(made, make_bar().positions.size());
}

}  // namespace
}  // namespace supple
