// What is logged at which level, as it appears on standard error.
#include "supple/core/log.h"

#include <gtest/gtest.h>

#include <string>

namespace supple {
namespace {

// What four messages of rising detail leave on standard error.
std::string logged_at(LogLevel level) {
  testing::internal::CaptureStderr();
  set_log_level(level);
  log_error("one {}", 1);
  log_warning("two {:.1f}", 2.0);
  log_info("three {}", "{}");
  log_debug("four");
  set_log_level(LogLevel::info);
  return testing::internal::GetCapturedStderr();
}

TEST(Log, EachLevelIncludesTheOnesBeforeIt) {
  EXPECT_EQ(logged_at(LogLevel::off), "");
  EXPECT_EQ(logged_at(LogLevel::errors), "error: one 1\n");
  EXPECT_EQ(logged_at(LogLevel::warnings), "error: one 1\nwarning: two 2.0\n");
  EXPECT_EQ(logged_at(LogLevel::info), "error: one 1\nwarning: two 2.0\ninfo: three {}\n");
  EXPECT_EQ(logged_at(LogLevel::debug),
            "error: one 1\nwarning: two 2.0\ninfo: three {}\ndebug: four\n");
}

TEST(Log, MessagesAreNotTakenForFormats) {
  testing::internal::CaptureStderr();
  log_message(LogLevel::errors, "100 % {} {0} %v");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "error: 100 % {} {0} %v\n");
}

}  // namespace
}  // namespace supple
