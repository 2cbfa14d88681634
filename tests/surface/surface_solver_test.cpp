#include "supple/surface/surface_solver.h"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include "supple/core/parallel.h"
#include "supple/math/polar.h"
#include "supple/math/simd.h"
#include "surface/meshes.h"

namespace supple {
namespace {

using test::ball;
using test::cube;
using test::disturb;
using test::model_of;
using test::rod;

// The particles up to `width` edges from every particle, by brute force.
std::vector<std::vector<size_t>> regions_of(const SurfaceModel& model, int width) {
  std::vector<std::vector<size_t>> rings(model.size());
  for (const Vec3i& t : model.triangles)
    for (int k = 0; k < 3; ++k) {
      rings[static_cast<size_t>(t[k])].push_back(static_cast<size_t>(t[(k + 1) % 3]));
      rings[static_cast<size_t>(t[k])].push_back(static_cast<size_t>(t[(k + 2) % 3]));
    }
  std::vector<std::vector<size_t>> regions(model.size());
  for (size_t i = 0; i < model.size(); ++i) {
    std::vector<size_t>& region = regions[i];
    region.push_back(i);
    for (int w = 0; w < width; ++w) {
      const size_t size = region.size();
      for (size_t k = 0; k < size; ++k)
        region.insert(region.end(), rings[region[k]].begin(), rings[region[k]].end());
      std::sort(region.begin(), region.end());
      region.erase(std::unique(region.begin(), region.end()), region.end());
    }
  }
  return regions;
}

// Goals by the formulas, in doubles [Diziol 2011, section 4].
std::vector<Vec3d> reference_goals(const SurfaceModel& model, std::span<const Vec3f> positions,
                                   int width) {
  const auto regions = regions_of(model, width);
  std::vector<Vec3d> x, x0;
  for (size_t i = 0; i < model.size(); ++i) {
    x.push_back(positions[i].cast<double>());
    x0.push_back(model.rest[i].cast<double>());
  }
  const auto normals = [&](const std::vector<Vec3d>& at) {
    std::vector<Vec3d> n(at.size(), Vec3d::Zero());
    for (const Vec3i& t : model.triangles) {
      const Vec3d& a = at[static_cast<size_t>(t[0])];
      const Vec3d area =
          (at[static_cast<size_t>(t[1])] - a).cross(at[static_cast<size_t>(t[2])] - a);
      for (int k = 0; k < 3; ++k) n[static_cast<size_t>(t[k])] += area;
    }
    for (Vec3d& v : n) v.normalize();
    return n;
  };
  const auto n = normals(x), n0 = normals(x0);
  std::vector<Vec3d> goals(x.size(), Vec3d::Zero());
  for (size_t i = 0; i < x.size(); ++i) {
    double mass = 0, length = 0;
    Vec3d t = Vec3d::Zero(), t0 = t;
    for (const size_t j : regions[i]) {
      const double m = static_cast<double>(model.masses[j]);
      mass += m;
      t += m * x[j];
      t0 += m * x0[j];
    }
    t /= mass;
    t0 /= mass;
    Mat3d a = Mat3d::Zero();
    for (const size_t j : regions[i]) {
      const double m = static_cast<double>(model.masses[j]);
      a += m * (x[j] - t) * (x0[j] - t0).transpose();
      length += m * (x0[j] - t0).norm() / mass;
    }
    a += mass / static_cast<double>(regions[i].size()) * (x[i] + length * n[i] - t) *
         (x0[i] + length * n0[i] - t0).transpose();
    const Mat3d turn = nearest_rotation(a);
    for (const size_t j : regions[i]) goals[j] += turn * (x0[j] - t0) + t;
  }
  for (size_t i = 0; i < x.size(); ++i) goals[i] /= static_cast<double>(regions[i].size());
  return goals;
}

double box_size(std::span<const Vec3f> positions) {
  return static_cast<double>(bounding_box(positions).sizes().maxCoeff());
}

TEST(SurfaceSolver, GoalsAreThoseOfTheFormulas) {
  for (const TriangleMesh& mesh : {cube(600), ball(900), rod(0.12)})
    for (const int width : {1, 3, 5}) {
      const SurfaceModel model = model_of(mesh, {.region_width = width, .stiffness = 1});
      SurfaceState state(model);
      disturb(std::span(state.positions).first(model.size()), 0.05f, 1);
      for (Vec3f& p : state.positions) p += Vec3f(7, -20, 3);
      const std::vector<Vec3d> expected = reference_goals(model, state.positions, width);
      for (const RegionSums sums : {RegionSums::fast, RegionSums::naive}) {
        SurfaceState copy = state;
        SurfaceSolver solver(model);
        solver.use(sums);
        solver.keep_goals(true);
        solver.predict(copy, 0.005, Vec3d::Zero());
        solver.match(copy, 0.005);
        double worst = 0;
        for (size_t i = 0; i < model.size(); ++i)
          worst = std::max(worst, (solver.goals()[i].cast<double>() - expected[i]).norm());
        EXPECT_LT(worst, 5e-6 * box_size(mesh.positions))
            << model.size() << " particles, " << width;
      }
    }
}

TEST(SurfaceSolver, FastAndNaiveStepsAgreeToTheBit) {
  const SurfaceModel model = model_of(cube(2000), {.region_width = 3, .damping = 0.3});
  SurfaceState fast(model);
  disturb(std::span(fast.positions).first(model.size()), 0.05f, 2);
  SurfaceState naive = fast;
  SurfaceSolver a(model), b(model);
  b.use(RegionSums::naive);
  for (int step = 0; step < 10; ++step) {
    a.step(fast, 0.005, {0, -9.81, 0});
    b.step(naive, 0.005, {0, -9.81, 0});
  }
  for (size_t i = 0; i < model.size(); ++i) ASSERT_EQ(fast.positions[i], naive.positions[i]) << i;
}

TEST(SurfaceSolver, ThreadsDoNotChangeABit) {
  const SurfaceModel model = model_of(cube(5000), {.region_width = 2, .damping = 0.3});
  std::vector<std::vector<Vec3f>> results;
  for (const int threads : {1, 2, 8}) {
    set_thread_count(threads);
    SurfaceState state(model);
    disturb(std::span(state.positions).first(model.size()), 0.05f, 3);
    SurfaceSolver solver(model);
    for (int step = 0; step < 10; ++step) solver.step(state, 0.005, {0, -9.81, 0});
    results.push_back(state.positions);
  }
  set_thread_count(0);
  EXPECT_TRUE(results[0] == results[1]);
  EXPECT_TRUE(results[0] == results[2]);
}

TEST(SurfaceSolver, RigidMotionIsLeftAlone) {
  const SurfaceModel model = model_of(ball(800), {.region_width = 3, .damping = 1});
  SurfaceState state(model);
  const Mat3d turn = Quatd(Eigen::AngleAxisd(2.0, Vec3d(1, 2, 3).normalized())).matrix();
  const Vec3d spin(0.2, -0.4, 0.3), velocity(1, 2, 3);
  for (size_t i = 0; i < model.size(); ++i) {
    const Vec3d arm = turn * model.rest[i].cast<double>();
    state.positions[i] = (arm + Vec3d(1, 0, 5)).cast<float>();
    state.velocities[i] = (velocity + spin.cross(arm)).cast<float>();
  }
  const SurfaceState before = state;
  SurfaceSolver solver(model);
  constexpr double dt = 1e-3;
  solver.step(state, dt, Vec3d::Zero());
  for (size_t i = 0; i < model.size(); ++i) {
    // A step along the tangent leaves the circle by (ω dt)² / 2.
    EXPECT_LT((state.velocities[i] - before.velocities[i]).norm(), 2e-3f);
    EXPECT_LT(
        (state.positions[i] - before.positions[i] - static_cast<float>(dt) * before.velocities[i])
            .norm(),
        2e-6f);
  }
}

// Linear and angular momentum about a point, and the inertia.
struct Momenta {
  Momenta(const SurfaceModel& model, std::span<const Vec3f> positions,
          const std::vector<Vec3d>& velocities) {
    for (size_t i = 0; i < model.size(); ++i) {
      mass += static_cast<double>(model.masses[i]);
      centre += static_cast<double>(model.masses[i]) * positions[i].cast<double>();
    }
    centre /= mass;
    for (size_t i = 0; i < model.size(); ++i) {
      const double m = static_cast<double>(model.masses[i]);
      const Vec3d r = positions[i].cast<double>() - centre;
      linear += m * velocities[i];
      angular += m * r.cross(velocities[i]);
      inertia += m * (r.squaredNorm() * Mat3d::Identity() - r * r.transpose());
    }
  }
  double mass = 0;
  Vec3d centre = Vec3d::Zero(), linear = centre, angular = centre;
  Mat3d inertia = Mat3d::Zero();
};

std::vector<Vec3d> doubles(std::span<const Vec3f> from) {
  std::vector<Vec3d> result;
  for (const Vec3f& v : from) result.push_back(v.cast<double>());
  return result;
}

// Velocities damped by the formulas, in doubles [Müller 2007, section 3.5], with the momenta of
// the whole kept.
std::vector<Vec3d> reference_damping(const SurfaceModel& model, const SurfaceState& state,
                                     int width, double damping) {
  const auto regions = regions_of(model, width);
  std::vector<Vec3d> mean(model.size(), Vec3d::Zero());
  for (size_t i = 0; i < model.size(); ++i) {
    const auto at = [&](size_t j) -> Vec3d { return state.positions[j].cast<double>(); };
    const auto speed = [&](size_t j) -> Vec3d { return state.velocities[j].cast<double>(); };
    double mass = 0;
    Vec3d t = Vec3d::Zero(), v = t, momentum = t;
    Mat3d inertia = Mat3d::Zero();
    for (const size_t j : regions[i]) {
      mass += static_cast<double>(model.masses[j]);
      t += static_cast<double>(model.masses[j]) * at(j);
      v += static_cast<double>(model.masses[j]) * speed(j);
    }
    t /= mass;
    v /= mass;
    for (const size_t j : regions[i]) {
      const Vec3d r = at(j) - t;
      const double m = static_cast<double>(model.masses[j]);
      momentum += m * r.cross(speed(j));
      inertia += m * (r.squaredNorm() * Mat3d::Identity() - r * r.transpose());
    }
    const Vec3d spin = inertia.inverse() * momentum;
    for (const size_t j : regions[i]) mean[j] += v + spin.cross(at(j) - t);
  }
  for (size_t i = 0; i < model.size(); ++i) {
    const Vec3d v = state.velocities[i].cast<double>();
    mean[i] = v + damping * (mean[i] / static_cast<double>(regions[i].size()) - v);
  }
  const Momenta before(model, state.positions, doubles(state.velocities)),
      after(model, state.positions, mean);
  const Vec3d spin = before.inertia.inverse() * (before.angular - after.angular);
  for (size_t i = 0; i < model.size(); ++i)
    mean[i] += (before.linear - after.linear) / before.mass +
               spin.cross(state.positions[i].cast<double>() - before.centre);
  return mean;
}

// Nothing outside acts: what moves, swings and changes its volume keeps its momenta.
TEST(SurfaceSolver, MomentaAreKept) {
  for (const TriangleMesh& mesh : {cube(800), rod(0.15)}) {
    const SurfaceModel model = model_of(mesh, {.region_width = 2});
    SurfaceState state(model);
    for (size_t i = 0; i < model.size(); ++i) {
      const Vec3f p = model.rest[i];
      state.velocities[i] = {3 * std::sin(2 * p[1]), 2 * std::sin(3 * p[2] + 1), 2 * p[0]};
    }
    const Momenta before(model, state.positions, doubles(state.velocities));
    SurfaceSolver solver(model);
    for (int step = 0; step < 200; ++step) solver.step(state, 0.005, Vec3d::Zero());
    const Momenta after(model, state.positions, doubles(state.velocities));
    EXPECT_LT((after.linear - before.linear).norm(), 1e-4 * before.linear.norm());
    // Position corrections of the volume are no velocities, and may turn it a little.
    EXPECT_LT((after.angular - before.angular).norm(), 0.03 * before.angular.norm());
  }
}

TEST(SurfaceSolver, DampingIsThatOfTheFormulas) {
  for (const int width : {1, 3}) {
    // Without stiffness, matching leaves velocities as they are.
    const SurfaceModel model =
        model_of(ball(900), {.region_width = width, .stiffness = 0, .damping = 0.7});
    SurfaceState state(model);
    disturb(std::span(state.positions).first(model.size()), 0.01f, 1);
    std::mt19937 random(4);
    std::uniform_real_distribution<float> any(-1, 1);
    for (size_t i = 0; i < model.size(); ++i) {
      state.positions[i] += Vec3f(1, 0, 5);
      state.velocities[i] = Vec3f(1, 2, 3) + 0.1f * Vec3f(any(random), any(random), any(random));
    }
    const std::vector<Vec3d> expected = reference_damping(model, state, width, 0.7);
    SurfaceSolver solver(model);
    solver.predict(state, 0, Vec3d::Zero());
    solver.match(state, 0);
    for (size_t i = 0; i < model.size(); ++i)
      ASSERT_LT((state.velocities[i].cast<double>() - expected[i]).norm(), 2e-5)
          << width << ": " << i;
  }
}

TEST(SurfaceSolver, ScalarAndWideAgree) {
  const SurfaceModel model = model_of(ball(1500), {.region_width = 2});
  std::vector<std::vector<Vec3f>> results;
  for (const std::string& target : simd_targets()) {
    set_widest_target(target);
    SurfaceState state(model);
    disturb(std::span(state.positions).first(model.size()), 0.03f, 3);
    SurfaceSolver solver(model);
    for (int step = 0; step < 3; ++step) solver.step(state, 0.005, {0, -9.81, 0});
    results.push_back(state.positions);
  }
  set_widest_target("");
  for (const auto& result : results)
    for (size_t i = 0; i < model.size(); ++i)
      ASSERT_LT((result[i] - results[0][i]).norm(), 2e-5f) << i;
}

}  // namespace
}  // namespace supple
