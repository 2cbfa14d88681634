// Parallel loops: every item once, and the same bits for any number of threads.
#include "supple/core/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <thread>

namespace supple {
namespace {

// Restores the number of threads at the end of a test.
struct ThreadsGuard {
  ~ThreadsGuard() { set_thread_count(0); }
};

// Numbers whose sum depends on the order: magnitudes from 1e-8 to 1e8.
std::vector<double> touchy_numbers(size_t count) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> unit(-1, 1), power(-8, 8);
  std::vector<double> values(count);
  for (double& v : values) v = unit(random) * std::pow(10.0, power(random));
  return values;
}

double block_sum(const std::vector<double>& values, size_t begin, size_t end) {
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += values[i];
  return sum;
}

TEST(Parallel, LoopVisitsEveryItemOnceInBlocksOfTheGivenSize) {
  const ThreadsGuard guard;
  for (const int threads : {1, 2, 3, 7}) {
    set_thread_count(threads);
    EXPECT_EQ(thread_count(), threads);
    for (const size_t count : {0, 1, 2, 63, 64, 65, 1000, 4096}) {
      for (const size_t block : {1, 7, 64, 5000}) {
        std::vector<std::atomic<int>> visits(count);
        std::atomic<size_t> calls{0};
        parallel_for(count, block, [&](size_t begin, size_t end) {
          EXPECT_EQ(begin % block, 0u);
          EXPECT_EQ(end, std::min(count, begin + block));
          for (size_t i = begin; i < end; ++i) ++visits[i];
          ++calls;
        });
        for (const auto& v : visits) ASSERT_EQ(v, 1);
        EXPECT_EQ(calls, (count + block - 1) / block);
      }
    }
  }
}

TEST(Parallel, ReductionHasTheBitsOfTheSerialBlockOrder) {
  const ThreadsGuard guard;
  const std::vector<double> values = touchy_numbers(100003);
  for (const size_t block : {1, 64, 1000, 200000}) {
    double expected = 0.5;
    for (size_t begin = 0; begin < values.size(); begin += block)
      expected += block_sum(values, begin, std::min(values.size(), begin + block));
    for (const int threads : {1, 2, 3, 7})
      for (int repeat = 0; repeat < 3; ++repeat) {
        set_thread_count(threads);
        const double sum = parallel_reduce(
            values.size(), block, 0.5,
            [&](size_t begin, size_t end) { return block_sum(values, begin, end); }, std::plus<>());
        ASSERT_EQ(std::bit_cast<uint64_t>(sum), std::bit_cast<uint64_t>(expected))
            << "block " << block << ", threads " << threads;
      }
  }
}

TEST(Parallel, ReductionJoinsInOrderWhenOrderMatters) {
  const auto digits = [](size_t begin, size_t end) {
    std::string text;
    for (size_t i = begin; i < end; ++i) text += std::to_string(i % 10);
    return text;
  };
  const std::string joined =
      parallel_reduce(2000, 3, std::string(), digits,
                      [](std::string a, const std::string& b) { return std::move(a) + b; });
  EXPECT_EQ(joined, digits(0, 2000));
  EXPECT_EQ(parallel_reduce(
                0, 8, 42, [](size_t, size_t) { return 1; }, std::plus<>()),
            42);
}

TEST(Parallel, ExceptionsReachTheCaller) {
  EXPECT_THROW(parallel_for(1000, 10,
                            [](size_t begin, size_t) {
                              if (begin == 500) throw std::runtime_error("stop");
                            }),
               std::runtime_error);
}

TEST(Parallel, ThreadCountFollowsTheLimit) {
  const ThreadsGuard guard;
  set_thread_count(0);
  const int all = thread_count();
  EXPECT_GE(all, 1);
  set_thread_count(1);
  EXPECT_EQ(thread_count(), 1);
  set_thread_count(-5);
  EXPECT_EQ(thread_count(), all);
}

#ifdef SUPPLE_THREAD_SANITIZER
// The sanitizer is of use only if it sees a race between the blocks of a loop.
TEST(ParallelDeathTest, RacesBetweenBlocksAreSeen) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto race = [] {
    set_thread_count(2);
    size_t sum = 0;
    std::atomic<int> started{0};
    parallel_for(2, 1, [&](size_t begin, size_t) {
      started.fetch_add(1, std::memory_order_relaxed);
      while (started.load(std::memory_order_relaxed) < 2) std::this_thread::yield();
      sum += begin;
    });
    std::exit(0);
  };
  EXPECT_EXIT(race(), testing::ExitedWithCode(66), "data race");
}
#endif

}  // namespace
}  // namespace supple
