// The equations of a body of tetrahedra for implicit steps and equilibria: energy, force,
// linearisation and solve, with material points held exactly or drawn by springs [Wang 2020, eq. 1
// and 2], Rayleigh damping, and any of the constitutive laws.
//
// Linear systems are solved by conjugate gradients, preconditioned with the Cholesky factor of the
// body at rest whose axes are turned with every node: the factor is made once, and serves however
// far limbs have turned. For the linear law it is the inverse, and one iteration is enough.
// docs/adjust.md compares it with a factor made anew in every iteration, and with blocks of the
// diagonal.
#pragma once

#include <memory>
#include <variant>

#include "supple/mesh/node_gradients.h"
#include "supple/solve/implicit.h"
#include "supple/solve/panel_factor.h"
#include "supple/tets/contact_terms.h"
#include "supple/tets/point_holds.h"
#include "supple/tets/tet_stiffness.h"

namespace supple {

/// What a body is made of, and what acts on it.
struct TetSystemModel {
  TetMesh mesh;  ///< at rest, in metres
  TetMatter matter;
  std::vector<double> masses;             ///< of the nodes, kg
  std::vector<double> stiffness_damping;  ///< of the elements: D = d K, seconds; empty for none
  std::vector<double> mass_damping;       ///< of the nodes: D = d M, 1/s; empty for none
  std::vector<TetTie> held;               ///< points that are held exactly
  double least_new = 1e-4;                ///< of PointHolds
  std::vector<TetTie> pulled;             ///< points that springs pull
  std::vector<double> pulls;              ///< stiffness of these springs, N/m
};

/// Preconditioners of the linear solves.
enum class TetPreconditioner {
  turned_factor,  ///< the factor of the body at rest, turned with the nodes
  fresh_factor,   ///< a factor of the matrix itself: a direct solve
  diagonal,       ///< blocks of the diagonal
};

/// A factor that is the inverse, or one that is about that.
using TetFactor = std::variant<PanelFactor<double>, PanelFactor<float>>;

/// How linear systems are solved.
struct TetLinearOptions {
  LinearLimits limits = {1e-3, 200};
  TetPreconditioner preconditioner = TetPreconditioner::turned_factor;
};

/// Tetrahedra in equilibrium or motion.
class TetSystem {
 public:
  using Positions = TetVector;
  using Step = TetVector;
  using LinearOptions = TetLinearOptions;
  using Model = TetSystemModel;

  /// Linear solves of dynamic steps, of equilibria, and where the law is linear.
  static LinearOptions stage_linear() { return {{1e-3, 500}, TetPreconditioner::diagonal}; }
  static LinearOptions static_linear() { return {{1e-2, 2000}, TetPreconditioner::turned_factor}; }
  static LinearOptions direct_linear() { return {{1e-12, 2000}, TetPreconditioner::turned_factor}; }

  /// How much better an equilibrium must get for its linearisation to serve on.
  static double reuse_below() { return 0.2; }

  /// Throws an input error naming `file` for elements or masses that are not possible.
  TetSystem(TetSystemModel model, const std::string& file);

  /// What does not change.
  const TetSystemModel& model() const { return m_model; }
  size_t nodes() const { return m_model.mesh.positions.size(); }
  std::span<const double> masses() const { return m_model.masses; }
  bool is_pulled() const { return !m_model.pulled.empty(); }
  bool is_linear() const { return m_model.matter.law == Law::linear; }

  /// Whether a node may move where held points do not.
  bool is_free(size_t node) const {
    PointHolds::Share self;
    return !m_holds.shares_of(node, self).empty();
  }

  /// Where held points are at rest, in metres.
  std::vector<Vec3d> held_at_rest() const;

  /// The side of a cube of six mean elements, in metres.
  double element_size() const;
  const PointHolds& holds() const { return m_holds; }
  const NodeGradients& gradients() const { return m_gradients; }

  /// Node positions at rest, in metres.
  Positions rest() const;

  /// Where held points are from now on, in metres.
  void set_places(std::span<const Vec3d> places) { m_places.assign(places.begin(), places.end()); }
  std::span<const Vec3d> places() const { return m_places; }

  /// Where springs pull from now on, in metres.
  void set_pull_places(std::span<const Vec3d> places);

