// Reading damaged FBX files in tests.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "supple/core/error.h"
#include "supple/io/fbx_reader.h"

namespace supple::test {

/// Reads a file and fails the test when the child process ended by itself without an answer, which
/// is how a sanitizer's report inside it looks from outside.
inline void read_without_sanitizer_report(const std::filesystem::path& path,
                                          const IsolationLimits& limits) {
  try {
    read_fbx(path, limits);
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("without an answer"), std::string::npos)
        << error.what();
    throw;
  }
}

}  // namespace supple::test
