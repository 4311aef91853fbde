// From CLI11's tables, which the command line is parsed with, to their description.

#include "apps/shared/description.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "apps/shared/parser.h"

namespace poet::cli {
namespace {

/// CLI11 writes the values that Option::one_of() allows behind the type: "NAME:{a,b}".
void split_type(const std::string& with_checks, OptionDescription& out) {
  const std::size_t checks = with_checks.find(":{");
  out.type = with_checks.substr(0, checks);
  if (checks != std::string::npos)
    out.choices = CLI::detail::split(with_checks.substr(checks + 2, with_checks.find('}') - checks - 2), ',');
}

OptionDescription described(const CLI::Option& option) {
  OptionDescription out;
  out.argument = option.get_positional();
  if (out.argument) {
    out.names.push_back(option.get_name(true));
  } else {
    for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  }
  out.takes_value = option.get_items_expected_max() > 0;
  if (out.takes_value) split_type(option.get_type_name(), out);
  out.help = option.get_description();
  out.required = option.get_required();
  out.repeated = option.get_items_expected_max() > 1;
  return out;
}

CommandDescription described(const CLI::App& app) {
  CommandDescription out{app.get_name(), app.get_description(), app.get_footer(), {}, {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    OptionDescription one = described(*option);
    if (one.argument) {
      out.arguments.push_back(std::move(one));
      continue;
    }
    const auto same = [&](const OptionGroup& group) { return group.title == option->get_group(); };
    auto group = std::find_if(out.groups.begin(), out.groups.end(), same);
    if (group == out.groups.end()) group = out.groups.insert(group, {option->get_group(), {}});
    group->options.push_back(std::move(one));
  }
  for (const CLI::App* command : app.get_subcommands({})) out.commands.push_back(described(*command));
  return out;
}

}  // namespace

CommandDescription CommandLine::description() const { return described(*app_); }

}  // namespace poet::cli
