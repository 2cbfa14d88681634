// Contacts of soft surfaces: what is found, and that it is resolved without losing momentum, with
// Coulomb's friction, and the same for any number of threads.
#include "supple/contact/surface_contact.h"

#include <gtest/gtest.h>

#include <Eigen/SVD>

#include <cmath>
#include <cstring>
#include <random>

#include "supple/contact/closest_point.h"
#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/mesh/primitives.h"
#include "supple/mesh/weld.h"

namespace supple::test {
namespace {

constexpr double dt = 0.005;

// Objects packed into one array, and their motion.
struct Heap {
  std::vector<Vec3f> rest, x, v;
  std::vector<Vec3i> triangles;
  std::vector<int32_t> objects;
  std::vector<float> inverse_masses;
  std::vector<SurfaceTouch> touches;
  std::vector<uint8_t> touching;
  std::vector<size_t> starts = {0};

  void add(const TriangleMesh& mesh, const Vec3f& at, const Vec3f& velocity = Vec3f::Zero(),
           float mass = 1, const SurfaceTouch& touch = {}) {
    const auto first = static_cast<int32_t>(rest.size());
    const auto object = static_cast<int32_t>(touches.size());
    for (const Vec3f& p : mesh.positions) {
      rest.push_back(p + at);
      v.push_back(velocity);
      objects.push_back(object);
      inverse_masses.push_back(1 / mass);
    }
    x = rest;
    for (const Vec3i& t : mesh.triangles) triangles.push_back(t + Vec3i::Constant(first));
    touches.push_back(touch);
    touching.resize(rest.size());
    starts.push_back(rest.size());
  }

  SurfaceContact contact() const {
    return SurfaceContact({rest, triangles, objects, inverse_masses, touches}, "test");
  }

  Vec3d momentum() const {
    Vec3d sum = Vec3d::Zero();
    for (size_t i = 0; i < v.size(); ++i) sum += v[i].cast<double>() / inverse_masses[i];
    return sum;
  }
  Vec3d centre() const {
    Vec3d sum = Vec3d::Zero();
    for (size_t i = 0; i < x.size(); ++i) sum += x[i].cast<double>() / inverse_masses[i];
    return sum;
  }
  double energy() const {
    double sum = 0;
    for (size_t i = 0; i < v.size(); ++i)
      sum += 0.5 * static_cast<double>(v[i].squaredNorm() / inverse_masses[i]);
    return sum;
  }

