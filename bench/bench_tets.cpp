// Skeletons with dynamics: one solve, with kinematics, of a starfish of five arms beside one by the
// whole mass matrix, and of chains whose time per joint must not grow.
#include <benchmark/benchmark.h>
#include <Eigen/Cholesky>

#include "supple/articulation/hybrid_dynamics.h"

namespace supple {
namespace {

BoneDescription rod(int index, int parent, JointType joint, const Vec3d& at) {
  BoneDescription bone;
  bone.name = "bone" + std::to_string(index);
  bone.parent = parent;
  bone.joint = joint;
  bone.axis = index % 2 == 0 ? Vec3d::UnitY() : Vec3d::UnitZ();
  bone.axis2 = Vec3d::UnitX();
  bone.position = at;
  bone.mass = 0.3;
  bone.centre = {0.1, 0, 0};
  bone.inertia = Vec3d(2e-4, 1e-3, 1e-3).asDiagonal();
  return bone;
}

// A free root and five arms of three bones: a universal joint and two hinges each, 26 degrees of
// freedom.
ArticulatedBody starfish() {
  std::vector<BoneDescription> bones{rod(0, -1, JointType::free, Vec3d::Zero())};
  for (int arm = 0; arm < 5; ++arm)
    for (int k = 0; k < 3; ++k) {
      const auto index = static_cast<int>(bones.size());
      BoneDescription bone = rod(index, k == 0 ? 0 : index - 1,
                                 k == 0 ? JointType::universal : JointType::hinge, {0.2, 0, 0});
      if (k == 0) {
        bone.axis = Vec3d::UnitY();
        bone.axis2 = Vec3d::UnitZ();
        const Quatd turn = rotation_of({0, 2 * 3.14159265 * arm / 5, 0});
        bone.orientation = turn;
        bone.position = turn * bone.position;
      }
      bones.push_back(bone);
    }
  return ArticulatedBody(bones);
}

// A chain of hinges.
ArticulatedBody chain(int size) {
  std::vector<BoneDescription> bones;
  for (int i = 0; i < size; ++i) bones.push_back(rod(i, i - 1, JointType::hinge, {0.2, 0, 0}));
  return ArticulatedBody(bones);
}

// A body that moves, and commands for it: torques, or torques and accelerations in turn.
struct Case {
  explicit Case(const ArticulatedBody& body, bool mixed = false)
      : state(rest_state(body)),
        given(body.velocity_numbers()),
        prescribed(body.size(), 0),
        wrenches(body.size(), Wrench{{0.1, 0, 0.2}, {1, 2, 0}}) {
    for (Eigen::Index i = 0; i < given.size(); ++i)
      given[i] = std::sin(0.7 * static_cast<double>(i));
    for (const ArticulatedBone& bone : body.bones())
      if (bone.joint != JointType::free)
        for (int k = 0; k < bone.q_count; ++k) state.q[bone.q + k] = 0.3 * std::cos(bone.q + k);
    state.v = 0.5 * given;
    for (size_t i = 1; mixed && i < body.size(); ++i) prescribed[i] = i % 2;
  }

  JointCommands commands() const {
    return {prescribed, numbers(given), numbers(given), wrenches, {0, -9.81, 0}};
  }

  ArticulatedState state;
  Eigen::VectorXd given;
  std::vector<uint8_t> prescribed;
  std::vector<Wrench> wrenches;
};

void solve(benchmark::State& timer, const ArticulatedBody& body, bool mixed) {
  HybridDynamics dynamics(body);
  const Case moving(body, mixed);
  for (auto _ : timer) {
    benchmark::DoNotOptimize(dynamics.solve(moving.state, moving.commands()).accelerations.data());
    benchmark::ClobberMemory();
  }
  timer.counters["per_joint"] = benchmark::Counter(
      static_cast<double>(body.size()),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

// Forward dynamics by M = Σ Jᵀ I J, bias forces by inverse dynamics, and a Cholesky solve.
void dense(benchmark::State& timer) {
  const ArticulatedBody body = starfish();
  HybridDynamics dynamics(body);
  const Case moving(body);
  const std::vector<uint8_t> all(body.size(), 1);
  const int n = body.velocity_numbers();
  Eigen::Matrix<double, 6, Eigen::Dynamic> jacobian(6, n), carried(6, n);
  Eigen::MatrixXd mass(n, n);
  Eigen::VectorXd result(n);
  Eigen::LLT<Eigen::MatrixXd> factors(n);
  for (auto _ : timer) {
    JointCommands still = moving.commands();
    still.prescribed = all;
    still.accelerations = {};
    const Eigen::VectorXd& bias = dynamics.solve(moving.state, still).torques;
    mass.setZero();
    for (size_t i = 0; i < body.size(); ++i) {
      const BoneConstants& bone = body.constants()[i];
      const BoneMotion& motion = dynamics.motions()[i];
      point_jacobian(body, dynamics.motions(), i, motion.position, jacobian);
      const SpatialInertia inertia = SpatialInertia::rigid(bone.mass, motion.rotation * bone.centre,
                                                           rotated(bone.inertia, motion.rotation));
      for (int k = 0; k < n; ++k) {
        const Wrench w = inertia * Twist{jacobian.col(k).head<3>(), jacobian.col(k).tail<3>()};
        carried.col(k) << w.torque, w.force;
      }
      mass.noalias() += jacobian.transpose() * carried;
    }
    factors.compute(mass);
    result.noalias() = factors.solve(moving.given - bias);
    benchmark::DoNotOptimize(result.data());
  }
  const Eigen::VectorXd found =
      dynamics.solve(moving.state, moving.commands()).accelerations - result;
  timer.counters["difference"] = found.norm() / result.norm();
}

void starfish_torques(benchmark::State& timer) { solve(timer, starfish(), false); }
void starfish_mixed(benchmark::State& timer) { solve(timer, starfish(), true); }
void chain_torques(benchmark::State& timer) {
  solve(timer, chain(static_cast<int>(timer.range(0))), false);
}

BENCHMARK(starfish_torques)->Name("hybrid_dynamics/26dof")->Unit(benchmark::kMicrosecond);
BENCHMARK(starfish_mixed)
    ->Name("hybrid_dynamics/26dof/half_prescribed")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(dense)->Name("dense_dynamics/26dof")->Unit(benchmark::kMicrosecond);
BENCHMARK(chain_torques)
    ->Name("hybrid_dynamics/chain")
    ->RangeMultiplier(2)
    ->Range(8, 512)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace supple
