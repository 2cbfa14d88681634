// Threads that help with loops: every block once, whoever is there to help.
#include "supple/core/thread_team.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace supple {
namespace {

// A loop on the team with a body that is called with each block.
template <class Call>
void run(size_t blocks, size_t threads, const Call& call) {
  run_on_team(
      blocks, threads, [](const void* c, size_t b) { (*static_cast<const Call*>(c))(b); }, &call);
}

// How often each block of a loop is visited.
std::vector<int> visits(size_t blocks, size_t threads) {
  std::vector<std::atomic<int>> counts(blocks);
  run(blocks, threads, [&](size_t b) { ++counts[b]; });
  return {counts.begin(), counts.end()};
}

TEST(ThreadTeam, ManyShortLoopsVisitEveryBlockOnce) {
  std::mt19937 random(3);
  for (int loop = 0; loop < 20000; ++loop) {
    const size_t blocks = random() % 40, threads = 1 + random() % 5;
    ASSERT_EQ(visits(blocks, threads), std::vector<int>(blocks, 1)) << loop;
  }
  EXPECT_EQ(visits(100000, 3), std::vector<int>(100000, 1));
}

TEST(ThreadTeam, WakesUpAfterALongWait) {
  for (int loop = 0; loop < 5; ++loop) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    // Ends only if another thread comes.
    std::atomic<int> begun{0};
    run(2, 2, [&](size_t) {
      ++begun;
      while (begun < 2) std::this_thread::yield();
    });
    EXPECT_EQ(begun, 2);
  }
}

TEST(ThreadTeam, ShareOfABusyThreadIsDoneByOthers) {
  const size_t blocks = 20;  // few enough to be taken one at a time
  for (const size_t threads : {2, 3, 6})
    for (const size_t slow : {size_t{0}, blocks / 2, blocks - 1}) {
      // The slow block ends once all others have.
      std::atomic<size_t> done{0};
      run(blocks, threads, [&](size_t b) {
        while (b == slow && done < blocks - 1) std::this_thread::yield();
        ++done;
      });
      EXPECT_EQ(done, blocks);
    }
}

TEST(ThreadTeam, LoopsInLoopsAndOfOtherThreadsAreDoneToo) {
  std::vector<std::thread> callers;
  std::atomic<size_t> inner{0};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int loop = 0; loop < 200; ++loop)
        run(5, 2, [&](size_t) { run(7, 2, [&](size_t) { ++inner; }); });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(inner, 4u * 200 * 5 * 7);
}

TEST(ThreadTeam, NoMoreThreadsThanAskedForTakePart) {
  visits(100, 6);
  for (const size_t threads : {1, 2, 3}) {
    std::mutex guard;
    std::set<std::thread::id> seen;
    for (int loop = 0; loop < 200; ++loop)
      run(20, threads, [&](size_t) {
        const std::lock_guard lock(guard);
        seen.insert(std::this_thread::get_id());
      });
    // A loop has one thread or more of at most so many that may help.
    EXPECT_LE(seen.size(), threads);
  }
}

TEST(ThreadTeam, ExceptionEndsTheLoopAndNotTheNext) {
  for (int loop = 0; loop < 500; ++loop) {
    const auto thrower = static_cast<size_t>(loop % 50);
    EXPECT_THROW(run(50, 3,
                     [&](size_t b) {
                       if (b == thrower) throw std::runtime_error("stop");
                     }),
                 std::runtime_error);
    ASSERT_EQ(visits(50, 3), std::vector<int>(50, 1));
  }
  std::atomic<size_t> begun{0};
  EXPECT_THROW(run(1000000, 2,
                   [&](size_t) {
                     ++begun;
                     throw std::runtime_error("all");
                   }),
               std::runtime_error);
  EXPECT_LE(begun, 2u);
}

TEST(ThreadTeam, HelpersRoundAsTheCaller) {
  const auto third_of = [](double x) {
    volatile double numerator = x;
    return numerator / 3.0;
  };
  const auto thirds = [&] {
    std::vector<double> values(2);
    std::atomic<int> begun{0};
    // One block on each of two threads.
    run(2, 2, [&](size_t b) {
      ++begun;
      while (begun < 2) std::this_thread::yield();
      values[b] = third_of(1);
    });
    return values;
  };
  const double nearest = third_of(1);
  std::fesetround(FE_UPWARD);
  const double upward = third_of(1);
  const std::vector<double> rounded = thirds();
  std::fesetround(FE_TONEAREST);
  EXPECT_GT(upward, nearest);
  EXPECT_EQ(rounded, std::vector<double>(2, upward));
  EXPECT_EQ(thirds(), std::vector<double>(2, nearest));
}

#ifndef __SANITIZE_THREAD__
TEST(ThreadTeam, LoopsOfAForkedProcessEnd) {
  visits(100, 3);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    bool whole = true;
    for (int loop = 0; loop < 100; ++loop)
      whole = whole && visits(100, 3) == std::vector<int>(100, 1);
    _exit(whole ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
#endif

}  // namespace
}  // namespace supple
