// A lattice over time: the equations of a LatticeSystem by running numbers of its nodes, with
// masses, Rayleigh damping, held nodes and springs, as integrators of solve/ and adjusted dynamics
// want them [Wang 2020, eq. 1 and 2].
//
// Damping is that of the stiffness at the beginning of a step, made semi-definite. The matrix of
// the linear solves has the present stiffness in its place, K (1 + rate d) instead of
// K + rate d K0, so that it is that of a lattice of other moduli, which multigrid knows how to
// solve; forces are exact, and Newton's method makes up for the difference.
#pragma once

#include "supple/lattice/lattice_system.h"
#include "supple/mesh/lattice_mesh.h"
#include "supple/mesh/node_gradients.h"
#include "supple/solve/body_vector.h"
#include "supple/solve/implicit.h"

namespace supple {

/// What a lattice is made of, and what acts on it.
struct LatticeDynamicsModel {
  SolidLattice solid;
  LatticeMesh mesh;                       ///< the numbers of its nodes and cells
  std::vector<CellMaterial> moduli;       ///< of the cells, Pa
  std::vector<double> masses;             ///< of the nodes, kg
  std::vector<double> stiffness_damping;  ///< of the cells: D = d K, seconds; empty for none
  std::vector<double> mass_damping;       ///< of the nodes: D = d M, 1/s; empty for none
  std::vector<int32_t> held;              ///< nodes that are held exactly
  std::vector<double> pulls;              ///< stiffness of springs at all nodes, N/m; or empty
  std::vector<PointSpring> springs;       ///< at material points
  std::vector<Vec3d> contact_points;      ///< that contacts may act on, in cells
  bool keep_volume = false;               ///< as LatticeSystem::keep_volume() has it
  bool one_point = false;                 ///< plain one-point quadrature
  bool eight_points = false;              ///< as LatticeSystem::use_eight_points() has it
  double against_inversion = 0;           ///< as LatticeSystem::resist_inversion() has it
};

/// A lattice in equilibrium or motion.
class LatticeDynamics {
 public:
  using Positions = BodyVector;
  using Step = BodyVector;
  using LinearOptions = supple::LinearOptions;
  using Model = LatticeDynamicsModel;

  /// Linear solves of dynamic steps and of equilibria.
  static LinearOptions stage_linear() { return {.cycle = steady_cycle(), .limits = {1e-3, 100}}; }
  static LinearOptions static_linear() { return {.cycle = steady_cycle(), .limits = {1e-3, 200}}; }
  static LinearOptions direct_linear() { return static_linear(); }
  /// V-cycles: what two coarse corrections leave differs more from solve to solve, and contacts of
  /// adjusted bodies with it.
  static Cycle steady_cycle() { return {.smoother = {.steps = 4}, .twice = 0}; }

  /// How much better an equilibrium must get for its linearisation to serve on.
  static double reuse_below() { return 0.05; }

  /// Throws an input error naming `file` for nodes without mass.
  LatticeDynamics(LatticeDynamicsModel model, const std::string& file);

  /// What does not change.
  const LatticeDynamicsModel& model() const { return m_model; }
  size_t nodes() const { return m_model.masses.size(); }
  std::span<const double> masses() const { return m_model.masses; }
  const NodeGradients& gradients() const { return m_gradients; }
  bool is_pulled() const { return !m_model.pulls.empty() || !m_model.springs.empty(); }
  bool is_linear() const { return false; }
  double element_size() const { return m_model.solid.spacing; }

  /// Node positions at rest, in metres.
  Positions rest() const;

  /// Where held nodes are at rest, in metres.
  std::vector<Vec3d> held_at_rest() const;

  /// Where held nodes are from now on, in metres.
  void set_places(std::span<const Vec3d> places) { m_places.assign(places.begin(), places.end()); }

  /// Where springs pull from now on, in metres: first those of all nodes, if they have any, then
  /// those at material points.
  void set_pull_places(std::span<const Vec3d> places);

  /// Springs of contacts, from now on. Contact point i is point first_contact() + i of the system.
  void set_contacts(std::span<const ActiveSpring> contacts);
  int32_t first_contact() const { return static_cast<int32_t>(m_model.springs.size()); }

  /// Forces on nodes that do not depend on positions, in newtons.
  void set_outer_forces(const Positions& forces) { m_outer = forces; }

  /// Multiplies stiffness (of cells, and of all springs but those of contacts) and, apart from it,
  /// damping.
  void set_factors(double stiffness, double damping, bool passing = false);

  /// Finds anew what of the matter depends on where it is: the pressure that keeps the volume.
  /// Returns how much that changed, relative to what an inversion would.
  double renew(const Positions& x);

  // As System and DynamicSystem have it.
  double energy(const Positions& x);
  double force(const Positions& x, Positions& force);
  void linearise(const Positions& x, Differential kind);
  LinearReport solve(const Positions& force, Step& dx, const LinearOptions& options);
  double slope(const Positions& force, const Step& dx) const { return dot(force, dx); }
  double norm(const Positions& force) const { return force.norm(); }
  double largest(const Step& dx) const { return dx.cwiseAbs().maxCoeff(); }
  void move(const Positions& x, double step, const Step& dx, Positions& to) const {
    to = x + step * dx;
  }
  void begin_step(const Positions& x);
  void set_stage(double rate, const Positions& inertia_goal, const Positions& damping_goal);
  void clear_stage() { m_rate = 0; }
  void project(Positions& x) const;
  void combine(double a, const Positions& x, double b, const Positions& y, Positions& out) const {
    out = a * x + b * y;
  }
  Positions zero() const {
    return Positions(Positions::Zero(static_cast<Eigen::Index>(3 * nodes())));
  }
  Step zero_step() const { return zero(); }

  /// y = A dx of what was linearised last, 0 at held nodes.
  void product(const BodyVector& dx, BodyVector& y);

  /// Whether a node may move.
  bool is_free(size_t node) const { return m_free[node] != 0; }

  /// A vector such as a mode, as one of all nodes (which it is already).
  Positions expand(const Eigen::VectorXd& all) const { return Positions(all); }

  /// Memory it uses, in bytes.
  size_t bytes() const;

 private:
  using Materials = std::vector<AlignedArray<float>>;  // of all levels

  void scatter(const BodyVector& from, BlockVector<double>& to) const;
  void set_materials(const std::function<double(size_t cell)>& factor);
  void swap_materials(Materials& with);
  void update_matrix();
  void place_springs();
  double add_nodal(const Positions& x, Positions* force) const;
  double add_damping(const Positions& x, Positions* force);
  bool is_damped() const { return !m_model.stiffness_damping.empty(); }

  LatticeDynamicsModel m_model;
  std::unique_ptr<LatticeSystem> m_system;
  std::unique_ptr<Hierarchy> m_damping;  // one level; null until a step has begun
  NodeGradients m_gradients;
  std::vector<uint8_t> m_free;
  Materials m_matrix_materials;  // of the linear solves, where they are not the elastic ones
  double m_stiffness_factor = 1, m_damping_factor = 1;
  double m_rate = 0, m_matrix_rate = -1;

  std::vector<Vec3d> m_places, m_pull_places;
  std::vector<ActiveSpring> m_springs, m_contacts;
  BodyVector m_outer, m_inertia_goal, m_damping_goal;

  // Of a solve.
  BlockVector<double> m_x, m_f;
  BlockVector<float> m_dx;
};

}  // namespace supple
