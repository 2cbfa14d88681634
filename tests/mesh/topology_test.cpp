// Connectivity of surfaces whose facts are known, and of random ones against a plain count.
#include "supple/mesh/topology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "mesh/shapes.h"

namespace supple {
namespace {

Topology analyse(const TriangleMesh& mesh) {
  return analyse_topology(mesh.positions.size(), mesh.triangles);
}

TEST(Topology, CubeIsClosed) {
  const Topology cube = analyse(test::make_box({1, 1, 1}));
  EXPECT_TRUE(cube.closed());
  EXPECT_EQ(cube.edges, 18);
  EXPECT_EQ(cube.shells, 1);
  EXPECT_EQ(cube.closed_shells, 1);
  EXPECT_EQ(cube.holes, 0);
  EXPECT_EQ(cube.duplicate_triangles, 0);
}

TEST(Topology, OpenCubeHasHoles) {
  TriangleMesh box = test::make_box({1, 1, 1});
  box.triangles.erase(box.triangles.begin(), box.triangles.begin() + 4);  // the two x sides
  Topology open = analyse(box);
  EXPECT_FALSE(open.closed());
  EXPECT_EQ(open.open_edges, 8);
  EXPECT_EQ(open.holes, 2);
  EXPECT_EQ(open.shells, 1);
  EXPECT_EQ(open.closed_shells, 0);
  box = test::make_box({1, 1, 1});
  box.triangles.pop_back();
  open = analyse(box);
  EXPECT_EQ(open.open_edges, 3);
  EXPECT_EQ(open.holes, 1);
}

TEST(Topology, TurnedTriangleIsFound) {
  TriangleMesh box = test::make_box({1, 1, 1});
  std::swap(box.triangles[5][0], box.triangles[5][1]);
  const Topology turned = analyse(box);
  EXPECT_FALSE(turned.closed());
  EXPECT_EQ(turned.misoriented_edges, 3);
  EXPECT_EQ(turned.open_edges, 0);
  EXPECT_EQ(turned.closed_shells, 1);
}

TEST(Topology, MoebiusStripCannotBeOriented) {
  // A ring of n quads between points 2i and 2i+1, joined crosswise at the end.
  constexpr int n = 9;
  std::vector<Vec3i> triangles;
  for (int i = 0; i < n; ++i) {
    const int a = 2 * i, b = 2 * i + 1;
    const int c = i + 1 < n ? a + 2 : 1, d = i + 1 < n ? b + 2 : 0;
    triangles.emplace_back(a, c, b);
    triangles.emplace_back(b, c, d);
  }
  const Topology strip = analyse_topology(2 * n, triangles);
  EXPECT_EQ(strip.misoriented_edges, 1);
  EXPECT_EQ(strip.open_edges, 2 * n);
  EXPECT_EQ(strip.holes, 1);  // one border that runs round twice
  EXPECT_EQ(strip.shells, 1);
}

TEST(Topology, TetrahedraSharingAnEdgeCrowdIt) {
  const std::vector<Vec3i> triangles = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1},
                                        {1, 4, 5}, {0, 5, 4}, {0, 1, 5}, {0, 4, 1}};
  const Topology joined = analyse_topology(6, triangles);
  EXPECT_EQ(joined.edges, 11);
  EXPECT_EQ(joined.crowded_edges, 1);
  EXPECT_EQ(joined.open_edges, 0);
  EXPECT_EQ(joined.shells, 1);
  EXPECT_EQ(joined.closed_shells, 0);
  EXPECT_FALSE(joined.closed());
}

