// The browser: what a page says comes over as it is, and every way it can fail ends in a message.
#include "viewer/chromium.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "browser_support.h"
#include "supple/core/error.h"
#include "supple/core/file.h"
#include "support/test_support.h"

namespace supple::viewer {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using test::data_url;
using test::problem_of;

// Starting a browser takes a second or two: tests that leave it whole share one.
TEST(Chromium, EvaluatesExpressions) {
  SUPPLE_NEEDS_BROWSER();
  HeadlessBrowser browser({});
  browser.open(data_url("<title>Page &auml;</title><script>window.answer = 42</script>"));
  EXPECT_EQ(browser.evaluate("answer"), 42);
  EXPECT_EQ(browser.evaluate("document.title"), "Page ä");
  EXPECT_EQ(browser.evaluate("({a: [1, 2.5, 'x\\0y'], b: null})"),
            Json::parse(R"({"a": [1, 2.5, "x\u0000y"], "b": null})"));
  EXPECT_TRUE(browser.evaluate("undefined").is_null());
  EXPECT_EQ(browser.evaluate("new Promise(done => setTimeout(() => done('later'), 20))"), "later");

  // Long messages, both ways.
  const std::string text(size_t{5} << 20, 'x');
  EXPECT_EQ(browser.evaluate("'" + text + "'.length"), text.size());
  const auto start = Clock::now();
  const Json answer = browser.evaluate("'y'.repeat(30 << 20)");
  EXPECT_EQ(answer.get_ref<const std::string&>(), std::string(size_t{30} << 20, 'y'));
  EXPECT_LT(Clock::now() - start, 10s * test::slowness);

  // What the page throws.
  EXPECT_EQ(problem_of([&] { browser.evaluate("throw new Error('no colour called blue')"); }),
            "no colour called blue");
  EXPECT_EQ(
      problem_of([&] { browser.evaluate("Promise.reject(new Error('a\\nb'))", ErrorKind::usage); },
                 ErrorKind::usage),
      "a b");
  EXPECT_EQ(problem_of([&] { browser.evaluate("throw 'just text'"); }), "just text");
  EXPECT_EQ(problem_of([&] { browser.evaluate("nothing.there"); }),
            "ReferenceError: nothing is not defined");
  EXPECT_EQ(browser.evaluate("1 + 1"), 2) << "and goes on";
}

TEST(Chromium, CollectsWhatThePageLogs) {
  SUPPLE_NEEDS_BROWSER();
  HeadlessBrowser browser({});
  browser.open(
      data_url("<script>console.log('fine'); console.error('shader', 'broken');"
               "setTimeout(() => { throw new Error('late') }, 1)</script>"));
  browser.evaluate("new Promise(done => setTimeout(done, 50))");
  ASSERT_EQ(browser.complaints().size(), 2u);
  EXPECT_EQ(browser.complaints()[0], "shader broken");
  EXPECT_EQ(browser.complaints()[1], "late");
  browser.evaluate("for (let i = 0; i < 100; ++i) console.error('again')");
  EXPECT_EQ(browser.complaints().size(), 20u);
}

TEST(Chromium, TakesScreenshotsOfTheWindow) {
  SUPPLE_NEEDS_BROWSER();
  BrowserOptions options;
  options.width = 320;
  options.height = 200;
  HeadlessBrowser browser(options);
  browser.open(data_url("<body style='background: #204060'></body>"));
  EXPECT_EQ(browser.evaluate("[innerWidth, innerHeight, devicePixelRatio]"), Json({320, 200, 1}));
  EXPECT_EQ(test::png_size(browser.screenshot()), (std::pair{320, 200}));
  browser.resize(64, 48);
  const Bytes picture = browser.screenshot();
  EXPECT_EQ(test::png_size(picture), (std::pair{64, 48}));
  if (const auto pixels = test::pixels_of(picture)) {
    ASSERT_EQ(pixels->size(), 64u * 48 * 4);
    EXPECT_EQ(as_text(ByteView(*pixels).first(4)), "\x20\x40\x60\xff");
  }

  // Graphics in software.
  EXPECT_EQ(browser.evaluate("!!document.createElement('canvas').getContext('webgl2')"), true);

  // An address where nobody answers.
  EXPECT_EQ(problem_of([&] { browser.open("http://127.0.0.1:3/"); }),
            "the browser cannot open http://127.0.0.1:3/: net::ERR_CONNECTION_REFUSED");
}

TEST(Chromium, GivesUpOnAPageThatNeverAnswers) {
  SUPPLE_NEEDS_BROWSER();
  HeadlessBrowser browser({});
  browser.evaluate("console.error('cannot reach the server')");
  browser.set_patience({300ms, {}});
  for (const char* expression : {"new Promise(() => {})", "for (;;) {}"}) {
    const auto start = Clock::now();
    const std::string problem = problem_of([&] { browser.evaluate(expression); });
    EXPECT_NE(problem.find("does not answer for 0.3 s"), std::string::npos) << problem;
    EXPECT_NE(problem.find("the page says: cannot reach the server"), std::string::npos) << problem;
    EXPECT_LT(Clock::now() - start, 5s);
  }

  // Ctrl-C, while a page does not answer.
  const auto start = Clock::now();
  browser.set_patience({60s, [&] {
                          if (Clock::now() - start > 200ms)
                            throw Error(ErrorKind::interrupted, "interrupted");
                        }});
  EXPECT_EQ(problem_of([&] { browser.evaluate("new Promise(() => {})"); }, ErrorKind::interrupted),
            "interrupted");
  EXPECT_LT(Clock::now() - start, 5s);
}

TEST(Chromium, NoticesABrowserThatDies) {
  SUPPLE_NEEDS_BROWSER();
  HeadlessBrowser browser({});
  std::thread killer([process = browser.process()] {
    std::this_thread::sleep_for(200ms);
    ::kill(process, SIGKILL);
  });
  const auto start = Clock::now();
  const std::string problem = problem_of([&] { browser.evaluate("new Promise(() => {})"); });
  killer.join();
  EXPECT_NE(problem.find(") has ended"), std::string::npos) << problem;
  EXPECT_LT(Clock::now() - start, 10s);
  EXPECT_NE(problem_of([&] { browser.screenshot(); }).find(") has ended"), std::string::npos);
}

// Processes whose command line holds a text, of a process group where one is given.
std::vector<int> processes_with(const std::string& text, int group = 0) {
  std::vector<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const int process = std::atoi(entry.path().filename().c_str());
    if (process <= 0 || (group > 0 && ::getpgid(process) != group)) continue;
    std::ifstream file(entry.path() / "cmdline");
    const std::string line((std::istreambuf_iterator<char>(file)), {});
    if (line.find(text) != std::string::npos) found.push_back(process);
  }
  return found;
}

