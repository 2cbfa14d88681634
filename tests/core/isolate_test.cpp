#include "supple/core/isolate.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <thread>

#include "supple/core/error.h"
#include "supple/core/parallel.h"

namespace supple {
namespace {

Bytes text_bytes(std::string_view text) {
  const ByteView view = as_bytes(text);
  return Bytes(view.begin(), view.end());
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// No child may be left behind, neither running nor as a zombie.
void expect_no_children() {
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Isolate, ReturnsTheBytesOfTheWork) {
  int touched = 0;
  const Bytes bytes = run_isolated(
      [&] {
        touched = 1;
        return text_bytes("hello");
      },
      {}, "a.fbx");
  EXPECT_EQ(as_text(bytes), "hello");
  EXPECT_EQ(touched, 0) << "the work ran in this process";
  EXPECT_TRUE(run_isolated([] { return Bytes{}; }, {}, "a.fbx").empty());
  expect_no_children();
}

TEST(Isolate, CarriesErrorsOver) {
  for (const ErrorKind kind : {ErrorKind::simulation, ErrorKind::usage, ErrorKind::input,
                               ErrorKind::output, ErrorKind::interrupted}) {
    try {
      run_isolated([=]() -> Bytes { throw Error(kind, "a.fbx: nodes: 3 of 2"); }, {}, "other");
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind);
      EXPECT_STREQ(error.what(), "a.fbx: nodes: 3 of 2");
    }
  }
}

TEST(Isolate, OtherExceptionsBecomeInputErrors) {
  for (const auto& work : {std::function<Bytes()>([]() -> Bytes { throw std::out_of_range("at"); }),
                           std::function<Bytes()>([]() -> Bytes { throw 7; })}) {
    EXPECT_EQ(try_isolated(work, {}).ending, IsolationEnding::failed);
    try {
      run_isolated(work, {}, "a.fbx");
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      EXPECT_EQ(std::string(error.what()).rfind("a.fbx: ", 0), 0u) << error.what();
    }
  }
}

TEST(Isolate, SurvivesCrashes) {
  const std::function<Bytes()> crashes[] = {
      [] {
        volatile uintptr_t address = 16;
        *reinterpret_cast<volatile int*>(address) = 1;
        return Bytes{};
      },
      []() -> Bytes { std::abort(); },
      [] {
        std::raise(SIGFPE);
        return Bytes{};
      },
      []() -> Bytes { ::_exit(0); },
      [] {
        std::raise(SIGKILL);
        return Bytes{};
      },
  };
  for (const auto& crash : crashes) {
    const auto start = std::chrono::steady_clock::now();
    const IsolationResult result = try_isolated(crash, {});
    EXPECT_EQ(result.ending, IsolationEnding::crashed);
    EXPECT_FALSE(result.problem.empty());
    EXPECT_LT(seconds_since(start), 5);
    expect_no_children();
  }
  EXPECT_NE(try_isolated(crashes[1], {}).problem.find("ABRT"), std::string::npos);
}

// The handlers a program installs must not run in the child.
TEST(Isolate, UsesDefaultSignalHandlersInTheChild) {
  const auto old = std::signal(SIGABRT, [](int) { ::_exit(0); });
  EXPECT_NE(try_isolated([]() -> Bytes { std::abort(); }, {}).problem.find("ABRT"),
            std::string::npos);
  std::signal(SIGABRT, old);
}

TEST(Isolate, EndsEndlessWork) {
  const IsolationLimits limits{0.2, uint64_t{1} << 30};
  const std::function<Bytes()> endless[] = {
      [] {
        volatile int turns = 0;
        while (true) turns = turns | 1;
        return Bytes{};
      },
      [] {
        for (int file = 3; file < 64; ++file) ::close(file);
        while (true) ::usleep(1000);
        return Bytes{};
      },
  };
  for (const auto& work : endless) {
    const auto start = std::chrono::steady_clock::now();
    const IsolationResult result = try_isolated(work, limits);
    EXPECT_NE(result.ending, IsolationEnding::finished);
    EXPECT_GE(seconds_since(start), 0.19);
    EXPECT_LT(seconds_since(start), 5);
    expect_no_children();
  }
  EXPECT_EQ(try_isolated(endless[0], limits).ending, IsolationEnding::timed_out);
}

TEST(Isolate, RefusesTooMuchMemory) {
  if (!isolation_limits_memory()) GTEST_SKIP() << "sanitizers do not allow a limit on memory";
  const auto greedy = [] {
    std::vector<Bytes> blocks;
    for (int i = 0; i < 16; ++i) blocks.emplace_back(size_t{16} << 20, std::byte{1});
    return Bytes(blocks.size());
  };
  EXPECT_EQ(try_isolated(greedy, {60, uint64_t{64} << 20}).ending, IsolationEnding::out_of_memory);
  EXPECT_EQ(try_isolated(greedy, {60, uint64_t{1} << 30}).ending, IsolationEnding::finished);
}

// What the parent has mapped already does not count against the limit.
TEST(Isolate, LimitsOnlyNewMemory) {
  if (!isolation_limits_memory()) GTEST_SKIP() << "sanitizers do not allow a limit on memory";
  const Bytes held(size_t{100} << 20);
  const auto modest = [] { return Bytes(size_t{16} << 20); };
  EXPECT_EQ(try_isolated(modest, {60, uint64_t{64} << 20}).ending, IsolationEnding::finished);
  EXPECT_EQ(held.size(), size_t{100} << 20);
}

TEST(Isolate, ReturnsManyBytesIntact) {
  const auto make = [] {
    std::mt19937_64 random(7);
    Bytes bytes;
    bytes.reserve(50'000'000);
    while (bytes.size() < 50'000'000) append(bytes, random());
    return bytes;
  };
  EXPECT_EQ(run_isolated(make, {}, "a.fbx"), make());
}

TEST(Isolate, IsSilentAndLeavesNoCore) {
  const Bytes report = run_isolated(
      [] {
        rlimit core{};
        ::getrlimit(RLIMIT_CORE, &core);
        Bytes bytes;
        append(bytes, static_cast<int32_t>(core.rlim_cur == 0));
        append(bytes, static_cast<int32_t>(::isatty(STDERR_FILENO)));
        char target[64] = {};
        if (::readlink("/proc/self/fd/2", target, sizeof(target) - 1) < 0) return bytes;
        append_text(bytes, target);
        return bytes;
      },
      {}, "a.fbx");
  EXPECT_EQ(load_at<int32_t>(report, 0), 1);
  EXPECT_EQ(as_text(ByteView(report).subspan(8)), "/dev/null");
}

// Worker threads are busy allocating while children start, crash and answer, from several threads.
TEST(Isolate, WorksBesideBusyThreads) {
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    while (!stop)
      parallel_for(
          64, 1, [](size_t begin, size_t) { std::vector<Bytes> blocks(32, Bytes(1000 + begin)); });
  });
  std::atomic<int> good = 0, crashed = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 10; ++i) {
        const std::string text = std::to_string(caller) + ":" + std::to_string(i);
        good += as_text(run_isolated([&] { return text_bytes(text); }, {}, "a")) == text;
        crashed +=
            try_isolated([]() -> Bytes { ::_exit(3); }, {}).ending == IsolationEnding::crashed;
      }
    });
  for (std::thread& caller : callers) caller.join();
  stop = true;
  busy.join();
  EXPECT_EQ(good, 40);
  EXPECT_EQ(crashed, 40);
}

}  // namespace
}  // namespace supple
