// Flesh of tetrahedra on bones [Kim 2011, sections 4 and 5]: nodes with lumped masses, some of them
// fixed to bones, elastic forces between them, and dampers to the bones. Moves by symplectic Euler.
// Who moves the bones, an animation or dynamics, is not its affair: it takes their motion and gives
// back what pulls at them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "supple/articulation/kinematics.h"
#include "supple/tets/tet_elements.h"

namespace supple {

/// Numbers that elements are computed with.
enum class TetPrecision { single, twice };

/// What flesh is made from; constant.
struct TetFleshModel {
  TetMesh mesh;  ///< at rest, in metres
  TetMatter matter;
  std::vector<double> masses;         ///< of the nodes, kg
  std::vector<int32_t> bone_of_node;  ///< the bone a node is fixed to, or -1
  std::vector<Vec3d> place_on_bone;   ///< of fixed nodes, in the bone's frame, m
  std::vector<int32_t> reference;     ///< the bone a free node's damper holds on to, or -1
  double damping = 0;                 ///< of these dampers over the node's mass, 1/s

  /// Mass of all nodes, kg.
  double mass() const;
};

/// Lumped masses: `shares` has for every corner of every element the integral of its weight over
/// the matter (m³) [Kim 2011, eq. 10]. Corners that matter hardly reaches would be too light for
/// the stiffness of their elements: every node gets at least `least` times what an even share of
/// its elements' matter would be, the others giving it in proportion, so that the total stays.
std::vector<double> lumped_masses(const TetMesh& mesh, std::span<const Eigen::Vector4d> shares,
                                  std::span<const double> densities, double least = 0.5);

/// Flesh on its way.
class TetFlesh {
 public:
  /// Flesh at rest. Throws an input error naming `file` for elements that are not possible, and
  /// free nodes without mass.
  TetFlesh(TetFleshModel model, TetPrecision precision, const std::string& file);

  /// What does not change.
  const TetFleshModel& model() const { return m_model; }

  /// Positions (m) and velocities (m/s) of the nodes: the state.
  std::vector<Vec3d> positions, velocities;

  /// Forces on the nodes, N; what others add is added before integrate().
  std::vector<Vec3d> forces;

  /// Puts fixed nodes where their bones are.
  void place_fixed(std::span<const BoneMotion> bones);

  /// Sets forces to the elastic ones.
  void find_elastic_forces();

  /// Adds the dampers' forces [Kim 2011, eq. 12] and their reactions to `wrenches` (about bones'
  /// origins). The damper pulls along the bone's own motion at the node, and its reaction acts
  /// there: as printed the two would make a torque from nothing.
  /// Nodes without such a bone are damped against the rigid motion of all of these together, which
  /// takes no momentum from them. `greatest` is the most a bone's dampers may have (1/s, per bone;
  /// empty for no limit).
  void add_damping(std::span<const BoneMotion> bones, std::span<const double> greatest,
                   std::span<Wrench> wrenches);

  /// Adds what pulls at fixed nodes to the wrenches on their bones.
  void pull_bones(std::span<const BoneMotion> bones, std::span<Wrench> wrenches) const;

  /// Moves free nodes by a step of h seconds under forces and gravity (m/s²).
  void integrate(double h, const Vec3d& gravity);

  /// Takes the weight off the flesh that it carries in the rest pose, as if the modelled shape were
  /// that under weight: what is left at a node is m (g - R g), with the rotation R of the bone
  /// nearest to it.
  void take_off_weight(std::span<const BoneMotion> bones, const Vec3d& gravity);

  /// What moves along with the flesh in its fastest vibration: bones that feel it. `displace` puts
  /// the fixed nodes of `nodes` where they are when the mode is `step` away from rest; `respond`
  /// makes the next mode from the change of forces over that step, and returns the squares of the
  /// one before and of the next.
  struct Companion {
    virtual ~Companion() = default;
    virtual double largest() const = 0;  ///< displacement of the mode anywhere, at most
    virtual void displace(double step, std::span<Vec3d> nodes) = 0;
    virtual Eigen::Vector2d respond(double step, std::span<const Vec3d> change) = 0;
    virtual void scale(double factor) = 0;
  };

  /// An estimate of the highest frequency of free nodes, and of a companion's, squared (1/s²), by
  /// `iterations` of the power method from where the last call left off: with forces at positions a
  /// little apart.
  double highest_frequency(int iterations, Companion* companion = nullptr);

  /// The mode of that frequency, as far as it is known: part of the state, as steps depend on it.
  std::vector<Vec3d>& mode() { return m_mode; }
  const std::vector<Vec3d>& mode() const { return m_mode; }

  /// Elastic energy, J.
  double elastic_energy() const;

  /// How many elements have matter in them.
  size_t element_count() const;

  /// Memory it uses.
  size_t bytes() const;

  /// Chooses whose deformation is diagonalised.
  void set_diagonalise(Diagonalise which);

 private:
  void damp_free_flesh();
  void elastic_forces_at(std::span<const Vec3d> x, std::span<Vec3d> out);

  TetFleshModel m_model;
  std::variant<TetElements<float>, TetElements<double>> m_elements;
  std::vector<int32_t> m_fixed;     // nodes
  std::vector<int32_t> m_boneless;  // free nodes without a bone to hold on to
  std::vector<double> m_inverse;    // 1/mass of free nodes, 0 of fixed ones
  std::vector<Vec3d> m_mode;        // of the highest frequency
  std::vector<Vec3d> m_near, m_near_forces;
  double m_size = 0;  // of elements, m
};

}  // namespace supple
