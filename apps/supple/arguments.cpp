#include "arguments.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "supple/core/error.h"
#include "supple/sim/scene.h"

namespace supple::app {
namespace {

std::string joined(const std::vector<std::string>& words, const char* separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

CLI::Validator number(std::function<bool(double)> good, const std::string& allowed) {
  return CLI::Validator(
      [good = std::move(good), allowed](std::string& text) {
        double value = 0;
        const bool read = CLI::detail::lexical_cast(text, value) && std::isfinite(value);
        if (read && good(value)) return std::string{};
        return fmt::format("'{}' must be {}", printable(text), allowed);
      },
      "");
}

std::vector<std::string> command_names(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

// The command that was given, or null.
const CLI::App* chosen_command(const CLI::App& program) {
  const std::vector<CLI::App*> chosen = program.get_subcommands();
  return chosen.empty() ? nullptr : chosen.front();
}

std::string unexpected(const CLI::App& command, const std::vector<std::string>& words) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  for (const std::string& word : words)
    if (word.starts_with('-')) {
      const std::string flag = word.substr(0, word.find('='));
      return fmt::format("unknown option '{}'{}", printable(flag), suggestion(flag, flags));
    }
  return fmt::format("unexpected argument '{}'", printable(words.front()));
}

}  // namespace

void accept_words(CLI::Option& option, std::vector<std::string> words) {
  option.type_name("{" + joined(words, ",") + "}");
  option.check(CLI::Validator(
      [words = std::move(words)](std::string& text) {
        if (std::find(words.begin(), words.end(), text) != words.end()) return std::string{};
        return fmt::format("'{}' is not one of {}{}", printable(text), joined(words, ", "),
                           suggestion(text, words));
      },
      ""));
}

std::vector<std::string> accepted_words(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (!type.starts_with('{') || !type.ends_with('}')) return {};
  return CLI::detail::split(type.substr(1, type.size() - 2), ',');
}

CLI::Validator not_empty() {
  return CLI::Validator(
      [](std::string& text) { return text.empty() ? "the name is empty" : std::string{}; }, "");
}

CLI::Validator number_between(double min, double max) {
  return number([=](double value) { return value >= min && value <= max; },
                fmt::format("a number from {:.10g} to {:.10g}", min, max));
}

CLI::Validator positive_number() {
  return number([](double value) { return value > 0; }, "a number greater than 0");
}

void parse_frames(const std::string& text, FrameSettings& frames) {
  int first = 0, last = 0, read = 0;
  const auto whole = [&] { return read == static_cast<int>(text.size()); };
  const auto range = [&](const char* form) {
    return std::sscanf(text.c_str(), form, &first, &last, &read) == 2 && whole();
  };
  if (range("%9d-%9d%n") || range("%9d:%9d%n")) {
    // both numbers are there
  } else if (std::sscanf(text.c_str(), "%9d%n", &first, &read) == 1 && whole()) {
    frames.first = first;
    return;
  } else {
    throw Error(ErrorKind::usage,
                fmt::format("--frames: '{}' is not FIRST or FIRST-LAST", printable(text)));
  }
  if (last < first)
    throw Error(ErrorKind::usage,
                fmt::format("--frames: {} is before the first frame {}", last, first));
  frames.first = first;
  frames.last = last;
}

std::string usage_problem(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App* command = chosen_command(program);
  const std::vector<std::string> left = program.remaining(true);
  if (!command && !left.empty() && !left.front().starts_with('-'))
    return fmt::format("unknown command '{}'{}", printable(left.front()),
                       suggestion(left.front(), command_names(program)));
  if (!left.empty()) return unexpected(command ? *command : program, left);
  if (!command) return "a command is required: " + joined(command_names(program), ", ");
  return error.what();
}

std::string help_command(const CLI::App& program) {
  const CLI::App* command = chosen_command(program);
  return command ? fmt::format("supple {} --help", command->get_name()) : "supple --help";
}

}  // namespace supple::app
