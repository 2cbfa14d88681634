// Stage times add up under their names, also when a stage fails.
#include "supple/core/timer.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace supple {
namespace {

constexpr auto nap = std::chrono::milliseconds(5);

TEST(Timer, StopwatchCountsAndRestarts) {
  Stopwatch watch;
  std::this_thread::sleep_for(nap);
  const double first = watch.seconds();
  EXPECT_GE(first, 0.005);
  EXPECT_GE(watch.seconds(), first);
  watch.restart();
  EXPECT_LT(watch.seconds(), first);
}

TEST(Timer, StagesAddUpInTheOrderTheyFirstRan) {
  StageTimes times;
  EXPECT_EQ(times.time("pose", [] { return 42; }), 42);
  times.time("step", [] { std::this_thread::sleep_for(nap); });
  times.add("pose", 10);
  times.time("step", [] { std::this_thread::sleep_for(nap); });
  ASSERT_EQ(times.stages().size(), 2u);
  EXPECT_EQ(times.stages()[0].first, "pose");
  EXPECT_EQ(times.stages()[1].first, "step");
  EXPECT_GE(times.stages()[0].second, 10);
  EXPECT_GE(times.stages()[1].second, 0.01);
}

TEST(Timer, ReferencesPassThrough) {
  StageTimes times;
  int value = 1;
  times.time("stage", [&]() -> int& { return value; }) = 5;
  EXPECT_EQ(value, 5);
}

TEST(Timer, FailedStagesAreCountedToo) {
  StageTimes times;
  EXPECT_THROW(times.time("step", [] { throw std::runtime_error("stop"); }), std::runtime_error);
  ASSERT_EQ(times.stages().size(), 1u);
  EXPECT_GE(times.stages()[0].second, 0);
}

}  // namespace
}  // namespace supple
