#include "apps/shared/parser.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

#include "apps/shared/called_as.h"
#include "apps/shared/parse_errors.h"
#include "apps/shared/terminal.h"
#include "poet/base/error.h"
#include "poet/base/nearest.h"
#include "poet/report/table.h"

namespace poet::cli {
namespace {

/// Replaces the program's name in examples ("  mpirun -n 4 poet sweep spec.json") by the name that the user
/// typed.
std::string commands_as_called(const CLI::App& program, const std::string& text) {
  std::vector<std::string> names = {"COMMAND"};  // as usage lines have it
  for (const CLI::App* command : program.get_subcommands({})) names.push_back(command->get_name());
  std::string out = text;
  const std::string name = program.get_name(), typed = called_as();
  for (std::size_t at = out.find(name + " "); at != std::string::npos; at = out.find(name + " ", at + 1)) {
    const std::size_t command = at + name.size() + 1;
    const bool begins = at == 0 || std::string_view("\n (").find(out[at - 1]) != std::string_view::npos;
    const std::string word = out.substr(command, out.find_first_of(" \n", command) - command);
    if (!begins || std::ranges::find(names, word) == names.end()) continue;
    out.replace(at, name.size(), typed);
    at += typed.size();
  }
  return out;
}

/// Descriptions broken at spaces instead of lines that leave the terminal.
class Formatter final : public CLI::Formatter {
 public:
  Formatter() { column_width(description_column()); }
  /// Without the choices that CLI11 adds to the type, which says them: "time|step:{time,step}". Choices that
  /// take more than a line can be broken between each other.
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    const std::size_t from = text.find(":{");
    const std::size_t to = text.find('}', from);
    if (from != std::string::npos && to != std::string::npos) text.erase(from, to + 1 - from);
    if (static_cast<int>(text.size()) > prose_width() - kIndent)
      for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 3))
        text.replace(at, 1, " | ");
    return text;
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    return beside_name(option->get_description());
  }
  std::string make_subcommand(const CLI::App* command) const override {
    std::ostringstream out;
    CLI::detail::format_help(out, command->get_name(), beside_name(command->get_description()),
                             get_column_width());
    return out.str();
  }

  std::string make_footer(const CLI::App* app) const override {
    const CLI::App* program = app;
    while (program->get_parent() != nullptr) program = program->get_parent();
    return commands_as_called(*program, CLI::Formatter::make_footer(app));
  }

 private:
  static constexpr int kIndent = 8;  // of what is moved to a line of its own
  /// Beside the names where there is room, else below them.
  static std::string beside_name(const std::string& description) {
    return wrapped(description, prose_width() - description_column(), 0);
  }
  static int description_column() { return prose_width() < 64 ? 6 : 34; }
};

/// CLI11 separates groups of options by two empty lines; one is enough.
std::string compact(std::string help) {
  for (std::size_t at = help.find("\n\n\n"); at != std::string::npos; at = help.find("\n\n\n"))
    help.erase(at, 1);
  return help;
}