  // Gravity, then every object as stiff as it gets: matched to its rest shape as a whole.
  void fall(const Vec3f& gravity = {0, -9.81f, 0}) {
    for (size_t i = 0; i < x.size(); ++i) {
      v[i] += static_cast<float>(dt) * gravity;
      x[i] += static_cast<float>(dt) * v[i];
    }
    for (size_t o = 0; o < touches.size(); ++o) match(starts[o], starts[o + 1]);
  }
  void match(size_t begin, size_t end) {
    Vec3d middle = Vec3d::Zero(), rest_middle = middle;
    for (size_t i = begin; i < end; ++i) {
      middle += x[i].cast<double>();
      rest_middle += rest[i].cast<double>();
    }
    middle /= static_cast<double>(end - begin);
    rest_middle /= static_cast<double>(end - begin);
    Mat3d a = Mat3d::Zero();
    for (size_t i = begin; i < end; ++i)
      a += (x[i].cast<double>() - middle) * (rest[i].cast<double>() - rest_middle).transpose();
    const Eigen::JacobiSVD<Mat3d> svd(a, Eigen::ComputeFullU | Eigen::ComputeFullV);
    const Mat3d turn = svd.matrixU() * svd.matrixV().transpose();
    for (size_t i = begin; i < end; ++i) {
      const Vec3d goal = turn * (rest[i].cast<double>() - rest_middle) + middle;
      v[i] += ((goal - x[i].cast<double>()) / dt).cast<float>();
      x[i] += (goal - x[i].cast<double>()).cast<float>();
    }
  }
};

TriangleMesh welded(const TriangleMesh& mesh) {
  return welded_mesh(weld_by_position(mesh.positions), mesh.positions, mesh.triangles);
}

TriangleMesh box(double side, double edge) {
  return welded(box_surface(Vec3d::Constant(side), edge));
}

TEST(ClosestTriangle, IsTheClosestOne) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> number(-1, 1);
  const auto point = [&] { return Vec3f(number(random), number(random), number(random)); };
  for (int round = 0; round < 2000; ++round) {
    const size_t count = 1 + random() % 32;
    std::vector<float> rows(9 * 32, 0);
    std::vector<TriangleCorners> all;
    for (size_t i = 0; i < 32; ++i) {
      if (i >= count) all.push_back(all.back());
      Vec3f a = point(), b = point(), c = point();
      // Some without area, some without size.
      if (random() % 8 == 0) c = a + 0.5f * (b - a);
      if (random() % 16 == 0) b = c = a;
      if (i < count) all.push_back({a.cast<double>(), b.cast<double>(), c.cast<double>()});
      for (size_t k = 0; k < 3; ++k) {
        const auto e = static_cast<Eigen::Index>(k);
        rows[k * 32 + i] = static_cast<float>(all[i][0][e]);
        rows[(3 + k) * 32 + i] = static_cast<float>(all[i][1][e] - all[i][0][e]);
        rows[(6 + k) * 32 + i] = static_cast<float>(all[i][2][e] - all[i][0][e]);
      }
    }
    const Vec3f p = point();
    const ClosestTriangle found = closest_triangle({rows.data(), 32}, count, p.data());
    double least = 1e9;
    for (size_t i = 0; i < count; ++i)
      least = std::min(
          least, (at_weights(all[i], closest_weights(all[i], p.cast<double>())) - p.cast<double>())
                     .norm());
    ASSERT_LT(found.triangle, static_cast<int32_t>(count));
    const Vec3d weights(1 - static_cast<double>(found.second + found.third), found.second,
                        found.third);
    EXPECT_GE(weights.minCoeff(), -1e-6);
    const Vec3d on = at_weights(all[static_cast<size_t>(found.triangle)], weights);
    EXPECT_NEAR((on - p.cast<double>()).norm(), least, 1e-3);
  }
}

TEST(ClosestTriangle, OfManyPatchesIsThatOfEachPoint) {
  std::mt19937 random(9);
  std::uniform_real_distribution<float> number(-1, 1);
  constexpr size_t patches = 40, row = 16;
  std::vector<float> rows(patches * 9 * row);
  for (float& r : rows) r = 0.3f * number(random);
  std::vector<PatchTriangles> all;
  for (size_t p = 0; p < patches; ++p) {
    float* own = rows.data() + p * 9 * row;
    const Vec3f middle(number(random), number(random), number(random));
    const auto count = static_cast<uint32_t>(1 + random() % row);
    Box3f box;
    for (size_t i = 0; i < row; ++i) {
      for (size_t k = 0; k < 9; ++k) {
        if (k < 3) own[k * row + i] += middle[static_cast<Eigen::Index>(k)];
        if (i >= count) own[k * row + i] = own[k * row + count - 1];
      }
      const auto at = [&](size_t k) {
        return Vec3f(own[k * row + i], own[(k + 1) * row + i], own[(k + 2) * row + i]);
      };
      box.extend(at(0)).extend(at(0) + at(3)).extend(at(0) + at(6));
    }
    PatchTriangles patch{{own, row}, count, static_cast<int32_t>(100 * p)};
    Vec3f::Map(patch.low) = box.min();
    Vec3f::Map(patch.high) = box.max();
    // One that is broken.
    if (p == 7) std::fill(own, own + row, std::nanf(""));
    all.push_back(patch);
  }
  size_t found_any = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<uint32_t> some;
    for (uint32_t p = 0; p < patches; ++p)
      if (random() % 3 == 0) some.push_back(p);
    const size_t count = 1 + random() % points_at_once;
    const float reach = 0.2f * std::abs(number(random));
    PointRows points;
    for (auto& coordinates : points.rows)
      for (float& coordinate : coordinates) coordinate = 1.5f * number(random);
    if (round % 5 == 0) points.rows[1][0] = std::nanf("");
    std::array<ClosestTriangle, points_at_once> best;
    best.fill({reach * reach, -1, 0, 0});
    closest_of_patches(all, some, points, std::span(best).first(count));
    for (size_t i = 0; i < points_at_once; ++i) {
      const Vec3f p(points.rows[0][i], points.rows[1][i], points.rows[2][i]);
      ClosestTriangle expected{reach * reach, -1, 0, 0};
      for (const uint32_t k : some) {
        if (i >= count || !p.allFinite() || k == 7) continue;
        const ClosestTriangle one = closest_triangle(all[k].triangles, all[k].count, p.data());
        if (!(one.distance2 < expected.distance2)) continue;
        expected = one;
        expected.triangle += all[k].first;
      }
      EXPECT_EQ(best[i].triangle, expected.triangle);
      EXPECT_EQ(best[i].distance2, expected.distance2);
      EXPECT_EQ(best[i].second, expected.second);
      EXPECT_EQ(best[i].third, expected.third);
      found_any += expected.triangle >= 0 ? 1 : 0;
    }
  }
  EXPECT_GT(found_any, 300u);
}

