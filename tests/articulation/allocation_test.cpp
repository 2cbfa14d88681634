// Moving bones, solving and integrating take no memory. Calls of malloc are counted by taking its
// name, where no sanitizer has done so before.
#include <gtest/gtest.h>

#include "articulation/random_bodies.h"
#include "supple/articulation/joint_torques.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {
thread_local int allocations = 0;
}

extern "C" void* __libc_malloc(size_t size);  // NOLINT
extern "C" void* malloc(size_t size) noexcept {
  ++allocations;
  return __libc_malloc(size);
}

namespace supple {
namespace {

TEST(Allocation, StepsTakeNoMemory) {
  RandomBodies random(3);
  const ArticulatedBody body(random.bones(40, 4));
  ArticulatedState state = random.state(body);
  const Eigen::VectorXd given = random.numbers_for(body, 1);
  Eigen::VectorXd torques = given, accelerations = given;
  const std::vector<uint8_t> prescribed = random.prescribed(body, 0.5);
  const std::vector<Wrench> wrenches = random.wrenches(body);
  const ArticulatedState target = random.state(body);
  HybridDynamics dynamics(body);

  const int uncounted = allocations;
  const auto some = std::make_unique<std::vector<double>>(3);
  if (allocations == uncounted) GTEST_SKIP() << "malloc is taken already";

  const int before = allocations;
  torques.setZero();
  add_passive_torques(body, state, torques);
  following_accelerations(body, state, target.q, 0.01, accelerations);
  const DynamicsResult& result = dynamics.solve(
      state, {prescribed, numbers(accelerations), numbers(torques), wrenches, {0, -9.81, 0}});
  integrate(body, state, result.accelerations, 0.01);
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace supple

#endif
