// The layout of --help: two columns, no line longer than a terminal is wide.
#pragma once

#include <CLI/CLI.hpp>

namespace supple::app {

/// Gives a program and its commands to come the layout of help.
void set_help_layout(CLI::App& program);

/// The end of a command's help: its examples, then what the exit codes mean.
std::string help_footer(const std::string& examples);

}  // namespace supple::app