/// What could have been meant: options of the command that was called, or commands.
std::vector<std::string> known_names(const CLI::App& app, const std::string& given) {
  const std::vector<CLI::App*> called = app.get_subcommands();
  const CLI::App& place = called.empty() ? app : *called.front();
  std::vector<std::string> names;
  if (!given.starts_with("-")) {
    for (const CLI::App* command : place.get_subcommands({})) names.push_back(command->get_name());
    return names;
  }
  for (const CLI::Option* option : place.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

Wrong unknown(const CLI::App& app, bool is_program) {
  const std::vector<std::string> extra = app.remaining(true);
  const std::string first = extra.empty() ? "" : extra.front();
  const std::string name = first.starts_with("-") ? first.substr(0, first.find('=')) : first;
  const bool has_commands = !app.get_subcommands({}).empty();
  const char* what = first.starts_with("-") ? "option" : is_program && has_commands ? "command" : "argument";
  return {name, fmt::format("unknown {}{}", what, did_you_mean(name, known_names(app, first)))};
}

}  // namespace

const Option& Option::required() const {
  option_->required();
  return *this;
}

const Option& Option::one_of(std::initializer_list<std::string> values) const {
  // The value becomes the name as it stands here.
  option_->transform(CLI::IsMember(std::vector<std::string>(values), folded_name));
  return *this;
}

const Option& Option::separated_by(char delimiter) const {
  option_->delimiter(delimiter);
  return *this;
}

Parser Parser::group(const std::string& title) const {
  Parser inside = *this;
  inside.group_ = title;
  return inside;
}

Option Parser::option(const std::string& name, Target target, const std::string& help,
                      const std::string& type) const {
  CLI::Option* added =
      std::visit([&](auto value) { return app_->add_option(name, value.get(), help); }, target);
  added->group(group_)->type_name(type);
  return Option(added);
}

void Parser::flag(const std::string& name, bool& target, const std::string& help) const {
  app_->add_flag(name, target, help)->group(group_);
}

void Parser::describe(const std::string& name, const std::string& help) const {
  app_->get_option(name)->description(help);
}

void Parser::footer(const std::string& text) const { app_->footer(text); }

bool Parser::called() const { return app_->parsed(); }

std::vector<std::string> Parser::given() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : app_->get_options())
    if (option->get_group() == group_ && option->count() > 0) names.push_back(option->get_name());
  return names;
}

void CommandLine::Delete::operator()(CLI::App* app) const { delete app; }

CommandLine::CommandLine(const std::string& name, const std::string& description, const std::string& version)
    : app_(new CLI::App(description, name)) {
  if (!version.empty()) app_->set_version_flag("-V,--version", name + " " + version);
  app_->formatter(std::make_shared<Formatter>());  // before the commands, which inherit it
  app_->require_subcommand(0, 1);
}

std::string CommandLine::name() const { return app_->get_name(); }

Parser CommandLine::command(const std::string& name, const std::string& description) {
  CLI::App* command = app_->add_subcommand(name, description);
  command
      ->add_option_function<std::string>(
          "--color",
          [](const std::string& when) {
            use_colour(when == "always"  ? Colour::always
                       : when == "never" ? Colour::never
                                         : Colour::automatic);
          },
          "colours: auto (default: on terminals, unless NO_COLOR is set), always or never")
      ->transform(
          CLI::IsMember(std::vector<std::string>{"auto", "always", "never"}, folded_name).description(""))
      ->type_name("auto|always|never");
  return Parser(*command);
}

std::optional<std::string> CommandLine::parse(int argc, const char* const* argv) {
  const auto refused = [this](const Wrong& wrong) {
    const std::vector<CLI::App*> called = app_->get_subcommands();
    const std::string command = called_as() + (called.empty() ? "" : " " + called.front()->get_name());
    return InputError(wrong.place, wrong.rule, command + " --help lists what there is");
  };
  // "poet help solve" is "poet solve --help".
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words.front() == "help" && !app_->get_subcommands({}).empty()) {
    words.erase(words.begin());
    const std::vector<std::string> commands = known_names(*app_, "");
    if (!words.empty() && std::ranges::find(commands, words.front()) == commands.end())
      throw refused({words.front(), "unknown command" + did_you_mean(words.front(), commands)});
    words.emplace_back("--help");
  }
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  try {
    app_->parse(std::move(words));
  } catch (const CLI::CallForVersion& version) {
    return std::string(version.what()) + "\n";
  } catch (const CLI::CallForHelp&) {
    return fitted_lines(compact(app_->help()));
  } catch (const CLI::ExtrasError&) {
    throw refused(unknown(*app_, app_->get_subcommands().empty()));
  } catch (const CLI::ParseError& error) {
    const Wrong wrong = in_words(error.what());
    if (wrong.says_all) throw InputError(wrong.place, wrong.rule);
    throw refused(wrong);
  }
  return std::nullopt;
}

}  // namespace poet::cli
