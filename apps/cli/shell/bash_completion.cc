#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/cli/shell/completion.h"

namespace poet::cli {
namespace {

// What follows needs no other file. `--name=value` reaches bash as three words.
constexpr const char* kHead =
    R"(# bash completion for poet: source it, or see docs/install.md. Made by `poet completion bash`.
_poet_files() {  # ENDING: files that end so, and folders on the way to them
  compopt -o filenames 2>/dev/null
  local name
  while IFS= read -r name; do
    [[ -d $name || $name == *"$1" ]] && COMPREPLY+=("$name")
  done < <(compgen -f -- "$cur")
}
_poet_folders() {
  compopt -o filenames 2>/dev/null
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$cur")
}
_poet_words() { mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$1" -- "$cur"); }
_poet() {
  local cur=${COMP_WORDS[COMP_CWORD]} previous='' command='' word
  ((COMP_CWORD > 0)) && previous=${COMP_WORDS[COMP_CWORD - 1]}
  if [[ $cur == = ]]; then
    cur=''
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] || { command=$word; break; }
  done
  COMPREPLY=()
)";

std::string names_of(const CommandDescription& command) {
  std::vector<std::string> names;
  for (const OptionGroup& group : command.groups)
    for (const OptionDescription& option : group.options)
      names.insert(names.end(), option.names.begin(), option.names.end());
  return fmt::format("{}", fmt::join(names, " "));
}

std::string offer(const OfferedValues& values) {
  std::string out;
  if (!values.words.empty()) out += fmt::format(" _poet_words '{}';", fmt::join(values.words, " "));
  if (values.files) out += fmt::format(" _poet_files '{}';", values.ending);
  if (values.folders) out += " _poet_folders;";
  return out;
}

std::string options_case(const CommandDescription& command, const KnownNames& names) {
  std::string out = "      case $previous in\n";
  for (const OptionGroup& group : command.groups)
    for (const OptionDescription& option : group.options)
      if (option.takes_value)
        out += fmt::format("        {}){} return ;;\n", fmt::join(option.names, " | "),
                           offer(offered_values(option, names)));
  return out + "      esac\n";
}

std::string arguments_offer(const CommandDescription& command, const KnownNames& names) {
  std::string out;
  for (const OptionDescription& argument : command.arguments) out += offer(offered_values(argument, names));
  return out.empty() ? "" : fmt::format("      [[ $cur == -* ]] || {{{} return; }}\n", out);
}

}  // namespace

std::string bash_completion(const CommandDescription& program, const KnownNames& names) {
  std::string out = kHead;
  std::vector<std::string> commands;
  for (const CommandDescription& command : program.commands) commands.push_back(command.name);
  out += "  case $command in\n";
  out += fmt::format("    '') _poet_words '{} {}' ;;\n", fmt::join(commands, " "), names_of(program));
  for (const CommandDescription& command : program.commands) {
    out += fmt::format("    {})\n", command.name) + options_case(command, names) +
           arguments_offer(command, names);
    out += fmt::format("      _poet_words '{}'\n      ;;\n", names_of(command));
  }
  return out + "  esac\n}\ncomplete -F _poet poet ./poet\n";
}

}  // namespace poet::cli