TEST(BoxTree, FindsAllPairs) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> number(0, 1);
  constexpr size_t count = 400;
  BoxTree tree(count);
  std::vector<BoxTree::Pair> found;
  for (int round = 0; round < 3; ++round) {
    std::vector<Box3d> boxes;
    for (size_t i = 0; i < count; ++i) {
      const Vec3d low(number(random), number(random), number(random));
      boxes.emplace_back(low, low + Vec3d::Constant(0.1 * number(random)));
      tree.set(i, boxes.back());
    }
    tree.update();
    const auto wanted = [](const void*, uint32_t a, uint32_t b) { return (a + b) % 3 != 0; };
    tree.overlaps(nullptr, wanted, found);
    std::sort(found.begin(), found.end());
    size_t expected = 0;
    for (uint32_t a = 0; a < count; ++a)
      for (uint32_t b = a + 1; b < count; ++b)
        if (boxes[a].intersects(boxes[b]) && wanted(nullptr, a, b)) {
          ++expected;
          EXPECT_TRUE(std::binary_search(found.begin(), found.end(), BoxTree::Pair(a, b)));
        }
    // Rounding outwards may add pairs that touch nearly.
    EXPECT_NEAR(static_cast<double>(found.size()), static_cast<double>(expected), 2);
  }
}

TEST(SurfaceContact, KeepsMomentumBetweenObjects) {
  Heap heap;
  const TriangleMesh ball = sphere_surface(0.1, 0.02);
  heap.add(ball, {0, 0, 0}, {1, 0.2f, 0}, 1, {.friction = 0.5});
  heap.add(ball, {0.19f, 0.03f, 0}, {-2, 0, 0.3f}, 3, {.friction = 0.5});
  SurfaceContact contact = heap.contact();
  const Vec3d momentum = heap.momentum(), centre = heap.centre();
  const double energy = heap.energy();
  const SurfaceContactReport report = contact.resolve({}, dt, heap.x, heap.v, heap.touching);
  EXPECT_GT(report.contacts, 4u);
  EXPECT_NEAR(report.deepest, 0.2 - std::hypot(0.19, 0.03), 0.003);
  EXPECT_LT((heap.momentum() - momentum).norm(), 1e-4 * momentum.norm());
  EXPECT_LT((heap.centre() - centre).norm(), 1e-4);
  EXPECT_LT(heap.energy(), energy);
  // Nobody approaches any more where they touch, and little of the depth is left.
  const SurfaceContactReport again = contact.resolve({}, 0, heap.x, heap.v, heap.touching);
  EXPECT_LT(again.deepest, 0.25 * report.deepest);
}

