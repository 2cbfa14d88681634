// Self-collision against a search through all cells, and where nothing may be found.
#include "supple/contact/self_collision.h"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "contact/contact_shapes.h"
#include "supple/contact/tet_split.h"
#include "supple/core/parallel.h"
#include "supple/core/timer.h"

namespace supple {
namespace {

// A body with everything its collisions need.
struct Body {
  explicit Body(const TriangleMesh& surface, double spacing, double factor = 1)
      : solid(fill_lattice(surface.positions, surface.triangles, {.spacing = spacing})),
        mesh(solid.lattice),
        skin(surface.positions, surface.triangles, spacing),
        collision(solid, mesh, skin, choose_contact_points(skin, {.factor = factor})),
        rest(test::rest_nodes(solid, mesh)) {}

  std::vector<SelfContact> find(const std::vector<Vec3d>& nodes) {
    std::vector<SelfContact> contacts;
    collision.find(nodes, contacts);
    return contacts;
  }

  template <class Map>
  std::vector<Vec3d> deformed(const Map& map) const {
    std::vector<Vec3d> nodes;
    for (const Vec3d& x : rest) nodes.push_back(map(x));
    return nodes;
  }

  SolidLattice solid;
  LatticeMesh mesh;
  SkinSurface skin;
  SelfCollision collision;
  std::vector<Vec3d> rest;
};

// The places of a point in a cell, by the six orders of the axes and inverse matrices.
std::vector<Vec3d> slow_places(const std::array<Vec3d, 8>& x, const Vec3d& p) {
  std::vector<Vec3d> places;
  std::array<int, 3> order{0, 1, 2};
  do {
    Eigen::Matrix4d now, unit;
    size_t corner = 0;
    Vec3d at = Vec3d::Zero();
    for (int k = 0; k < 4; ++k) {
      now.col(k) << x[corner], 1;
      unit.col(k) << at, 1;
      if (k < 3) {
        corner |= size_t{1} << order[static_cast<size_t>(k)];
        at[order[static_cast<size_t>(k)]] = 1;
      }
    }
    // The right way round: volumes now and at rest have the same sign.
    const double volume = now.determinant();
    if (std::abs(volume) < 1e-14 || (volume > 0) != (unit.determinant() > 0)) continue;
    const Eigen::Vector4d weights = now.fullPivLu().solve(p.homogeneous());
    if (weights.minCoeff() < -1e-9) continue;
    places.emplace_back((unit * weights).head<3>());
  } while (std::next_permutation(order.begin(), order.end()));
  return places;
}

struct Found {
  int32_t point, cell;
  Vec3d rest, surface;
  double depth;
};

// Contacts by looking into every cell for every point.
std::vector<Found> slow_contacts(const Body& body, const std::vector<Vec3d>& nodes, int ring = 1) {
  std::vector<Found> result;
  std::vector<Vec3i> places;
  for (const LatticePlace& c : body.mesh.cells)
    places.push_back(body.solid.lattice.coordinates(c.block, c.local));
  const auto apart = [&](int32_t a, int32_t b) {
    return (places[static_cast<size_t>(a)] - places[static_cast<size_t>(b)]).cwiseAbs().maxCoeff();
  };
  for (size_t i = 0; i < body.collision.points().size(); ++i) {
    const Vec3d rest_point = body.collision.points()[i].rest;
    const int32_t own = nearest_cell(body.solid, body.mesh, rest_point);
    const Vec3d p = tie_to_cell(body.solid, body.mesh, own, rest_point).position(nodes);
    double best = -1e300;
    Found found{static_cast<int32_t>(i), -1, {}, {}, 0};
    for (size_t c = 0; c < places.size(); ++c) {
      if (apart(static_cast<int32_t>(c), own) <= ring) continue;
      std::array<Vec3d, 8> x;
      Box3d box;
      for (size_t k = 0; k < 8; ++k) {
        x[k] = nodes[static_cast<size_t>(body.mesh.corners[c][k])];
        box.extend(x[k]);
      }
      if (box.exteriorDistance(p) > 1e-6) continue;
      for (const Vec3d& place : slow_places(x, p)) {
        const Vec3d rest =
            body.solid.origin + body.solid.spacing * (places[c].cast<double>() + place);
        const double phi = body.skin.distance(rest);
        if (phi >= 0 || phi <= best) continue;
        const NearestSkin nearest = body.skin.nearest(rest);
        const int32_t cell = nearest_cell(body.solid, body.mesh, nearest.point);
        if (apart(cell, own) <= ring) continue;
        best = phi;
        const LatticeTie tie = tie_to_cell(body.solid, body.mesh, cell, nearest.point);
        found = {found.point, static_cast<int32_t>(c), rest, tie.position(nodes), -phi};
      }
    }
    if (found.cell >= 0) result.push_back(found);
  }
  return result;
}

void expect_sound(const Body& body, const std::vector<SelfContact>& contacts) {
  for (const SelfContact& c : contacts) {
    EXPECT_TRUE(c.rest.allFinite() && c.rest_surface.allFinite() && c.surface.allFinite());
    EXPECT_NEAR(c.normal.norm(), 1, 1e-9);
    EXPECT_NEAR(c.depth, (c.surface - c.position).norm(), 1e-12 * (1 + c.depth));
    EXPECT_LT((c.position + c.depth * c.normal - c.surface).norm(),
              2e-6 * body.solid.spacing + 1e-9 * c.depth);
    EXPECT_NEAR(body.skin.distance(c.rest), -c.rest_depth, 1e-12);
  }
}

size_t expect_like_slow(Body& body, const std::vector<Vec3d>& nodes) {
  const std::vector<SelfContact> contacts = body.find(nodes);
  const std::vector<Found> expected = slow_contacts(body, nodes);
  expect_sound(body, contacts);
  EXPECT_EQ(contacts.size(), expected.size());
  // Equally deep places, such as the two sides of a border between cells, may be taken either way.
  size_t other = 0;
  for (size_t i = 0; i < std::min(contacts.size(), expected.size()); ++i) {
    EXPECT_EQ(contacts[i].point, expected[i].point);
    EXPECT_NEAR(contacts[i].rest_depth, expected[i].depth, 1e-7 * body.solid.spacing);
    const bool same = (contacts[i].rest - expected[i].rest).norm() < 1e-6 * body.solid.spacing;
    other += !same;
    if (same) {
      EXPECT_LT((contacts[i].surface - expected[i].surface).norm(), 1e-3 * body.solid.spacing);
    }
  }
  EXPECT_LE(other, contacts.size() / 50);
  return contacts.size();
}

// A bar along x, and what winds it round the z axis with a drift.
TriangleMesh bar() { return box_surface(Vec3d(4, 0.5, 0.6), 0.1); }

Vec3d coiled(const Vec3d& x, double radius, double drift) {
  const double angle = x[0] / radius;
  return {(radius + x[1]) * std::sin(angle), (radius + x[1]) * std::cos(angle),
          x[2] + drift * x[0]};
}

std::vector<Vec3d> places_in(const std::array<Vec3d, 8>& corners, const Vec3d& point) {
  std::vector<Vec3d> places;
  for_places_in_cell(corners, point, [&](const Vec3d& place) { places.push_back(place); });
  return places;
}

TEST(TetSplit, PlacesPointsAndFillsTheCellOnce) {
  std::array<Vec3d, 8> corners;
  Mat3d f;
  f << 1.2, 0.3, -0.2, 0.1, 0.8, 0.4, -0.3, 0.2, 1.5;
  for (size_t i = 0; i < 8; ++i)
    corners[i] = f * Vec3d(i & 1, i >> 1 & 1, static_cast<double>(i >> 2)) + Vec3d(3, 2, 1);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> part(-0.5, 1.5);
  for (int i = 0; i < 2000; ++i) {
    const Vec3d at(part(random), part(random), part(random));
    const std::vector<Vec3d> places = places_in(corners, f * at + Vec3d(3, 2, 1));
    ASSERT_EQ(places.size(), at.minCoeff() >= 0 && at.maxCoeff() <= 1 ? 1u : 0u);
    if (!places.empty()) {
      EXPECT_LT((places[0] - at).norm(), 1e-12);
    }
  }
  // Inside out, flat, and without any size.
  std::array<Vec3d, 8> odd = corners;
  for (Vec3d& x : odd) x[0] = -x[0];
  EXPECT_TRUE(places_in(odd, (odd[0] + odd[7]) / 2 + Vec3d(1e-3, 2e-3, -1e-3)).empty());
  for (Vec3d& x : odd) x[2] = 0;
  EXPECT_TRUE(places_in(odd, (odd[0] + odd[7]) / 2).empty());
  odd.fill(Vec3d(1, 1, 1));
  EXPECT_TRUE(places_in(odd, Vec3d(1, 1, 1)).empty());
  odd[3] = Vec3d::Constant(NAN);
  EXPECT_TRUE(places_in(odd, Vec3d(1, 1, 1)).empty());
}

// Two boxes, one moved into the other: depth and way out are known.
TEST(SelfCollision, MeasuresHowDeepOneBoxIsInAnother) {
  TriangleMesh boxes = box_surface(Vec3d(1, 1, 1), 0.1);
  const TriangleMesh other = boxes;
  test::append(boxes, other, Vec3f(3, 0, 0));
  Body body(boxes, 0.1);
  const double move = -2.2 + 0.013;  // the side at 2.5 comes to 0.313: 0.187 deep
  const auto nodes = body.deformed([&](const Vec3d& x) {
    return Vec3d(x + (x[0] > 1.5 ? Vec3d(move, 0.021, -0.017) : Vec3d::Zero()));
  });
  size_t deep = 0, shallow = 0;
  for (const SelfContact& c : body.find(nodes)) {
    const Vec3d p = body.collision.points()[static_cast<size_t>(c.point)].rest;
    if (p.tail<2>().cwiseAbs().maxCoeff() > 0.25) continue;
    const bool of_other = p[0] > 1.5;
    const double depth = 0.5 - (2.5 + move);
    EXPECT_NEAR(c.depth, depth, 1e-6);
    EXPECT_LT((c.normal - Vec3d(of_other ? 1 : -1, 0, 0)).norm(), 1e-6);
    EXPECT_NEAR(c.rest_depth, depth, 1e-6);
    (of_other ? deep : shallow) += 1;
  }
  EXPECT_GT(deep, 10u);
  EXPECT_GT(shallow, 10u);
}

TEST(SelfCollision, AgreesWithASearchThroughAllCells) {
  Body body(bar(), 0.1, 1.5);
  // Wound up into itself.
  const auto coil = body.deformed([](const Vec3d& x) { return coiled(x, 0.5, 0.05); });
  EXPECT_GT(expect_like_slow(body, coil), 50u);
  // Folded like a sheet of paper.
  const auto fold = body.deformed([](const Vec3d& x) {
    return Vec3d(std::abs(x[0] - 0.03), x[0] > 0.03 ? x[1] : 0.3 - 0.9 * x[1] + 0.1 * x[0], x[2]);
  });
  EXPECT_GT(expect_like_slow(body, fold), 20u);
  // Smooth and large.
  std::mt19937 random(2);
  std::uniform_real_distribution<double> part(-1, 1);
  size_t smooth = 0, wild = 0;
  for (int round = 0; round < 4; ++round) {
    Mat3d waves, size;
    for (int i = 0; i < 9; ++i) waves(i) = 4 * part(random), size(i) = part(random);
    smooth += expect_like_slow(body, body.deformed([&](const Vec3d& x) -> Vec3d {
      return x + size * (waves * x).array().sin().matrix();
    }));
    // Every node anywhere within a few cells: many cells are inside out.
    wild += expect_like_slow(body, body.deformed([&](const Vec3d& x) -> Vec3d {
      return x + 0.25 * Vec3d(part(random), part(random), part(random));
    }));
  }
  EXPECT_GT(smooth, 50u);
  EXPECT_GT(wild, 50u);
}

TEST(SelfCollision, FindsATubeBentIntoItself) {
  const TriangleMesh tube = tube_surface({.ring = 1, .radius = 0.25, .angle = 5.2}, 0.08);
  Body body(tube, 0.1, 1.5);
  EXPECT_TRUE(body.find(body.rest).empty());
  // Round the ring further than it goes, so that the ends overlap.
  const auto nodes = body.deformed([](const Vec3d& x) {
    double angle = std::atan2(x[1], x[0]);
    if (angle < -0.5) angle += 2 * M_PI;
    const double r = x.head<2>().norm(), turned = 1.25 * angle;
    return Vec3d(r * std::cos(turned), r * std::sin(turned), x[2] + 0.02 * angle);
  });
  EXPECT_GT(expect_like_slow(body, nodes), 20u);
}

TEST(SelfCollision, LooksBeyondTheRingOnly) {
  Body body(bar(), 0.1, 1.5);
  const auto nodes = body.deformed([](const Vec3d& x) { return coiled(x, 0.5, 0.05); });
  size_t last = 1u << 30;
  for (const int ring : {0, 1, 3, 50}) {
    SelfCollision collision(body.solid, body.mesh, body.skin,
                            {body.collision.points().begin(), body.collision.points().end()},
                            {.ring = ring});
    std::vector<SelfContact> contacts;
    collision.find(nodes, contacts);
    EXPECT_EQ(contacts.size(), slow_contacts(body, nodes, ring).size());
    EXPECT_LE(contacts.size(), last);
    last = contacts.size();
  }
  EXPECT_EQ(last, 0u);
}

TEST(SelfCollision, SquashedFleshIsNoCollision) {
  Body body(bar(), 0.1);
  for (const double part : {0.5, 0.2, 0.05})
    EXPECT_TRUE(
        body.find(body.deformed([&](const Vec3d& x) -> Vec3d { return part * x; })).empty());
}

TEST(SelfCollision, BearsNodesThatAreNowhere) {
  Body body(bar(), 0.2);
  std::mt19937 random(3);
  std::uniform_int_distribution<size_t> which(0, body.rest.size() - 1);
  for (const double odd : {static_cast<double>(NAN), static_cast<double>(INFINITY), 1e300, -1e20}) {
    auto nodes = body.deformed([](const Vec3d& x) { return coiled(x, 0.5, 0.05); });
    for (int i = 0; i < 30; ++i) nodes[which(random)][i % 3] = odd;
    expect_sound(body, body.find(nodes));
    expect_sound(body, body.find(std::vector<Vec3d>(nodes.size(), Vec3d::Constant(odd))));
  }
  EXPECT_TRUE(body.find(std::vector<Vec3d>(body.rest.size(), Vec3d::Zero())).empty());
  EXPECT_TRUE(body.find(body.rest).empty());
}

TEST(SelfCollision, RefusesOddPoints) {
  Body body(bar(), 0.2);
  std::vector<ContactPoint> points(2);
  points[1].rest[2] = NAN;
  EXPECT_NE(test::problem_of([&] { SelfCollision(body.solid, body.mesh, body.skin, points); },
                             ErrorKind::input)
                .find("point 1"),
            std::string::npos);
  EXPECT_NE(
      test::problem_of([&] { SelfCollision(body.solid, body.mesh, body.skin, {}, {.ring = -1}); },
                       ErrorKind::input)
          .find("ring"),
      std::string::npos);
}

TEST(SelfCollision, HasTheSameBitsForAnyNumberOfThreads) {
  std::vector<double> first;
  for (const int threads : {1, 2, 8}) {
    set_thread_count(threads);
    Body body(bar(), 0.08);
    std::vector<double> bits;
    for (int repeat = 0; repeat < 3; ++repeat)
      for (const SelfContact& c : body.find(body.deformed(
               [&](const Vec3d& x) { return coiled(x, 0.5 + 0.01 * repeat, 0.05); }))) {
        for (const Vec3d& v : {c.rest, c.rest_surface, c.surface, c.position, c.normal})
          bits.insert(bits.end(), v.data(), v.data() + 3);
        bits.push_back(c.point);
        bits.push_back(c.cell);
        bits.push_back(c.depth);
        bits.insert(bits.end(), c.tie.weights.begin(), c.tie.weights.end());
      }
    if (first.empty()) first = bits;
    EXPECT_EQ(bits, first);
    EXPECT_GT(bits.size(), 1000u);
  }
  set_thread_count(0);
}

class RealBody : public ::testing::TestWithParam<const char*> {};

// At rest, turned, moved, and a little larger or smaller, nothing touches.
TEST_P(RealBody, HasNoContactsInTheBindPose) {
  SUPPLE_NEEDS_ASSETS();
  const TriangleMesh mesh = test::real_skin(GetParam());
  const double longest = bounding_box(mesh.positions).cast<double>().sizes().maxCoeff();
  for (const int cells : {36}) {
    Body body(mesh, longest / cells);
    EXPECT_TRUE(body.find(body.rest).empty());
    const Affine motion = Eigen::Translation3d(3, -2, 11) *
                          Eigen::AngleAxisd(0.7, Vec3d(1, 2, 3).normalized()) *
                          Eigen::Scaling(1.03);
    EXPECT_TRUE(
        body.find(body.deformed([&](const Vec3d& x) -> Vec3d { return motion * x; })).empty());
    // Bent over: there are contacts, found in little time.
    const auto bent = body.deformed([&](const Vec3d& x) {
      return coiled({x[1], -x[0], x[2]}, longest / 8, 0.1);
    });
    std::vector<SelfContact> contacts = body.find(bent);
    Stopwatch watch;
    body.collision.find(bent, contacts);
    const double busy = watch.seconds();
    watch = {};
    std::vector<SelfContact> none;
    body.collision.find(body.rest, none);
    expect_sound(body, contacts);
    std::printf("%s: %zu cells, %zu points: %.2f ms without contacts, %.2f ms with %zu\n",
                GetParam(), body.mesh.cells.size(), body.collision.points().size(),
                1e3 * watch.seconds(), 1e3 * busy, contacts.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Characters, RealBody,
                         ::testing::Values("CesiumMan.glb", "KayKit-Barbarian.glb",
                                           "quaternius-modular_women-Casual.glb", "human.glb"));

}  // namespace
}  // namespace supple
