#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/cli/shell/completion.h"

namespace poet::cli {
namespace {

std::string fish_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return "'" + out + "'";
}

std::string fish_values(const OfferedValues& values) {
  std::vector<std::string> sources = values.words;
  if (values.files) sources.push_back(fmt::format("(__fish_complete_suffix {})", fish_text(values.ending)));
  if (values.folders) sources.emplace_back("(__fish_complete_directories)");
  return sources.empty() ? "" : fmt::format(" -a \"{}\"", fmt::join(sources, " "));
}

std::string fish_option(const std::string& condition, const OptionDescription& option,
                        const KnownNames& names) {
  std::string out = "complete -c poet -n " + fish_text(condition);
  for (const std::string& name : option.names)
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (option.takes_value) out += " -x" + fish_values(offered_values(option, names));
  return out + " -d " + fish_text(option.help) + "\n";
}

std::string fish_command(const CommandDescription& command, const std::string& condition,
                         const KnownNames& names) {
  std::string out;
  for (const OptionGroup& group : command.groups)
    for (const OptionDescription& option : group.options) out += fish_option(condition, option, names);
  for (const OptionDescription& argument : command.arguments) {
    const std::string values = fish_values(offered_values(argument, names));
    if (!values.empty()) out += "complete -c poet -n " + fish_text(condition) + values + "\n";
  }
  return out;
}

}  // namespace

std::string fish_completion(const CommandDescription& program, const KnownNames& names) {
  std::string out = "# fish completion for poet. Made by `poet completion fish`.\ncomplete -c poet -f\n";
  for (const CommandDescription& command : program.commands)
    out += fmt::format("complete -c poet -n __fish_use_subcommand -a {} -d {}\n", command.name,
                       fish_text(command.summary));
  out += fish_command(program, "__fish_use_subcommand", names);
  for (const CommandDescription& command : program.commands)
    out += fish_command(command, "__fish_seen_subcommand_from " + command.name, names);
  return out;
}

}  // namespace poet::cli
