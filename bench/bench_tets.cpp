// Skeletons with dynamics: one solve, with kinematics, of a starfish of five arms beside one by the
// whole mass matrix, and of chains whose time per joint must not grow. Forces of tetrahedra, wide
// and scalar, all diagonalised or only those that need it. Whole bodies against the clock.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <Eigen/Cholesky>

#include <chrono>
#include <random>

#include "actors/cast.h"
#include "actors/self_propelled.h"
#include "supple/articulation/hybrid_dynamics.h"
#include "supple/io/scene_file.h"
#include "supple/math/simd.h"
#include "supple/sim/session.h"
#include "supple/sim/tet_body.h"
#include "supple/tets/tet_elements.h"
#include "support/tet_boxes.h"

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

// A block of about so many elements, its nodes shaken by a part of a cube's side: a little, so that
// all elements are within the limits, or much, so that hardly any is.
struct Block {
  explicit Block(int elements) {
    const int side = std::max(1, static_cast<int>(std::lround(std::cbrt(elements / 6.0 / 1.6))));
    const int rest = std::max(1, static_cast<int>(std::lround(elements / 6.0 / side / side)));
    mesh = box_of_tets(side, side, rest, 0.1, 0);
    for (const Vec4i& tet : mesh.tets) {
      matter.volumes.push_back(six_volumes(mesh, tet) / 6);
      matter.materials.push_back(lame_moduli(1e4, 0.3));
    }
  }

  std::vector<Vec3d> shaken(double part) const {
    std::mt19937 random(1);
    std::normal_distribution<double> number(0, 0.1 * part);
    std::vector<Vec3d> x = mesh.positions;
    for (Vec3d& p : x) p += Vec3d(number(random), number(random), number(random));
    return x;
  }

  TetMesh mesh;
  TetMatter matter;
};

