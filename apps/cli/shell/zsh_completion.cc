#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/cli/shell/completion.h"

namespace poet::cli {
namespace {

/// In single quotes, where a specification ends at the given characters.
std::string zsh_text(const std::string& text, const std::string& special) {
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else if (special.find(c) != std::string::npos)
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

std::string zsh_values(const OfferedValues& values) {
  const std::string words = fmt::format("{}", fmt::join(values.words, " "));
  const bool paths = values.files || values.folders;
  // The space in front: the function is called with these arguments alone.
  if (!values.words.empty() && paths)
    return fmt::format(" _poet_words_or_paths \"{}\" {}", words,
                       values.folders ? "-/" : fmt::format("-g \"*{}\"", values.ending));
  if (!values.words.empty()) return "(" + words + ")";
  if (values.folders) return "_files -/";
  return values.files ? fmt::format("_files -g \"*{}\"", values.ending) : "";
}

std::string zsh_option(const OptionDescription& option, const KnownNames& names) {
  const std::string help = zsh_text(option.help, "[]:\\");
  const std::string value = option.takes_value ? fmt::format(":{}:{}", zsh_text(option.type, ":\\"),
                                                             zsh_values(offered_values(option, names)))
                                               : "";
  std::string out;
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    out += fmt::format(" \\\n        '{}{}{}[{}]{}'", option.repeated ? "*" : "", name,
                       option.takes_value ? (is_long ? "=" : "+") : "", help, value);
  }
  return out;
}

std::string zsh_arguments(const CommandDescription& command, const KnownNames& names) {
  std::string out = "_arguments -s";
  for (const OptionGroup& group : command.groups)
    for (const OptionDescription& option : group.options) out += zsh_option(option, names);
  for (const OptionDescription& argument : command.arguments)
    out += fmt::format(" \\\n        '{}:{}:{}'",
                       argument.repeated   ? "*"
                       : argument.required ? ""
                                           : ":",
                       zsh_text(argument.names.front(), ":\\"), zsh_values(offered_values(argument, names)));
  return out;
}

}  // namespace

std::string zsh_completion(const CommandDescription& program, const KnownNames& names) {
  std::string out =
      "#compdef poet\n# zsh completion for poet. Made by `poet completion zsh`.\n"
      "_poet_words_or_paths() {\n"
      "  _alternative \"values:value:($1)\" \"files:file:_files $2 ${(q)3}\"\n"
      "}\n"
      "_poet() {\n";
  out += "  local -a commands\n  commands=(\n";
  for (const CommandDescription& command : program.commands)
    out += fmt::format("    '{}:{}'\n", command.name, zsh_text(command.summary, ":\\"));
  out += "  )\n  local command=${words[2]}\n  if ((CURRENT == 2)); then\n";
  out += "    _describe -t commands command commands\n";
  out += "    " + zsh_arguments(program, names) + "\n    return\n  fi\n";
  out += "  shift words\n  ((CURRENT--))\n  case $command in\n";
  for (const CommandDescription& command : program.commands)
    out += fmt::format("    {})\n      {}\n      ;;\n", command.name, zsh_arguments(command, names));
  return out +
         "  esac\n}\nif [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n  _poet \"$@\"\nelse\n  compdef "
         "_poet poet\nfi\n";
}

}  // namespace poet::cli