TEST(Topology, TouchingInAPointAreTwoShells) {
  const std::vector<Vec3i> triangles = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1},
                                        {4, 5, 6}, {0, 6, 5}, {0, 4, 6}, {0, 5, 4}};
  const Topology joined = analyse_topology(7, triangles);
  EXPECT_TRUE(joined.closed());
  EXPECT_EQ(joined.shells, 2);
  EXPECT_EQ(joined.closed_shells, 2);
  EXPECT_EQ(joined.shell_of_triangle, (std::vector<int32_t>{0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST(Topology, DuplicatesInAnyOrderAreCounted) {
  const std::vector<Vec3i> triangles = {{0, 1, 2}, {2, 0, 1}, {0, 2, 1}, {1, 2, 3}};
  const Topology topology = analyse_topology(4, triangles);
  EXPECT_EQ(topology.duplicate_triangles, 2);
  EXPECT_EQ(topology.crowded_edges, 3);
}

TEST(Topology, NothingIsNotClosed) {
  const Topology nothing = analyse_topology(5, {});
  EXPECT_FALSE(nothing.closed());
  EXPECT_EQ(nothing.shells, 0);
  EXPECT_EQ(nothing.closed_shells, 0);
}

// Counts with a map of edges and shells by flooding.
void expect_plain_count(int vertices, const std::vector<Vec3i>& triangles) {
  std::map<std::pair<int, int>, std::vector<std::pair<int, bool>>> edges;
  for (size_t t = 0; t < triangles.size(); ++t)
    for (int s = 0; s < 3; ++s) {
      const int a = triangles[t][s], b = triangles[t][(s + 1) % 3];
      edges[std::minmax(a, b)].emplace_back(static_cast<int>(t), a < b);
    }
  Topology expected;
  std::vector<int> shell(triangles.size(), -1);
  for (size_t seed = 0; seed < triangles.size(); ++seed) {
    if (shell[seed] >= 0) continue;
    std::vector<int> pending = {static_cast<int>(seed)};
    bool whole = true;
    while (!pending.empty()) {
      const auto t = static_cast<size_t>(pending.back());
      pending.pop_back();
      if (shell[t] >= 0) continue;
      shell[t] = static_cast<int>(expected.shells);
      for (int s = 0; s < 3; ++s) {
        const auto& users = edges[std::minmax(triangles[t][s], triangles[t][(s + 1) % 3])];
        whole = whole && users.size() == 2;
        for (const auto& [other, forward] : users) pending.push_back(other);
      }
    }
    ++expected.shells;
    expected.closed_shells += whole;
  }
  for (const auto& [key, users] : edges) {
    expected.open_edges += users.size() == 1;
    expected.crowded_edges += users.size() > 2;
    expected.misoriented_edges += users.size() == 2 && users[0].second == users[1].second;
  }
  const Topology found = analyse_topology(static_cast<size_t>(vertices), triangles);
  EXPECT_EQ(found.edges, static_cast<int64_t>(edges.size()));
  EXPECT_EQ(found.open_edges, expected.open_edges);
  EXPECT_EQ(found.crowded_edges, expected.crowded_edges);
  EXPECT_EQ(found.misoriented_edges, expected.misoriented_edges);
  EXPECT_EQ(found.shells, expected.shells);
  EXPECT_EQ(found.closed_shells, expected.closed_shells);
  EXPECT_EQ(found.shell_of_triangle, shell);
}

TEST(Topology, RandomSoupsAgreeWithAPlainCount) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const int vertices = 4 + static_cast<int>(random() % 30);
    std::vector<Vec3i> triangles;
    while (triangles.size() < 40) {
      const auto corner = [&] {
        return static_cast<int>(random() % static_cast<unsigned>(vertices));
      };
      const Vec3i t(corner(), corner(), corner());
      if (t[0] != t[1] && t[1] != t[2] && t[2] != t[0]) triangles.push_back(t);
    }
    expect_plain_count(vertices, triangles);
  }
  TriangleMesh sphere = test::make_sphere(3);
  std::shuffle(sphere.triangles.begin(), sphere.triangles.end(), random);
  expect_plain_count(static_cast<int>(sphere.positions.size()), sphere.triangles);
}

}  // namespace
}  // namespace supple
