#include "apps/cli/shell/manual.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "poet/base/text.h"

namespace poet::cli {
namespace {

/// As running text: nothing in it is an instruction, and every dash is the one that users type.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string bold(const std::string& text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + plain(text) + "\\fR"; }

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

std::string title(const std::string& name, const std::string& version) {
  return fmt::format(".TH {} 1 \"\" \"poet {}\" \"User Commands\"\n", plain(upper(name)), plain(version));
}

std::string section(const std::string& name) { return ".SH \"" + plain(upper(name)) + "\"\n"; }

std::string entry(const std::string& tag, const std::string& text) {
  return ".TP\n" + tag + "\n" + plain(text) + "\n";
}

/// Paragraphs are filled; indented lines stand as they are; a line that ends in a colon has a line of its
/// own.
std::string footer_text(const std::string& footer) {
  std::string out = ".PP\n";
  bool verbatim = false;
  for (const std::string& line : pieces_of(footer, '\n')) {
    const bool indented = line.starts_with("  ");
    if (indented != verbatim) out += indented ? ".PP\n.nf\n.RS 4\n" : ".RE\n.fi\n";
    if (verbatim && !indented && !line.empty()) out += ".PP\n";
    verbatim = indented;
    if (line.empty())
      out += ".PP\n";
    else
      out += (line.ends_with(':') ? ".PP\n" : "") + plain(indented ? line.substr(2) : line) + "\n";
  }
  if (verbatim) out += ".RE\n.fi\n";
  return out;
}

std::string option_tag(const OptionDescription& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) names.push_back(bold(name));
  std::string out = fmt::format("{}", fmt::join(names, ", "));
  if (option.takes_value) out += " " + italic(option.type);
  return out;
}

std::string argument_shown(const OptionDescription& argument) {
  const std::string name = italic(argument.type.empty() ? argument.names.front() : argument.type);
  const std::string several = argument.repeated ? name + " ..." : name;
  return argument.required ? several : "[" + several + "]";
}

std::string options_text(const CommandDescription& command) {
  std::string out;
  for (const OptionGroup& group : command.groups) {
    out += section(group.title);
    for (const OptionDescription& option : group.options) out += entry(option_tag(option), option.help);
  }
  return out;
}

}  // namespace

std::string program_manual(const CommandDescription& program, const std::string& version) {
  std::string out = title(program.name, version);
  // "poet: what it is" is its description; whatis(1) wants the name apart.
  const std::string& summary = program.summary;
  const std::string prefix = program.name + ": ";
  out += section("Name") + plain(program.name) + " \\- " +
         plain(summary.starts_with(prefix) ? summary.substr(prefix.size()) : summary) + "\n";
  out += section("Synopsis") + bold(program.name) + " " + italic("COMMAND") + " [" + italic("OPTION") +
         " ...]\n";
  out += section("Commands");
  std::vector<std::string> pages;
  for (const CommandDescription& command : program.commands) {
    const std::string page = program.name + "-" + command.name;
    out += entry(bold(command.name), command.summary);
    pages.push_back(bold(page) + "(1)");
  }
  out += options_text(program);
  out += section("See also") + fmt::format("{}\n", fmt::join(pages, ",\n"));
  return out;
}

std::string command_manual(const CommandDescription& program, const CommandDescription& command,
                           const std::string& version) {
  const std::string name = program.name + "-" + command.name;
  std::string out = title(name, version);
  out += section("Name") + plain(name) + " \\- " + plain(command.summary) + "\n";
  out += section("Synopsis") + bold(program.name + " " + command.name) + " [" + italic("OPTION") + " ...]";
  for (const OptionDescription& argument : command.arguments) out += " " + argument_shown(argument);
  out += "\n";
  if (!command.arguments.empty()) {
    out += section("Arguments");
    for (const OptionDescription& argument : command.arguments)
      out += entry(italic(argument.type.empty() ? argument.names.front() : argument.type), argument.help);
  }
  out += options_text(command);
  if (!command.footer.empty()) out += section("Notes") + footer_text(command.footer);
  out += section("See also") + bold(program.name) + "(1)\n";
  return out;
}

}  // namespace poet::cli
