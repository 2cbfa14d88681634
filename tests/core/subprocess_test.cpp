// Other programs: what goes in comes out, endings are told apart, and nothing is left running.
#include "supple/core/subprocess.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "supple/core/error.h"
#include "support/test_support.h"

namespace supple {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

const Patience short_patience{200ms, {}};

std::vector<std::string> shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

using test::problem_of;

std::string text_of(const Bytes& bytes) { return std::string(as_text(bytes)); }

// True once no process of that id is left (a killed grandchild is reaped by init a little later).
bool ends_soon(int process) {
  for (int i = 0; i < 500; ++i) {
    if (::kill(process, 0) != 0 && errno == ESRCH) return true;
    std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
    std::string line;
    std::getline(stat, line);
    if (line.find(") Z ") != std::string::npos) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

int number_from(Subprocess& program, int descriptor) {
  while (text_of(program.received(descriptor)).find('\n') == std::string::npos)
    if (!program.receive({5s, {}})) break;
  return std::atoi(text_of(program.received(descriptor)).c_str());
}

TEST(Subprocess, FindsPrograms) {
  EXPECT_EQ(find_program("/bin/sh"), "/bin/sh");
  ASSERT_TRUE(find_program("sh"));
  EXPECT_EQ(::access(find_program("sh")->c_str(), X_OK), 0);
  EXPECT_FALSE(find_program(""));
  EXPECT_FALSE(find_program("no-such-program-here"));
  EXPECT_FALSE(find_program("/tmp")) << "a folder is no program";
  EXPECT_FALSE(find_program("/etc/passwd")) << "may not be executed";
}

TEST(Subprocess, ReturnsOutputErrorsAndStatus) {
  const ProgramResult result =
      run_program(shell("printf 'a\\0b'; echo wrong >&2; cat; exit 7"), Patience{});
  EXPECT_EQ(result.status, 7);
  EXPECT_EQ(as_text(result.output), std::string_view("a\0b", 3));
  EXPECT_EQ(result.errors, "wrong\n");
  EXPECT_EQ(run_program(shell("kill -9 $$"), Patience{}).status, 128 + SIGKILL);
}

TEST(Subprocess, PassesArgumentsAndEnvironmentAsTheyAre) {
  const ProgramResult result = run_program({"/bin/echo", "a b", "$HOME", "*", ""}, Patience{});
  EXPECT_EQ(as_text(result.output), "a b $HOME * \n");
  ::setenv("SUPPLE_TEST_VARIABLE", "outer", 1);
  Subprocess program({shell("echo $SUPPLE_TEST_VARIABLE $SUPPLE_TEST_OTHER"),
                      {PipeUse::nothing, PipeUse::from_program},
                      {{"SUPPLE_TEST_OTHER", "added"}, {"SUPPLE_TEST_VARIABLE", "inner"}}});
  EXPECT_EQ(program.wait(Patience{}), 0);
  EXPECT_EQ(text_of(program.received(1)), "inner added\n");
  ::unsetenv("SUPPLE_TEST_VARIABLE");
}

// Both directions at once, far more than pipes hold: neither side may wait for the other forever.
TEST(Subprocess, EchoesMoreThanPipesHold) {
  std::mt19937 random(3);
  Bytes sent(size_t{20} << 20);
  for (std::byte& byte : sent) byte = static_cast<std::byte>(random());
  Subprocess cat({{"/bin/cat"}, {PipeUse::to_program, PipeUse::from_program}});
  EXPECT_TRUE(cat.send(0, sent, Patience{}));
  cat.close(0);
  EXPECT_EQ(cat.wait(Patience{}), 0);
  EXPECT_TRUE(cat.received(1) == sent);
  EXPECT_TRUE(cat.ended(1));
}

TEST(Subprocess, ConnectsExtraDescriptors) {
  Subprocess program({shell("cat <&3 >&4"),
                      {PipeUse::nothing, PipeUse::nothing, PipeUse::nothing, PipeUse::to_program,
                       PipeUse::from_program}});
  EXPECT_TRUE(program.send(3, as_bytes("through the third"), Patience{}));
  program.close(3);
  EXPECT_EQ(program.wait(Patience{}), 0);
  EXPECT_EQ(text_of(program.received(4)), "through the third");
}

// Descriptors without close-on-exec are what other libraries open.
TEST(Subprocess, KeepsOtherDescriptorsFromTheProgram) {
  const int open_file = ::open("/dev/null", O_RDONLY);
  const ProgramResult result = run_program(shell("ls /proc/self/fd"), Patience{});
  ::close(open_file);
  EXPECT_EQ(as_text(result.output), "0\n1\n2\n3\n") << "3 is the folder being listed";
}

TEST(Subprocess, KeepsOnlyTheLastWords) {
  Subprocess program({shell("yes 0123456789 | head -c 3000000; echo the end"),
                      {PipeUse::nothing, PipeUse::last_words}});
  EXPECT_EQ(program.wait(Patience{}), 0);
  EXPECT_EQ(program.received(1).size(), size_t{64} << 10);
  EXPECT_TRUE(text_of(program.received(1)).ends_with("the end\n"));
}

TEST(Subprocess, NoticesAReaderThatIsGone) {
  Subprocess program({shell("exec <&-; sleep 60"), {PipeUse::to_program}});
  const Bytes much(size_t{8} << 20);
  EXPECT_FALSE(program.send(0, much, Patience{})) << "and no SIGPIPE has ended this test";
  EXPECT_FALSE(program.send(0, much, Patience{}));
}

TEST(Subprocess, GivesUpWhenNothingIsTaken) {
  Subprocess program({shell("sleep 60"), {PipeUse::to_program}});
  const auto start = Clock::now();
  EXPECT_EQ(problem_of([&] { program.send(0, Bytes(size_t{8} << 20), short_patience); }),
            "sh: takes no more input for 0.2 s");
  EXPECT_LT(Clock::now() - start, 5s);
}

TEST(Subprocess, GivesUpWhenNothingIsSaid) {
  Subprocess program({shell("sleep 60"), {PipeUse::nothing, PipeUse::from_program}});
  EXPECT_FALSE(program.receive(short_patience));
  EXPECT_FALSE(program.ended(1));
  EXPECT_FALSE(program.wait(short_patience));
  EXPECT_EQ(problem_of([&] { run_program(shell("sleep 60"), short_patience); }),
            "sh: does not end within 0.2 s");
}

TEST(Subprocess, StopsWaitingWhenTheCheckThrows) {
  Subprocess program({shell("sleep 60"), {PipeUse::to_program, PipeUse::from_program}});
  int calls = 0;
  const Patience patience{60s, [&] {
                            if (++calls == 3) throw Error(ErrorKind::interrupted, "enough");
                          }};
  const auto start = Clock::now();
  for (const std::function<void()>& action : std::vector<std::function<void()>>{
           [&] { program.receive(patience); }, [&] { program.wait(patience); },
           [&] { program.send(0, Bytes(8 << 20), patience); }}) {
    calls = 0;
    EXPECT_EQ(problem_of(action, ErrorKind::interrupted), "enough");
  }
  EXPECT_LT(Clock::now() - start, 5s);
}

TEST(Subprocess, SaysWhatCannotBeStarted) {
  EXPECT_EQ(problem_of([] {
              Subprocess({{"/no/such/program"}, {}});
            }),
            "program: No such file or directory");
  EXPECT_EQ(problem_of([] { Subprocess({{"/etc/passwd"}, {}}); }), "passwd: Permission denied");
  EXPECT_EQ(problem_of([] { Subprocess({{}, {}}); }), "no program to run is given");
}

TEST(Subprocess, EndsTheWholeFamilyWithTheObject) {
  int child = 0, grandchild = 0;
  {
    Subprocess program({shell("trap '' TERM INT HUP; sleep 60 & echo $!; wait"),
                        {PipeUse::nothing, PipeUse::from_program}});
    child = program.id();
    grandchild = number_from(program, 1);
    ASSERT_GT(grandchild, 1);
    EXPECT_EQ(::kill(grandchild, 0), 0);
  }
  EXPECT_TRUE(ends_soon(grandchild));
  EXPECT_EQ(::kill(child, 0), -1) << "neither running nor a zombie";
}

TEST(Subprocess, EndsWhatAProgramLeavesBehind) {
  Subprocess program({shell("sleep 60 & echo $!"), {PipeUse::nothing, PipeUse::from_program}});
  EXPECT_EQ(program.wait({5s, {}}), 0);
  const int left_behind = number_from(program, 1);
  ASSERT_GT(left_behind, 1);
  EXPECT_TRUE(ends_soon(left_behind));
}

TEST(Subprocess, LeavesNoDescriptorsOpen) {
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         std::filesystem::directory_iterator());
  };
  const auto before = open_files();
  for (int i = 0; i < 10; ++i) {
    Subprocess program({{"/bin/cat"}, {PipeUse::to_program, PipeUse::from_program}});
    problem_of([] { Subprocess({{"/no/such/program"}, {PipeUse::to_program}}); });
  }
  EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace supple