TEST(Chromium, NoticesAPageThatCrashes) {
  SUPPLE_NEEDS_BROWSER();
  HeadlessBrowser browser({});
  const std::vector<int> pages = processes_with("--type=renderer", browser.process());
  ASSERT_FALSE(pages.empty());
  for (const int page : pages) ::kill(page, SIGKILL);
  const auto start = Clock::now();
  const std::string problem = problem_of([&] { browser.evaluate("new Promise(() => {})"); });
  EXPECT_NE(problem.find("has lost its page"), std::string::npos) << problem;
  EXPECT_LT(Clock::now() - start, 20s);
}

TEST(Chromium, LeavesNothingBehind) {
  SUPPLE_NEEDS_BROWSER();
  std::filesystem::path profile;
  {
    HeadlessBrowser browser({});
    profile = browser.profile();
    EXPECT_TRUE(std::filesystem::exists(profile));
    EXPECT_FALSE(processes_with(profile.string()).empty());
  }
  EXPECT_FALSE(std::filesystem::exists(profile));
  for (int i = 0; i < 200 && !processes_with(profile.string()).empty(); ++i)
    std::this_thread::sleep_for(10ms);
  EXPECT_TRUE(processes_with(profile.string()).empty());
}

TEST(Chromium, SaysWhatToInstall) {
  const test::EnvironmentVariable chosen("SUPPLE_BROWSER", "/nonexistent");
  EXPECT_EQ(problem_of([] { HeadlessBrowser({}); }),
            "pictures need a browser: SUPPLE_BROWSER names '/nonexistent', which is not a program "
            "that can be run");
  const test::EnvironmentVariable none("SUPPLE_BROWSER", "");
  const test::EnvironmentVariable path("PATH", "/nonexistent");
  EXPECT_NE(problem_of([] { HeadlessBrowser({}); }).find("(apt install chromium)"),
            std::string::npos);
}

// Programs that are no browser: each ends in a message, quickly.
TEST(Chromium, RefusesProgramsThatAreNoBrowser) {
  const test::TemporaryFolder folder;
  const auto problem_with = [&](const std::string& script) {
    const std::string file = (folder / "fake-browser").string();
    write_file(file, "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    BrowserOptions options;
    options.program = file;
    options.patience.limit = 1s;
    return problem_of([&] { HeadlessBrowser browser(options); });
  };
  const std::string name = "the browser (fake-browser) ";
  EXPECT_EQ(problem_with("echo No usable sandbox! >&2; exit 1"),
            name + "has ended; it says: No usable sandbox!");
  EXPECT_EQ(problem_with("sleep 60"), name + "does not answer for 1 s (Target.createTarget)");
  EXPECT_EQ(problem_with("printf 'hello\\0' >&4; sleep 60"), name + "sends what is not a message");
  EXPECT_EQ(problem_with("printf '[]\\0' >&4; sleep 60"), name + "sends what is not a message");
  EXPECT_EQ(problem_with("printf '{\"id\": 1, \"result\": 3}\\0' >&4; sleep 60"),
            name + "sends no result of Target.createTarget");
  EXPECT_EQ(problem_with("printf '{\"id\": 1, \"result\": {\"targetId\": 3}}\\0' >&4; sleep 60"),
            name + "sends no targetId");
  EXPECT_EQ(problem_with("printf '{\"id\": 1, \"error\": \"x\"}\\0' >&4; sleep 60"),
            name + "refuses Target.createTarget: \"x\"");
  EXPECT_EQ(
      problem_with("printf '{\"method\": 7, \"params\": []}\\0{\"id\": \"1\"}\\0' >&4; sleep 60"),
      name + "does not answer for 1 s (Target.createTarget)");
}

TEST(Chromium, PutsTextOnOneLine) {
  EXPECT_EQ(one_line("a\nb\tc"), "a b c");
  const std::string umlauts = [] {
    std::string text = "x";
    for (int i = 0; i < 200; ++i) text += "ä";
    return text;
  }();
  std::string expected = umlauts.substr(0, 299) + "...";
  EXPECT_EQ(one_line(umlauts), expected);
}

}  // namespace
}  // namespace supple::viewer