// On a slope things stay up to the angle whose tangent is the coefficient (26.57 degrees), and
// slide as fast as they should beyond: loose particles and a block.
class Slope : public ::testing::TestWithParam<bool> {};

TEST_P(Slope, FrictionHasCoulombsCone) {
  constexpr double friction = 0.5, seconds = 0.5;
  const bool is_loose = GetParam();
  for (const double angle : {20.0, 26.4, 26.7, 35.0}) {
    const double radians = angle * 3.14159265358979 / 180;
    const Vec3d up(std::sin(radians), std::cos(radians), 0),
        down(std::cos(radians), -std::sin(radians), 0);
    const Collider slope(PlaneShape{up, 0}, {.friction = friction});
    const Collider* colliders[] = {&slope};
    Heap heap;
    heap.add(is_loose ? TriangleMesh{{{0, -0.05f, 0}, {0.1f, -0.05f, 0}}, {}}
                      : welded(box_surface({0.2, 0.1, 0.2}, 0.05)),
             {0, 0, 0}, Vec3f::Zero(), 1, {.firmness = 1});
    const Eigen::Quaternionf turn =
        Eigen::Quaternionf::FromTwoVectors(Vec3f::UnitY(), up.cast<float>());
    for (Vec3f& p : heap.rest) p = turn * (p + Vec3f(0, 0.05f, 0));
    heap.x = heap.rest;
    SurfaceContact contact = heap.contact();
    const Vec3d start = heap.centre() / static_cast<double>(heap.x.size());
    for (int i = 0; i < seconds / dt; ++i) {
      if (is_loose)
        for (size_t k = 0; k < heap.x.size(); ++k) {
          heap.v[k] += static_cast<float>(dt) * Vec3f(0, -9.81f, 0);
          heap.x[k] += static_cast<float>(dt) * heap.v[k];
        }
      else
        heap.fall();
      contact.resolve(colliders, dt, heap.x, heap.v, heap.touching);
    }
    const double way = (heap.centre() / static_cast<double>(heap.x.size()) - start).dot(down);
    const double slip = std::max(0.0, 9.81 * (std::sin(radians) - friction * std::cos(radians)));
    EXPECT_NEAR(way, 0.5 * slip * seconds * seconds,
                is_loose ? 0.003 * slip + 1e-5 : 0.005 * slip + 5e-4)
        << angle;
  }
}

INSTANTIATE_TEST_SUITE_P(SurfaceContact, Slope, ::testing::Bool());

TEST(SurfaceContact, AStackOfBoxesRests) {
  constexpr double side = 0.2, edge = 0.025;
  Heap heap;
  for (int i = 0; i < 3; ++i)
    heap.add(box(side, edge),
             Vec3f(0.02f * static_cast<float>(i), 0.11f + 0.22f * static_cast<float>(i), 0),
             Vec3f::Zero(), 1, {.firmness = 1});
  const Collider floor(PlaneShape{}, {.friction = 0.5});
  const Collider* colliders[] = {&floor};
  SurfaceContact contact = heap.contact();
  double deepest = 0;
  for (int i = 0; i < 600; ++i) {
    heap.fall();
    const SurfaceContactReport report =
        contact.resolve(colliders, dt, heap.x, heap.v, heap.touching);
    if (i > 200) deepest = std::max(deepest, report.deepest);
  }
  EXPECT_LT(deepest, 0.1 * edge);
  EXPECT_LT(heap.energy(), 1e-4 * static_cast<double>(heap.x.size()) * 0.5);
  for (size_t o = 0; o < 3; ++o) {
    Box3f box;
    for (size_t i = heap.starts[o]; i < heap.starts[o + 1]; ++i) box.extend(heap.x[i]);
    const double gaps = static_cast<double>(o) * 0.1 * contact.edge(0);
    EXPECT_NEAR(static_cast<double>(box.min()[1]), static_cast<double>(o) * side + gaps, 0.005)
        << o;
    EXPECT_NEAR(static_cast<double>(box.center()[0]), 0.02 * static_cast<double>(o), 0.01) << o;
  }
}

