// Forces of tetrahedra against a plain implementation, finite differences and conservation, in both
// precisions, on every instruction set and any number of threads.
#include "supple/tets/tet_elements.h"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include <random>

#include "supple/core/error.h"
#include "supple/core/parallel.h"
#include "supple/material/law_functions.h"
#include "supple/math/simd.h"
#include "support/tet_boxes.h"

namespace supple {
namespace {

TetMatter matter_of(const TetMesh& mesh, Law law) {
  TetMatter matter;
  matter.law = law;
  std::mt19937 random(2);
  std::uniform_real_distribution<double> number(0.1, 1);
  for (const Vec4i& tet : mesh.tets) {
    matter.volumes.push_back(number(random) * six_volumes(mesh, tet) / 6);
    matter.materials.push_back(lame_moduli(1e4 * number(random), 0.4 * number(random)));
  }
  return matter;
}

std::vector<Vec3d> shaken(const TetMesh& mesh, double amount, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> number(0, amount);
  std::vector<Vec3d> x = mesh.positions;
  for (Vec3d& p : x) p += Vec3d(number(random), number(random), number(random));
  return x;
}

std::vector<Vec3d> plain_forces(const TetMesh& mesh, const TetMatter& matter,
                                const std::vector<Vec3d>& x) {
  std::vector<Vec3d> forces(x.size(), Vec3d::Zero());
  for (size_t e = 0; e < mesh.tets.size(); ++e) {
    Mat3d rest, now;
    const auto node = [&](int c) { return static_cast<size_t>(mesh.tets[e][c]); };
    for (int c = 0; c < 3; ++c) {
      rest.col(c) = mesh.positions[node(c + 1)] - mesh.positions[node(0)];
      now.col(c) = x[node(c + 1)] - x[node(0)];
    }
    const Mat3d f = now * rest.inverse();
    const Mat3d p = stress(matter.law, f, elastic(matter.materials[e], matter.limits));
    const Mat3d h = -matter.volumes[e] * p * rest.inverse().transpose();
    for (int c = 0; c < 3; ++c) {
      forces[node(c + 1)] += h.col(c);
      forces[node(0)] -= h.col(c);
    }
  }
  return forces;
}

double largest(const std::vector<Vec3d>& v) {
  double most = 0;
  for (const Vec3d& p : v) most = std::max(most, p.norm());
  return most;
}

double difference(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, (a[i] - b[i]).norm());
  return most;
}

template <class Scalar>
std::vector<Vec3d> forces_of(TetElements<Scalar>& elements, const std::vector<Vec3d>& x) {
  std::vector<Vec3d> forces(x.size(), Vec3d::Zero());
  elements.add_forces(x, forces);
  return forces;
}

class EveryLaw : public ::testing::TestWithParam<Law> {
 protected:
  ~EveryLaw() override { set_widest_target(""); }
};

TEST_P(EveryLaw, AgreesWithAPlainImplementation) {
  const TetMesh mesh = box_of_tets(4, 3, 3, 0.1, 0.2);
  const TetMatter matter = matter_of(mesh, GetParam());
  for (const double amount : {0.0, 0.005, 0.03, 0.2}) {
    const std::vector<Vec3d> x = shaken(mesh, amount, 3);
    const std::vector<Vec3d> expected = plain_forces(mesh, matter, x);
    // Single precision has seven digits of the forces that cancel at rest, E a² of 100 N.
    const double scale = largest(expected) + 10;
    for (const std::string& target : simd_targets()) {
      set_widest_target(target);
      for (const Diagonalise which : {Diagonalise::all, Diagonalise::selective}) {
        TetElements<double> precise(mesh, matter, "test", which);
        EXPECT_LT(difference(forces_of(precise, x), expected), 1e-11 * scale) << target;
        TetElements<float> quick(mesh, matter, "test", which);
        EXPECT_LT(difference(forces_of(quick, x), expected), 2e-5 * scale) << target;
      }
    }
  }
}

TEST_P(EveryLaw, ForcesAreTheSlopeOfTheEnergy) {
  const TetMesh mesh = box_of_tets(2, 2, 1, 0.1, 0.2);
  const TetMatter matter = matter_of(mesh, GetParam());
  TetElements<double> elements(mesh, matter, "test");
  std::vector<Vec3d> x = shaken(mesh, 0.01, 4);
  const std::vector<Vec3d> forces = forces_of(elements, x);
  for (size_t n = 0; n < x.size(); ++n)
    for (int c = 0; c < 3; ++c) {
      const double step = 1e-6, at = x[n][c];
      x[n][c] = at + step;
      const double up = elements.energy(x);
      x[n][c] = at - step;
      const double down = elements.energy(x);
      x[n][c] = at;
      EXPECT_NEAR(-(up - down) / (2 * step), forces[n][c], 1e-6 * (1 + largest(forces)));
    }
}

// Momentum: forces add up to nothing, and so do their moments, but for linear elasticity's.
TEST_P(EveryLaw, HasNoNetForceOrMoment) {
  const TetMesh mesh = box_of_tets(5, 4, 3, 0.1, 0.2);
  TetElements<double> elements(mesh, matter_of(mesh, GetParam()), "test");
  for (const double amount : {0.01, 0.1, 1.0}) {
    const std::vector<Vec3d> x = shaken(mesh, amount, 5);
    const std::vector<Vec3d> forces = forces_of(elements, x);
    Vec3d force = Vec3d::Zero(), moment = Vec3d::Zero();
    double size = 0, arm = 0;
    for (size_t n = 0; n < x.size(); ++n) {
      force += forces[n];
      moment += x[n].cross(forces[n]);
      size += forces[n].norm();
      arm += x[n].cross(forces[n]).norm();
    }
    EXPECT_LT(force.norm(), 1e-12 * size);
    if (GetParam() != Law::linear) {
      EXPECT_LT(moment.norm(), 1e-12 * arm);
    }
  }
}

TEST_P(EveryLaw, RigidMotionsCostNothing) {
  const TetMesh mesh = box_of_tets(3, 2, 2, 0.1, 0.2);
  TetElements<double> elements(mesh, matter_of(mesh, GetParam()), "test");
  std::vector<Vec3d> x = mesh.positions;
  // Linear elasticity takes turns for strain: it is only shifted.
  const double angle = GetParam() == Law::linear ? 0 : 2.1;
  const Mat3d turn = Eigen::AngleAxisd(angle, Vec3d(1, 2, -1).normalized()).toRotationMatrix();
  for (Vec3d& p : x) p = turn * p + Vec3d(3, -2, 5);
  EXPECT_NEAR(elements.energy(x), 0, 1e-12);
  EXPECT_LT(largest(forces_of(elements, x)), 1e-8);
}

INSTANTIATE_TEST_SUITE_P(Laws, EveryLaw,
                         ::testing::Values(Law::stvk, Law::invertible_stvk, Law::stvk_volume,
                                           Law::neo_hookean, Law::corotated, Law::linear),
                         [](const auto& info) {
                           std::string name(law_names[static_cast<size_t>(info.param)]);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(TetElements, SameBitsForAnyNumberOfThreads) {
  const TetMesh mesh = box_of_tets(12, 12, 12, 0.1, 0.2);
  TetElements<float> elements(mesh, matter_of(mesh, Law::invertible_stvk), "test");
  const std::vector<Vec3d> x = shaken(mesh, 0.03, 6);
  set_thread_count(1);
  const std::vector<Vec3d> expected = forces_of(elements, x);
  for (const int threads : {2, 8}) {
    set_thread_count(threads);
    EXPECT_EQ(forces_of(elements, x), expected);
  }
  set_thread_count(0);
}

// An element that is flat, a line, a point or inside out returns to rest when nothing holds it.
TEST(TetElements, InvertedElementsRecover) {
  const TetMesh mesh = box_of_tets(1, 1, 1, 1, 0.1);
  for (const Law law : {Law::invertible_stvk, Law::neo_hookean, Law::corotated}) {
    TetMatter matter = matter_of(mesh, law);
    matter.limits.lower = std::max(matter.limits.lower, least_lower_limit(0.4));
    TetElements<double> elements(mesh, matter, "test");
    for (unsigned seed = 0; seed < 20; ++seed) {
      std::vector<Vec3d> x = shaken(mesh, 0.02, seed);
      const double flat = seed % 4 == 0 ? -0.8 : seed % 4 == 1 ? 0.0 : seed % 4 == 2 ? -0.2 : 0.1;
      for (Vec3d& p : x) p[0] *= flat;
      // Down the slope of the energy, as a body without mass would go.
      double energy = elements.energy(x), step = 1e-6;
      for (int i = 0; i < 20000 && energy > 1e-4; ++i) {
        const std::vector<Vec3d> forces = forces_of(elements, x);
        std::vector<Vec3d> next = x;
        for (size_t n = 0; n < x.size(); ++n) next[n] += step * forces[n];
        const double then = elements.energy(next);
        if (then < energy) {
          x = next;
          energy = then;
          step *= 1.2;
        } else {
          step /= 2;
        }
      }
      EXPECT_LT(energy, 1e-2) << law_names[static_cast<size_t>(law)] << " seed " << seed;
    }
  }
}

TEST(TetElements, LeavesOutWhatIsEmpty) {
  const TetMesh mesh = box_of_tets(2, 1, 1, 1, 0);
  TetMatter matter = matter_of(mesh, Law::invertible_stvk);
  matter.volumes[3] = 0;
  matter.volumes[7] = 0;
  TetElements<double> elements(mesh, matter, "test");
  EXPECT_EQ(elements.size(), mesh.tets.size() - 2);
  const std::vector<Vec3d> x = shaken(mesh, 0.1, 7);
  EXPECT_LT(difference(forces_of(elements, x), plain_forces(mesh, matter, x)), 1e-9);
}

TEST(TetElements, RefusesWhatHasNoVolume) {
  TetMesh mesh = box_of_tets(1, 1, 1, 1, 0);
  const TetMatter matter = matter_of(mesh, Law::stvk);
  mesh.positions[0] = mesh.positions[7];
  try {
    TetElements<double> elements(mesh, matter, "box.tet");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("box.tet: element"), std::string::npos);
  }
}

}  // namespace
}  // namespace supple
