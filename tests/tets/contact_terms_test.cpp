// What contact adds to the equations of tetrahedra: derivatives, bounds, and held points.
#include "supple/tets/contact_terms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "supple/tets/tet_system.h"
#include "support/tet_boxes.h"

namespace supple {
namespace {

struct Box {
  explicit Box(unsigned seed) : random(seed) {
    model.mesh = box_of_tets(2, 2, 2, 0.1, 0.1);
    model.matter.law = Law::neo_hookean;
    model.masses.assign(model.mesh.positions.size(), 1);
    for (const Vec4i& tet : model.mesh.tets) {
      model.matter.volumes.push_back(six_volumes(model.mesh, tet) / 6);
      model.matter.materials.push_back(lame_moduli(1e4, 0.3));
    }
    for (const int32_t node : {0, 1, 5})
      model.held.push_back({{node, node, node, node}, {1, 0, 0, 0}});
  }

  // Points of random elements against planes and against each other, about half of them touching.
  ContactTerms terms(const TetVector& x, double cap) {
    ContactTerms result;
    result.cap = cap;
    for (int i = 0; i < 30; ++i) {
      ContactTerm term;
      const size_t parts = i % 2 == 0 ? 1 : 4;
      for (size_t k = 0; k < parts; ++k)
        for (int c = 0; c < 4; ++c)
          term.sum.add(model.mesh.tets[random() % model.mesh.tets.size()][c],
                       k == 0 ? 0.25 : -0.25 / 3);
      term.normal = Vec3d(number(random), number(random), number(random)).normalized();
      term.offset = term.normal.dot(term.sum.of(x)) + 0.02 * number(random);
      term.stiffness = 1e4 * (2 + number(random));
      if (i % 3 == 0) term.along = 3e3 * (2 + number(random));
      term.anchor = 0.1 * Vec3d(number(random), number(random), number(random));
      result.terms.push_back(term);
    }
    return result;
  }

  TetVector shaken(const TetVector& x, double by) {
    TetVector y = x;
    for (Eigen::Index i = 0; i < y.size(); ++i) y[i] += by * number(random);
    return y;
  }

  std::mt19937 random;
  std::uniform_real_distribution<double> number{-1, 1};
  TetSystemModel model;
};

TEST(ContactTerms, ForcesAreTheSlopeOfTheEnergy) {
  for (const double cap : {0.005, 1.0}) {
    Box box(3);
    TetSystem system(box.model, "test");
    const TetVector x = box.shaken(system.rest(), 0.01);
    ContactTerms terms = box.terms(x, cap);
    const TetVector way = box.shaken(system.zero(), 1);
    TetVector force = system.zero();
    const double energy = terms.add_forces(x, force);
    EXPECT_DOUBLE_EQ(energy, terms.energy(x));
    EXPECT_GT(energy, 0);
    constexpr double h = 1e-6;
    const double slope = (terms.energy(x + h * way) - terms.energy(x - h * way)) / (2 * h);
    EXPECT_NEAR(-dot(force, way), slope, 1e-6 * std::abs(slope));
  }
}

TEST(ContactTerms, StiffnessIsTheSlopeOfForces) {
  Box box(5);
  TetSystem system(box.model, "test");
  const TetVector x = box.shaken(system.rest(), 0.01);
  ContactTerms terms = box.terms(x, 1);
  const TetVector way = box.shaken(system.zero(), 1);
  constexpr double h = 1e-7;
  TetVector more = system.zero(), less = system.zero(), product = system.zero();
  terms.add_forces(x + h * way, more);
  terms.add_forces(x - h * way, less);
  terms.linearise(x);
  terms.add_product(way, product);
  const TetVector slope = (less - more) / (2 * h);
  EXPECT_LT((product - slope).norm(), 1e-6 * slope.norm());
  EXPECT_GT(dot(way, product), 0);
  // Blocks of the diagonal are those of the product.
  std::vector<Mat3d> blocks(system.nodes(), Mat3d::Zero());
  terms.add_diagonal(blocks);
  for (size_t n = 0; n < system.nodes(); n += 5)
    for (int c = 0; c < 3; ++c) {
      TetVector unit = system.zero(), column = system.zero();
      unit.node(n)[c] = 1;
      terms.add_product(unit, column);
      EXPECT_LT((column.node(n) - blocks[n].col(c)).norm(), 1e-9 * (1 + blocks[n].norm()));
    }
}

// The whole system with contact, held points included.
TEST(ContactTerms, ArePartOfTheSystem) {
  Box box(7);
  TetSystem system(box.model, "test");
  TetVector x = box.shaken(system.rest(), 0.005);
  system.project(x);
  ContactTerms terms = box.terms(x, 1);
  system.set_contact(&terms);
  TetVector way = box.shaken(system.zero(), 1);
  for (size_t n = 0; n < system.nodes(); ++n)
    if (system.holds().is_dependent(n)) way.node(n).setZero();
  constexpr double h = 1e-7;
  TetVector force = system.zero(), more = force, less = force, product = force;
  EXPECT_DOUBLE_EQ(system.force(x, force), system.energy(x));
  const double slope = (system.energy(x + h * way) - system.energy(x - h * way)) / (2 * h);
  EXPECT_NEAR(-dot(force, way), slope, 1e-5 * std::abs(slope));
  system.force(x + h * way, more);
  system.force(x - h * way, less);
  system.linearise(x, Differential::exact);
  system.product(way, product);
  EXPECT_LT((product - (less - more) / (2 * h)).norm(), 1e-5 * product.norm());
  // A solve inverts the product.
  TetVector dx = system.zero(), back = dx;
  system.linearise(x, Differential::projected);
  const TetLinearOptions options{{1e-9, 2000}, TetPreconditioner::diagonal};
  system.solve(force, dx, options);
  system.product(dx, back);
  for (size_t n = 0; n < system.nodes(); ++n)
    if (system.holds().is_dependent(n)) force.node(n).setZero();
  EXPECT_LT((back - force).norm(), 1e-6 * force.norm());
}

}  // namespace
}  // namespace supple