TEST(SurfaceContact, AMovingPlatePushes) {
  Heap heap;
  heap.add(box(0.2, 0.05), {0, 0.1f, 0}, Vec3f::Zero(), 1, {.firmness = 1});
  Collider plate(BoxShape{{-0.4, 0.1, 0}, {0.1, 0.3, 0.3}});
  Collider floor(PlaneShape{});
  const Collider* colliders[] = {&floor, &plate};
  SurfaceContact contact = heap.contact();
  const auto motion = [](double time) { return Affine(Eigen::Translation3d(0.4 * time, 0, 0)); };
  for (int i = 0; i < 200; ++i) {
    heap.fall();
    plate.set_motion(motion(i * dt), motion((i + 1) * dt), dt);
    contact.resolve(colliders, dt, heap.x, heap.v, heap.touching);
  }
  // The plate's face is at 0.1 then, the box before it.
  float least = 1;
  for (const Vec3f& p : heap.x) least = std::min(least, p[0]);
  EXPECT_GT(least, 0.1f - 0.002f);
  EXPECT_NEAR(heap.momentum()[0] / static_cast<double>(heap.x.size()), 0.4, 0.02);
}

// What falls stops where it lands, however fast, and whether as a whole or not: contacts give back
// nothing of the speed they take.
TEST(SurfaceContact, DoesNotBounce) {
  for (const double speed : {1.0, 5.0, 10.0}) {
    Heap heap;
    heap.add(box(0.2, 0.025), {0, 0.15f, 0}, Vec3f(0, static_cast<float>(-speed), 0), 1,
             {.firmness = 1});
    heap.add(box(0.2, 0.025), {0, 0.4f, 0}, Vec3f(0, static_cast<float>(-speed), 0), 1,
             {.firmness = 1});
    const Collider floor(PlaneShape{}, {.friction = 0.5});
    const Collider* colliders[] = {&floor};
    SurfaceContact contact = heap.contact();
    double fastest = 0;
    for (int i = 0; i < 100; ++i) {
      heap.fall();
      contact.resolve(colliders, dt, heap.x, heap.v, heap.touching);
      for (size_t o = 0; o < 2; ++o) {
        double up = 0;
        for (size_t k = heap.starts[o]; k < heap.starts[o + 1]; ++k)
          up += static_cast<double>(heap.v[k][1]) /
                static_cast<double>(heap.starts[o + 1] - heap.starts[o]);
        fastest = std::max(fastest, up);
      }
    }
    EXPECT_LT(fastest, 0.05 * speed + 0.02) << speed;
    EXPECT_LT(heap.energy(), 1e-4 * static_cast<double>(heap.x.size())) << speed;
  }
}

// Thin things stop fast ones: what goes ten times its thickness in a step must not come out behind.
TEST(SurfaceContact, NothingPassesThroughThinRigidThings) {
  for (const float speed : {2.0f, 10.0f, 40.0f})
    for (const bool plate_moves : {false, true}) {
      Heap heap;
      const Vec3f velocity(0, plate_moves ? 0 : -speed, 0);
      heap.add(sphere_surface(0.1, 0.03), {0, 0.25f, 0}, velocity);
      Collider plate(BoxShape{{0, 0, 0}, {1, 0.004, 1}});
      const Collider* colliders[] = {&plate};
      SurfaceContact contact = heap.contact();
      const auto motion = [&](int step) {
        return Affine(
            Eigen::Translation3d(0, plate_moves ? static_cast<double>(speed) * dt * step : 0.0, 0));
      };
      const int steps = static_cast<int>(0.3f / speed / static_cast<float>(dt)) + 2;
      for (int i = 0; i < steps; ++i) {
        heap.fall(Vec3f::Zero());
        plate.set_motion(motion(i), motion(i + 1), dt);
        contact.resolve(colliders, dt, heap.x, heap.v, heap.touching);
        const double top = motion(i + 1).translation()[1];
        for (const Vec3f& p : heap.x)
          ASSERT_GT(static_cast<double>(p[1]), top) << speed << ", step " << i;
      }
    }
}

