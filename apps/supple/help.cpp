#include "help.h"

#include <memory>
#include <sstream>

namespace supple::app {
namespace {

constexpr size_t page_width = 80;
constexpr size_t left_column = 30;

// One line broken between words so that it fits the page; what follows the first line is indented.
std::string wrapped(std::string line, size_t indent) {
  std::string text;
  while (line.size() > page_width) {
    const size_t from = line.find_first_not_of(' ', indent);
    size_t cut = line.rfind(' ', page_width);
    if (from == std::string::npos || cut == std::string::npos || cut <= from)
      cut = line.find(' ', page_width);
    if (cut == std::string::npos) break;
    text += line.substr(0, cut) + "\n";
    line = std::string(indent, ' ') + line.substr(cut + 1);
  }
  return text + line + "\n";
}

class HelpLayout : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::istringstream lines(CLI::Formatter::make_help(app, std::move(name), mode));
    std::string text, line;
    bool blank = false;
    while (std::getline(lines, line)) {
      // Rows of the two-column lists begin with spaces.
      if (!line.empty() || !blank) text += wrapped(line, line.starts_with("  ") ? left_column : 0);
      blank = line.empty();
    }
    return text;
  }
};

}  // namespace

void set_help_layout(CLI::App& program) {
  const auto layout = std::make_shared<HelpLayout>();
  layout->column_width(left_column);
  layout->label("SUBCOMMAND", "COMMAND");
  layout->label("Subcommands", "Commands");
  layout->label("REQUIRED", "");
  program.formatter(layout);
}

std::string help_footer(const std::string& examples) {
  return (examples.empty() ? std::string{} : "\nEXAMPLES\n" + examples) + R"(
EXIT CODES
  0 done    1 simulation failed    2 bad usage    3 bad input file
  4 cannot write    130 interrupted)";
}

}  // namespace supple::app
