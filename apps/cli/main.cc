// The program `poet`: the command line around the library. Every error ends here, as one line on stderr.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "apps/cli/command.h"
#include "apps/shared/errors.h"
#include "apps/shared/output.h"
#include "poet/report/table.h"
#include "poet/version.h"

namespace {

using poet::cli::complain;
using poet::cli::kBadInput;

/// Descriptions broken at spaces instead of lines that leave the terminal.
class Formatter final : public CLI::Formatter {
 public:
  Formatter() { column_width(kColumn); }
  std::string make_option_desc(const CLI::Option* option) const override {
    return poet::wrapped(option->get_description(), kWidth - kColumn, 0);
  }

 private:
  static constexpr int kColumn = 34;
  static constexpr int kWidth = 110;
};

/// CLI11 separates groups of options by two empty lines; one is enough.
std::string compact(std::string help) {
  for (std::size_t at = help.find("\n\n\n"); at != std::string::npos; at = help.find("\n\n\n"))
    help.erase(at, 1);
  return help;
}

int run(int argc, char** argv) {
  using poet::cli::Command;
  CLI::App app("poet: the training schedule of least energy that fits a device's RAM and deadline", "poet");
  app.set_version_flag("--version", std::string("poet ") + poet::version());
  app.formatter(std::make_shared<Formatter>());  // before the subcommands, which inherit it
  app.require_subcommand(0, 1);
  app.footer("poet COMMAND --help describes a command.");
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(poet::cli::make_solve(app));
  commands.push_back(poet::cli::make_explain(app));
  commands.push_back(poet::cli::make_compare(app));
  commands.push_back(poet::cli::make_run(app));
  commands.push_back(poet::cli::make_profile(app));
  commands.push_back(poet::cli::make_verify(app));
  commands.push_back(poet::cli::make_show(app));
  commands.push_back(poet::cli::make_import(app));
  commands.push_back(poet::cli::make_sweep(app));
  commands.push_back(poet::cli::make_reproduce(app));
  commands.push_back(poet::cli::make_models(app));
  commands.push_back(poet::cli::make_devices(app));
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion& version) {
    poet::cli::print_answer(std::string(version.what()) + "\n");
    return 0;
  } catch (const CLI::CallForHelp&) {
    poet::cli::print_answer(compact(app.help()));
    return 0;
  } catch (const CLI::ExtrasError&) {
    const std::vector<CLI::App*> called = app.get_subcommands();
    const std::vector<std::string> extra = app.remaining(true);
    const std::string first = extra.empty() ? "" : extra.front();
    const bool is_option = first.starts_with("-");
    const std::string place = called.empty() ? "poet" : "poet " + called.front()->get_name();
    const std::string what = is_option ? "option" : called.empty() ? "command" : "argument";
    complain(fmt::format("unknown {} \"{}\" ({} --help lists what there is)", what, first, place));
    return kBadInput;
  } catch (const CLI::ParseError& error) {
    const std::vector<CLI::App*> called = app.get_subcommands();
    const std::string command = called.empty() ? "poet" : "poet " + called.front()->get_name();
    complain(fmt::format("{} ({} --help lists what there is)", error.what(), command));
    return kBadInput;
  }
  for (const std::unique_ptr<Command>& command : commands) {
    if (command->called()) return command->run();
  }
  complain(
      "a command is missing: solve, run, profile, verify, show, explain, compare, import, sweep, reproduce, "
      "models or "
      "devices "
      "(poet --help describes them)");
  return kBadInput;
}

}  // namespace

int main(int argc, char** argv) {
  poet::cli::set_up_signals();
  return poet::cli::exit_code_of([&] { return run(argc, argv); });
}