TEST(SurfaceContact, NothingPassesThroughThinSoftThings) {
  for (const float speed : {2.0f, 10.0f, 40.0f}) {
    Heap heap;
    heap.add(sphere_surface(0.1, 0.02), {0, 0.25f, 0}, {0, -speed, 0}, 1, {.firmness = 1});
    heap.add(welded(box_surface({0.6, 0.01, 0.6}, 0.03)), {0, 0, 0}, Vec3f::Zero(), 1,
             {.firmness = 1});
    SurfaceContact contact = heap.contact();
    for (int i = 0; i < static_cast<int>(0.4f / speed / static_cast<float>(dt)) + 4; ++i) {
      heap.fall(Vec3f::Zero());
      contact.resolve({}, dt, heap.x, heap.v, heap.touching);
    }
    double ball = 0, sheet = 0;
    for (size_t i = 0; i < heap.starts[1]; ++i) ball += static_cast<double>(heap.x[i][1]);
    for (size_t i = heap.starts[1]; i < heap.starts[2]; ++i)
      sheet += static_cast<double>(heap.x[i][1]);
    ball /= static_cast<double>(heap.starts[1]);
    sheet /= static_cast<double>(heap.starts[2] - heap.starts[1]);
    EXPECT_GT(ball, sheet + 0.08) << speed;
  }
}

TEST(ClosestTriangle, FirstCrossingIsTheFirstThatIsEnteredByItsFront) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> number(-1, 1);
  const auto point = [&] { return Vec3f(number(random), number(random), number(random)); };
  int crossed = 0;
  for (int round = 0; round < 2000; ++round) {
    const size_t count = 1 + random() % 32;
    std::vector<float> rows(9 * 32, 0);
    const Vec3f from = 2 * point(), to = 2 * point();
    double first = 1e30;
    for (size_t i = 0; i < count; ++i) {
      const Vec3f a = point(), b = point(), c = point();
      for (size_t k = 0; k < 3; ++k) {
        const auto e = static_cast<Eigen::Index>(k);
        rows[k * 32 + i] = a[e];
        rows[(3 + k) * 32 + i] = b[e] - a[e];
        rows[(6 + k) * 32 + i] = c[e] - a[e];
      }
      // Where the way meets the plane, and whether that is on the inner side of all three edges.
      const Vec3d n = (b - a).cross(c - a).cast<double>(), way = (to - from).cast<double>();
      const double t = n.dot((a - from).cast<double>()) / n.dot(way);
      const Vec3d met = from.cast<double>() + t * way;
      const auto inner = [&](const Vec3f& p, const Vec3f& q) {
        return n.dot((q - p).cast<double>().cross(met - p.cast<double>())) > 0;
      };
      if (n.dot(way) < 0 && t > 0 && t < 1 && inner(a, b) && inner(b, c) && inner(c, a))
        first = std::min(first, t);
    }
    const ClosestTriangle found = first_crossing({rows.data(), 32}, count, from.data(), to.data());
    if (first < 1) {
      ++crossed;
      EXPECT_NEAR(static_cast<double>(found.distance2), first, 1e-4);
    }
  }
  EXPECT_GT(crossed, 300);
}

// A ball pressed flat has its top right behind its bottom: that is no contact.
TEST(SurfaceContact, FlatBodiesDoNotMeetThemselves) {
  Heap heap;
  heap.add(sphere_surface(0.1, 0.01), {0, 0, 0});
  SurfaceContact contact = heap.contact();
  for (Vec3f& p : heap.x) p[1] *= 0.04f;
  EXPECT_EQ(contact.resolve({}, dt, heap.x, heap.v, heap.touching).contacts, 0u);
}

