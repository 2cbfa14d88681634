// What the commands expect on the command line, and what is said when it is not there.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace supple {
struct FrameSettings;
}

namespace supple::app {

/// Accepts one of some words; the option's help lists them.
void accept_words(CLI::Option& option, std::vector<std::string> words);

/// The words accept_words() gave an option; empty when it takes anything.
std::vector<std::string> accepted_words(const CLI::Option& option);

/// Accepts any text but an empty one.
CLI::Validator not_empty();

/// Accepts finite numbers from `min` to `max`.
CLI::Validator number_between(double min, double max);

/// Accepts finite numbers greater than zero.
CLI::Validator positive_number();

/// Reads "1001-1048", "1001" or "-5:20", where a leading dash is a sign, into the first and last
/// frame; throws a usage error.
void parse_frames(const std::string& text, FrameSettings& frames);

/// One line about what is wrong with the command line, with the nearest known word.
std::string usage_problem(const CLI::App& program, const CLI::ParseError& error);

/// The command whose help answers a usage problem: "supple simulate --help".
std::string help_command(const CLI::App& program);

}  // namespace supple::app