  /// Forces on nodes that do not depend on positions, in newtons.
  void set_outer_forces(const Positions& forces) { m_outer = forces; }

  /// Contacts that act from now on, or null for none; they must outlive the system, and may change
  /// between its calls.
  void set_contact(ContactTerms* contact) { m_contact = contact; }

  /// Multiplies stiffness and, apart from it, damping. Where they are `passing`, from step to step,
  /// the preconditioner is one for about these.
  void set_factors(double stiffness, double damping, bool passing = false);
  double stiffness_factor() const { return m_stiffness_factor; }

  // As System and DynamicSystem have it.
  double energy(const Positions& x);
  double force(const Positions& x, Positions& force);
  void linearise(const Positions& x, Differential kind);
  LinearReport solve(const Positions& force, Step& dx, const LinearOptions& options);
  double slope(const Positions& force, const Step& dx) const { return dot(force, dx); }
  double norm(const Positions& force) const { return force.norm(); }
  double largest(const Step& dx) const { return dx.cwiseAbs().maxCoeff(); }
  void move(const Positions& x, double step, const Step& dx, Positions& to) const;
  void begin_step(const Positions& x);
  void set_stage(double rate, const Positions& inertia_goal, const Positions& damping_goal);
  void clear_stage() { m_rate = 0; }
  void project(Positions& x) const { m_holds.place(m_places, x); }
  void combine(double a, const Positions& x, double b, const Positions& y, Positions& out) const {
    out = a * x + b * y;
  }
  Positions zero() const {
    return Positions(Positions::Zero(static_cast<Eigen::Index>(3 * nodes())));
  }
  Step zero_step() const { return zero(); }

  /// y = K dx of what was linearised last, for free nodes; returns dx · y.
  double product(const TetVector& dx, TetVector& y) const;

  /// Accelerations (m/s²) that forces and masses give free nodes at x, without motion.
  void accelerations(const Positions& x, Positions& out);

  /// Stiffness (N/m) and mass (kg) of the free nodes at rest, three rows per node, in the order of
  /// the nodes.
  void matrices_at_rest(Eigen::SparseMatrix<double>& stiffness, Eigen::SparseMatrix<double>& mass);

  /// A vector of the free nodes' numbers, such as a mode, as one of all nodes.
  Positions expand(const Eigen::VectorXd& free) const;

  /// Memory it uses, in bytes.
  size_t bytes() const;

 private:
  struct RestFactor {
    double rate, stiffness, damping;
    std::unique_ptr<TetFactor> factor;
  };

  void add_up(bool at_rest);
  void find_turns();
  void invert_diagonal();
  Eigen::SparseMatrix<double> reduced(const BlockMatrix& matrix) const;
  RestFactor wanted_factor() const;
  std::unique_ptr<TetFactor> factor_of(const BlockMatrix& matrix, bool single) const;
  TetFactor* known_factor() const;
  TetFactor* rest_factor();
  double precondition(TetFactor* factor, bool turned);
  double add_springs(const Positions& x, Positions* force) const;
  double add_stage(const Positions& x, Positions* force) const;
  double add_contact(const Positions& x, Positions* force) const;

  TetSystemModel m_model;
  TetElements<double> m_elements;
  TetStiffness m_stiffness;
  PointHolds m_holds;
  NodeGradients m_gradients;
  std::vector<int32_t> m_free;  // number of every node among the free ones, or -1
  int32_t m_free_count = 0;
  std::vector<RestFactor> m_factors;
  BlockMatrix m_matrix, m_damping;  // linearised: all together; of damping alone
  bool m_passing = false;
  bool m_damped = false, m_matrix_is_elastic = false, m_damping_known = false;
  double m_stiffness_factor = 1, m_damping_factor = 1, m_matrix_rate = -1;

  std::vector<Vec3d> m_places, m_pull_places;
  TetVector m_outer, m_inertia_goal, m_damping_goal;
  ContactTerms* m_contact = nullptr;
  double m_rate = 0;

  // Of a solve.
  TetVector m_linearised;                  // where
  std::vector<Mat3d> m_turns, m_diagonal;  // found when they are asked for
  bool m_turns_known = false, m_diagonal_known = false;
  TetVector m_r, m_p, m_q, m_z;
  mutable TetVector m_extended, m_moved;
};

}  // namespace supple