// The ends of a bent rod come together and stop each other.
TEST(SurfaceContact, SurfacesMeetThemselves) {
  Heap heap;
  const TriangleMesh rod = welded(tube_surface({0.2, 0.05, 0, 5.2}, 0.02));
  heap.add(rod, {0, 0, 0});
  SurfaceContact contact = heap.contact();
  const auto bend = [&](double by) {
    std::vector<Vec3f> bent;
    for (const Vec3f& p : heap.rest) {
      double angle = std::atan2(p[1], p[0]);
      if (angle < -0.01) angle += 2 * 3.14159265358979;
      angle *= by;
      const double radius = static_cast<double>(std::hypot(p[0], p[1]));
      bent.emplace_back(radius * std::cos(angle), radius * std::sin(angle), p[2]);
    }
    return bent;
  };
  const std::vector<Vec3f> before = bend(1.19), now = bend(1.215);
  heap.x = now;
  for (size_t i = 0; i < now.size(); ++i) heap.v[i] = (now[i] - before[i]) / static_cast<float>(dt);
  const SurfaceContactReport report = contact.resolve({}, dt, heap.x, heap.v, heap.touching);
  EXPECT_GT(report.contacts, 10u);
  heap.touches[0].self = false;
  SurfaceContact blind = heap.contact();
  heap.x = now;
  EXPECT_EQ(blind.resolve({}, dt, heap.x, heap.v, heap.touching).contacts, 0u);
}

std::vector<Vec3f> drop_at_random(int threads, unsigned seed) {
  set_thread_count(threads);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> number(-1, 1);
  Heap heap;
  for (int i = 0; i < 8; ++i) {
    const Vec3f at(0.1f * number(random), 0.3f + 0.15f * static_cast<float>(i),
                   0.1f * number(random));
    const Vec3f velocity(number(random), 10 * number(random), number(random));
    heap.add(i % 2 ? box(0.2, 0.05) : sphere_surface(0.1, 0.04), at, velocity);
  }
  const Collider floor(PlaneShape{}, {.friction = 0.3}), ball(SphereShape{{0, 0, 0}, 0.1});
  const Collider* colliders[] = {&floor, &ball};
  SurfaceContact contact = heap.contact();
  for (int i = 0; i < 120; ++i) {
    heap.fall();
    // Now and then somebody is thrown far into the others, or folded up.
    if (i % 40 == 20)
      for (size_t k = heap.starts[2]; k < heap.starts[3]; ++k) heap.x[k] *= number(random);
    contact.resolve(colliders, dt, heap.x, heap.v, heap.touching);
    for (const Vec3f& p : heap.x) EXPECT_GT(p[1], -1e-5f);
  }
  set_thread_count(0);
  return heap.x;
}

TEST(SurfaceContact, RandomDropsAreFiniteAndTheSameForAnyThreads) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const std::vector<Vec3f> one = drop_at_random(1, seed);
    for (const Vec3f& p : one) ASSERT_TRUE(p.allFinite());
    for (const int threads : {2, 8}) {
      const std::vector<Vec3f> other = drop_at_random(threads, seed);
      EXPECT_EQ(std::memcmp(one.data(), other.data(), one.size() * sizeof(Vec3f)), 0) << threads;
    }
  }
}

TEST(SurfaceContact, SurvivesNumbersThatAreNone) {
  Heap heap;
  heap.add(box(0.2, 0.05), {0, 0.1f, 0});
  heap.add(box(0.2, 0.05), {0, 0.25f, 0});
  const Collider floor(PlaneShape{});
  const Collider* colliders[] = {&floor};
  SurfaceContact contact = heap.contact();
  heap.x[3] = Vec3f::Constant(NAN);
  heap.v[5] = Vec3f::Constant(INFINITY);
  heap.x[9] = Vec3f::Constant(1e30f);
  contact.resolve(colliders, dt, heap.x, heap.v, heap.touching);
  SUCCEED();
}

TEST(SurfaceContact, RefusesNegativeFriction) {
  Heap heap;
  heap.add(box(0.2, 0.05), {0, 0, 0}, Vec3f::Zero(), 1, {.friction = -1});
  EXPECT_THROW(heap.contact(), Error);
}

}  // namespace
}  // namespace supple::test