// Forces of all elements once per iteration.
template <class Scalar>
void forces(benchmark::State& timer, int elements, Diagonalise which, double shake,
            const std::string& target = "") {
  const Block block(elements);
  set_widest_target(target);
  TetElements<Scalar> tets(block.mesh, block.matter, "bench", which);
  const std::vector<Vec3d> x = block.shaken(shake);
  std::vector<Vec3d> out(x.size(), Vec3d::Zero());
  for (auto _ : timer) tets.add_forces(x, out);
  set_widest_target("");
  timer.counters["elements"] = static_cast<double>(tets.size());
  timer.counters["ns_per_element"] = benchmark::Counter(
      1e-9 * static_cast<double>(tets.size()),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void single_forces(benchmark::State& timer, int elements, Diagonalise which, double shake,
                   const std::string& target = "") {
  forces<float>(timer, elements, which, shake, target);
}
void double_forces(benchmark::State& timer, int elements, Diagonalise which, double shake) {
  forces<double>(timer, elements, which, shake);
}

const std::string scalar = simd_targets().back();
constexpr double little = 0.03, much = 0.3;

BENCHMARK_CAPTURE(single_forces, wide, 37500, Diagonalise::all, much)
    ->Name("force/wide/37k")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(single_forces, scalar, 37500, Diagonalise::all, much, scalar)
    ->Name("force/scalar/37k")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(single_forces, selective, 37500, Diagonalise::selective, little)
    ->Name("force/selective/37k")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(single_forces, selective_scalar, 37500, Diagonalise::selective, little, scalar)
    ->Name("force/selective_scalar/37k")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(single_forces, selective_deformed, 37500, Diagonalise::selective, much)
    ->Name("force/selective_deformed/37k")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(double_forces, twice, 37500, Diagonalise::all, much)
    ->Name("force/double/37k")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(single_forces, 2k, 2000, Diagonalise::all, much)
    ->Name("force/wide/2k")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(single_forces, 5k, 5000, Diagonalise::all, much)
    ->Name("force/wide/5k")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(single_forces, 10k, 10000, Diagonalise::all, much)
    ->Name("force/wide/10k")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(single_forces, 20k, 20000, Diagonalise::all, much)
    ->Name("force/wide/20k")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(single_forces, 40k, 40000, Diagonalise::all, much)
    ->Name("force/wide/40k")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// A scene from its first frame to its last, over and over: simulated seconds per second.
void realtime(benchmark::State& timer, const std::shared_ptr<const Character>& character,
              const actors::ActorScene& acted, double step) {
  const std::string text = fmt::format(R"({{"character": "x.glb", "body": {}}})", acted.body);
  Scene scene = parse_scene(as_bytes(text), "bench");
  scene.body.tets.step = step;
  const Clip* clip = character->clip(acted.clip);
  scene.frames.rate = 24;
  scene.frames.last = static_cast<int>(24 * acted.seconds);
  double simulated = 0, steps = 0, elements = 0;
  for (auto _ : timer) {
    Session session(character, scene, clip, "bench");
    FrameRecord record;
    session.advance(record);  // sets up, takes no time
    const auto begin = std::chrono::steady_clock::now();
    while (!session.done()) steps += session.advance(record).iterations;
    timer.SetIterationTime(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    simulated += (scene.frames.last - 1) / 24.0;
    elements = static_cast<double>(
        dynamic_cast<const TetBody&>(session.body()).simulated().flesh.element_count());
  }
  timer.counters["realtime_factor"] = benchmark::Counter(simulated, benchmark::Counter::kIsRate);
  timer.counters["elements"] = elements;
  timer.counters["step_ms"] = 1000 * simulated / steps;
}

void animal(benchmark::State& timer, size_t which) {
  const actors::CastMember& member = actors::self_propelled()[which];
  realtime(timer, std::make_shared<Character>(member.make(member.vertices)), member.scenes.front(),
           0);
}

void dance(benchmark::State& timer) {
  const actors::CastMember& pomelo = actors::cast().front();
  actors::ActorScene scene = pomelo.scenes.front();
  scene.seconds = 4;
  scene.body = R"({"type": "tets", "tets": {"elements": 8600}})";
  realtime(timer, std::make_shared<Character>(pomelo.make(34400)), scene, 5e-4);
}

// A starfish of so many elements falls freely, its joints passive [Kim 2011, table III and V]: what
// the parts of a step take, and one second. Waves of the size of its arms run through it.
void falling(benchmark::State& timer, int elements, Diagonalise which) {
  const actors::CastMember& member = actors::self_propelled()[2];
  const Character character = member.make(member.vertices);
  const std::string text =
      fmt::format(R"({{"character": "x.glb", "body": {}}})", member.scenes.front().body);
  Scene scene = parse_scene(as_bytes(text), "bench");
  scene.body.tets.elements = elements;
  const TetModel model(character, scene.body, FrameRange(), "bench");
  TetCharacter body(ArticulatedBody(model.skeleton), model.flesh, {}, TetPrecision::twice, "bench");
  body.flesh.set_diagonalise(which);
  const double h = body.stable_step(40, 0.7);
  for (size_t n = 0; n < body.flesh.positions.size(); ++n)
    body.flesh.velocities[n] += 0.3 * std::sin(40 * body.flesh.positions[n][0]) * Vec3d::UnitY();
  JointOrders orders;
  orders.prescribed.assign(body.skeleton().size(), 0);
  orders.torques.setZero(body.skeleton().velocity_numbers());
  orders.accelerations = orders.torques;
  double kinematics = 0, elastic = 0, others = 0, dynamics = 0, steps = 0;
  const auto timed = [](double& sum, const auto& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    sum += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  for (auto _ : timer) {
    double forces = 0;
    timed(kinematics, [&] { body.update(); });
    timed(elastic, [&] { body.flesh.find_elastic_forces(); });
    // The same forces again, with those of dampers and what bones feel.
    timed(forces, [&] { body.find_forces({}, h); });
    others += forces;
    timed(dynamics, [&] { body.advance(orders, {0, -9.81, 0}, h); });
    ++steps;
  }
  others -= elastic;
  timer.counters["elements"] = static_cast<double>(body.flesh.element_count());
  timer.counters["kinematics_us"] = 1e6 * kinematics / steps;
  timer.counters["elastic_us"] = 1e6 * elastic / steps;
  timer.counters["damping_and_bones_us"] = 1e6 * others / steps;
  timer.counters["dynamics_us"] = 1e6 * dynamics / steps;
  timer.counters["step_us"] = 1e6 * (kinematics + elastic + others + dynamics) / steps;
  timer.counters["length_of_step_ms"] = 1000 * h;
  timer.counters["seconds_per_second"] = (kinematics + elastic + others + dynamics) / steps / h;
}

BENCHMARK_CAPTURE(falling, coarse, 200, Diagonalise::selective)->Name("falling/selective/200");
BENCHMARK_CAPTURE(falling, moderate, 3428, Diagonalise::selective)->Name("falling/selective/3428");
BENCHMARK_CAPTURE(falling, fine, 9014, Diagonalise::selective)->Name("falling/selective/9014");
BENCHMARK_CAPTURE(falling, very_fine, 37573, Diagonalise::selective)
    ->Name("falling/selective/37573");
BENCHMARK_CAPTURE(falling, coarse_all, 200, Diagonalise::all)->Name("falling/all/200");
BENCHMARK_CAPTURE(falling, moderate_all, 3428, Diagonalise::all)->Name("falling/all/3428");
BENCHMARK_CAPTURE(falling, fine_all, 9014, Diagonalise::all)->Name("falling/all/9014");
BENCHMARK_CAPTURE(falling, very_fine_all, 37573, Diagonalise::all)->Name("falling/all/37573");

BENCHMARK_CAPTURE(animal, worm, 0)
    ->Name("realtime/worm")
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(animal, fish, 1)
    ->Name("realtime/fish")
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(animal, starfish, 2)
    ->Name("realtime/starfish")
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(dance)->Name("realtime/dance")->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace supple
