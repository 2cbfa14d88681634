// Split skins: everything a vertex has, the order of vertices and parts, and seams.
#include "supple/rig/split_skin.h"

#include <gtest/gtest.h>

#include <numeric>

#include "mesh/shapes.h"
#include "supple/mesh/topology.h"
#include "supple/mesh/weld.h"

namespace supple {
namespace {

// A quantity that is linear over space is split right when it is still that.
double linear(const Vec3f& p) {
  const Vec3d x = p.cast<double>();
  return 0.3 + 0.05 * x[0] - 0.07 * x[1] + 0.05 * x[2];
}

// Three boxes of six faces each, with the vertices of every face its own as where normals are
// sharp: two parts of flesh that touch, and a rigid one on a joint. All that vertices have is
// linear.
Character boxes(bool with_rig) {
  Character character;
  character.skeleton.joints.resize(2);
  character.skeleton.joints[1].parent = 0;
  const TriangleMesh box = test::make_box({3.3f, 1.7f, 0.9f});
  for (int b = 0; b < 3; ++b) {
    Part part;
    part.name = "box" + std::to_string(b);
    part.material = "m" + std::to_string(b);
    part.rigid = with_rig && b == 1;
    part.vertices.first = static_cast<int32_t>(character.skin.positions.size());
    part.triangles.first = static_cast<int32_t>(character.skin.triangles.size());
    for (size_t t = 0; t < box.triangles.size(); t += 2) {
      // The two triangles of a face are 0 1 2 and 0 2 3 of its corners.
      const auto first = static_cast<int32_t>(character.skin.positions.size());
      for (const int32_t v :
           {box.triangles[t][0], box.triangles[t][1], box.triangles[t][2], box.triangles[t + 1][2]})
        character.skin.positions.push_back(box.positions[static_cast<size_t>(v)] +
                                           Vec3f(3.3f * static_cast<float>(b), 0, 0));
      character.skin.triangles.emplace_back(first, first + 1, first + 2);
      character.skin.triangles.emplace_back(first, first + 2, first + 3);
    }
    part.vertices.count =
        static_cast<int32_t>(character.skin.positions.size()) - part.vertices.first;
    part.triangles.count =
        static_cast<int32_t>(character.skin.triangles.size()) - part.triangles.first;
    character.parts.push_back(part);
  }
  VertexAttribute uv{"TEXCOORD_0", 2, {}}, stiffness{"_STIFFNESS", 1, {}}, normal{"NORMAL", 3, {}};
  BlendShape shape{"bulge", {}, {}, 0.25};
  for (size_t v = 0; v < character.skin.positions.size(); ++v) {
    const Vec3f& p = character.skin.positions[v];
    const auto value = static_cast<float>(linear(p));
    uv.values.insert(uv.values.end(), {2 * value, 1 - value});
    stiffness.values.push_back(value);
    normal.values.insert(normal.values.end(), {v % 2 ? 1.0f : 0.0f, v % 2 ? 0.0f : 1.0f, 0});
    shape.vertices.push_back(static_cast<int32_t>(v));
    shape.offsets.emplace_back(value, 0, -value);
    if (!with_rig) continue;
    const std::array<Influence, 2> pull{Influence{0, value}, Influence{1, 1 - value}};
    character.weights.add_vertex(pull, 0);
  }
  if (with_rig) character.binds = {{0, Affine::Identity()}, {1, Affine::Identity()}};
  character.attributes = {uv, stiffness, normal};
  character.shapes = {shape};
  return character;
}

const CellGrid grid{Vec3d(0.1, 0.2, 0.05), 0.7};

TEST(SplitSkin, WhatIsLinearOverSpaceStaysSo) {
  const Character before = boxes(true);
  Character after = before;
  split_skin(after, grid);
  const size_t vertices = after.skin.positions.size();
  ASSERT_GT(vertices, before.skin.positions.size());
  ASSERT_EQ(after.split_map.vertices.size(), vertices);
  ASSERT_EQ(after.split_map.triangles.size(), after.skin.triangles.size());
  ASSERT_EQ(after.weights.vertices(), vertices);
  ASSERT_EQ(after.attributes.size(), 3);
  std::vector<Vec3f> offsets(vertices, Vec3f::Zero());
  for (size_t i = 0; i < after.shapes[0].vertices.size(); ++i)
    offsets[static_cast<size_t>(after.shapes[0].vertices[i])] += after.shapes[0].offsets[i];
  EXPECT_EQ(after.shapes[0].rest_weight, 0.25);
  for (size_t v = 0; v < vertices; ++v) {
    const double value = linear(after.skin.positions[v]);
    const auto near = [&](float found, double expected) {
      EXPECT_NEAR(static_cast<double>(found), expected, 1e-5) << v;
    };
    near(after.attributes[0].values[2 * v], 2 * value);
    near(after.attributes[0].values[2 * v + 1], 1 - value);
    near(after.attributes[1].values[v], value);
    near(offsets[v][0], value);
    near(offsets[v][2], -value);
    double sum = 0;
    for (const Influence& influence : after.weights.of(v)) {
      near(influence.weight, influence.bind == 0 ? value : 1 - value);
      sum += static_cast<double>(influence.weight);
    }
    EXPECT_NEAR(sum, 1, 1e-6);
    const Eigen::Map<const Vec3f> normal(&after.attributes[2].values[3 * v]);
    EXPECT_NEAR(normal.norm(), 1, 1e-6);
  }
}

TEST(SplitSkin, VerticesKeepTheirOrderAndPartsTheirTriangles) {
  const Character before = boxes(true);
  Character after = before;
  split_skin(after, grid);
  int32_t next_vertex = 0, next_triangle = 0;
  for (size_t p = 0; p < after.parts.size(); ++p) {
    const Part &was = before.parts[p], &is = after.parts[p];
    EXPECT_EQ(is.name, was.name);
    EXPECT_EQ(is.material, was.material);
    EXPECT_EQ(is.vertices.first, next_vertex);
    EXPECT_EQ(is.triangles.first, next_triangle);
    next_vertex = is.vertices.end();
    next_triangle = is.triangles.end();
    const Range input = input_vertices(after.split_map, is);
    EXPECT_EQ(input.first, was.vertices.first);
    EXPECT_EQ(input.count, was.vertices.count);
    // First the vertices it had, with all that was theirs.
    for (int32_t i = 0; i < is.vertices.count; ++i) {
      const auto v = static_cast<size_t>(is.vertices.first + i);
      const VertexSource& source = after.split_map.vertices[v];
      EXPECT_EQ(source.is_input(), i < was.vertices.count);
      for (int k = 0; k < 3; ++k) {
        EXPECT_GE(source.vertices[k], was.vertices.first);
        EXPECT_LT(source.vertices[k], was.vertices.end());
      }
      if (!source.is_input()) continue;
      const auto old = static_cast<size_t>(source.vertices[0]);
      EXPECT_EQ(old, static_cast<size_t>(was.vertices.first + i));
      EXPECT_EQ(after.skin.positions[v], before.skin.positions[old]);
      EXPECT_EQ(after.attributes[1].values[v], before.attributes[1].values[old]);
      ASSERT_EQ(after.weights.of(v).size(), before.weights.of(old).size());
      for (size_t i2 = 0; i2 < before.weights.of(old).size(); ++i2)
        EXPECT_EQ(after.weights.of(v)[i2].weight, before.weights.of(old)[i2].weight);
    }
    for (int32_t t = is.triangles.first; t < is.triangles.end(); ++t) {
      const int32_t from = after.split_map.triangles[static_cast<size_t>(t)];
      EXPECT_GE(from, was.triangles.first);
      EXPECT_LT(from, was.triangles.end());
      EXPECT_GE(after.skin.triangles[static_cast<size_t>(t)].minCoeff(), is.vertices.first);
      EXPECT_LT(after.skin.triangles[static_cast<size_t>(t)].maxCoeff(), is.vertices.end());
    }
  }
  EXPECT_EQ(static_cast<size_t>(next_vertex), after.skin.positions.size());
  EXPECT_EQ(static_cast<size_t>(next_triangle), after.skin.triangles.size());
  // What hangs on a joint is left alone.
  EXPECT_EQ(after.parts[1].vertices.count, before.parts[1].vertices.count);
  EXPECT_EQ(after.parts[1].triangles.count, before.parts[1].triangles.count);
  EXPECT_GT(after.parts[2].vertices.count, before.parts[2].vertices.count);
}

TEST(SplitSkin, SeamsStayClosed) {
  for (const bool shaken : {false, true}) {
    Character character = boxes(false);
    // Doubles that differ by less than what is welded.
    for (size_t v = 0; shaken && v < character.skin.positions.size(); v += 3)
      character.skin.positions[v] += Vec3f(1e-6f, -1e-6f, 1e-6f);
    // Planes at the tolerance from the faces, where rounding decides.
    for (const double origin : {0.0055, 0.1, 0.0, -0.0055}) {
      Character split = character;
      split_skin(split, {Vec3d::Constant(origin), 0.55});
      EXPECT_GT(split.skin.positions.size(), character.skin.positions.size());
      const Weld weld = weld_by_position(split.skin.positions, 1e-5);
      const TriangleMesh mesh = welded_mesh(weld, split.skin.positions, split.skin.triangles);
      EXPECT_EQ(mesh.triangles.size(), split.skin.triangles.size());
      // The boxes touch each other: their common edges are of four triangles, none is open.
      EXPECT_EQ(analyse_topology(mesh.positions.size(), mesh.triangles).open_edges, 0);
    }
  }
}

TEST(SplitSkin, PartsThatShareVerticesShareThoseThatAreMade) {
  const TriangleMesh box = test::make_box({3.3f, 1.7f, 0.9f});
  Character character;
  character.skin = box;
  for (int half = 0; half < 2; ++half) {
    Part part;
    part.vertices = {0, 8};
    part.triangles = {6 * half, 6};
    character.parts.push_back(part);
  }
  split_skin(character, grid);
  const auto all = static_cast<int32_t>(character.skin.positions.size());
  for (const Part& part : character.parts) {
    EXPECT_EQ(part.vertices.first, 0);
    EXPECT_EQ(part.vertices.count, all);
  }
  EXPECT_EQ(character.parts[1].triangles.first, character.parts[0].triangles.count);
  EXPECT_TRUE(analyse_topology(character.skin.positions.size(), character.skin.triangles).closed());
}

}  // namespace
}  // namespace supple
