// supple completion and supple schema: text for shells and editors, made from the program itself.
#include <cstdio>
#include <memory>

#include "arguments.h"
#include "help.h"
#include "program.h"
#include "supple/io/scene_file.h"

namespace supple::app {
namespace {

std::vector<const CLI::App*> visible_commands(const CLI::App& program) {
  std::vector<const CLI::App*> commands;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_name().empty()) commands.push_back(command);
  return commands;
}

std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    for (const std::string& name : option->get_snames()) flags.push_back("-" + name);
  }
  return flags;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// "  --up) words=..." for every option of a command that takes only some words.
void print_bash_words(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    if (const std::vector<std::string> words = accepted_words(*option); !words.empty())
      for (const std::string& name : option->get_lnames())
        std::printf("    %s:--%s) words=\"%s\" ;;\n", command.get_name().c_str(), name.c_str(),
                    joined(words).c_str());
}

// Candidates are read line by line, so that file names may have spaces; bash cuts "--up=z" into
// three words.
void print_bash(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* command : visible_commands(program)) names.push_back(command->get_name());
  std::printf(
      R"(# bash completion of supple; source this file or put it into bash-completion's folder.
_supple() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
  local words= flags=
  if [ "$word" = "=" ]; then word=; elif [ "$before" = "=" ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi
  case $command:$before in
)");
  for (const CLI::App* command : visible_commands(program)) print_bash_words(*command);
  std::printf("  esac\n  case $command in\n");
  for (const CLI::App* command : visible_commands(program))
    std::printf("    %s) flags=\"%s\" ;;\n", command->get_name().c_str(),
                joined(flags_of(*command)).c_str());
  std::printf(R"(  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="%s --help --version"
  elif [ "$command" = completion ]; then words="bash zsh"
  elif [[ $word == -* ]]; then words=$flags
  fi
  if [ -n "$words" ]; then mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  else compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$word"); fi
}
complete -F _supple supple
)",
              joined(names).c_str());
}

// Text inside a zsh completion specification, where brackets, colons and quotes have a meaning.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    if (c == '\'')
      result += "'\\''";
    else
      result += c;
  }
  return result;
}

void print_zsh(const CLI::App& program) {
  std::printf(
      "#compdef supple\n# zsh completion of supple; put it as _supple into a folder of "
      "$fpath.\n_supple() {\n");
  std::printf("  local -a commands\n  commands=(\n");
  for (const CLI::App* command : visible_commands(program))
    std::printf("    '%s:%s'\n", command->get_name().c_str(),
                escaped(command->get_description()).c_str());
  std::printf(
      "  )\n  if (( CURRENT == 2 )); then _describe command commands; return; fi\n  local "
      "command=$words[2]\n  shift words; (( CURRENT-- ))\n  case $command in\n");
  for (const CLI::App* command : visible_commands(program)) {
    std::printf("    %s) _arguments", command->get_name().c_str());
    for (const CLI::Option* option : command->get_options())
      for (const std::string& name : option->get_lnames()) {
        const std::string flag = "--" + name;
        const std::vector<std::string> words = accepted_words(*option);
        std::string value;
        if (option->get_items_expected_max() > 0)
          value = words.empty() ? ":value:_files" : ":value:(" + joined(words) + ")";
        std::printf(" \\\n      '%s[%s]%s'", flag.c_str(),
                    escaped(option->get_description()).c_str(), value.c_str());
      }
    std::printf(" \\\n      '*:file:%s' ;;\n",
                command->get_name() == "completion" ? "(bash zsh)" : "_files");
  }
  std::printf(
      "  esac\n}\nif [ \"$funcstack[1]\" = _supple ]; then _supple \"$@\"; else compdef _supple "
      "supple; fi\n");
}

}  // namespace

void add_schema_command(CLI::App& program, int& status) {
  CLI::App* command =
      program.add_subcommand("schema", "Print the JSON Schema of scene files, for editors.");
  command->footer(help_footer("  supple schema > scene.schema.json\n"));
  command->callback([&status] {
    std::printf("%s\n", scene_schema().dump(2).c_str());
    status = done;
  });
}

void add_completion_command(CLI::App& program, int& status) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command =
      program.add_subcommand("completion", "Print the completion script for a shell.");
  command->footer(
      help_footer("  source <(supple completion bash)          in this shell\n"
                  "  supple completion zsh > ~/.zsh/_supple    in a folder of $fpath\n"));
  CLI::Option* option = command->add_option("shell", *shell, "Which shell.")->required();
  accept_words(*option, {"bash", "zsh"});
  command->callback([&program, shell, &status] {
    if (*shell == "bash")
      print_bash(program);
    else
      print_zsh(program);
    status = done;
  });
}

}  // namespace supple::app
