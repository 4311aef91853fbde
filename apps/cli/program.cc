#include "apps/cli/program.h"

#include <filesystem>
#include <memory>
#include <vector>

#include "apps/cli/command.h"
#include "apps/shared/called_as.h"
#include "apps/shared/errors.h"
#include "poet/version.h"

namespace poet::cli {
namespace {

int run_commands_of(int argc, const char* const* argv, const std::filesystem::path& file) {
  set_called_as(argc > 0 ? argv[0] : nullptr, file);
  CommandLine program("poet",
                      "poet: the training schedule of least energy that fits a device's RAM and deadline",
                      poet::version());
  program.parser().footer("poet COMMAND --help describes a command.");
  std::vector<std::unique_ptr<Command>> commands;
  for (const auto make :
       {make_solve, make_explain, make_compare, make_run, make_profile, make_verify, make_show, make_codegen,
        make_card, make_import, make_weights, make_sweep, make_serve, make_reproduce, make_pack, make_models,
        make_devices, make_completion, make_manual})
    commands.push_back(make(program));
  return run_commands(program, commands,
                      "solve, run, codegen, card, profile, verify, show, explain, compare, import, weights, "
                      "sweep, serve, reproduce, pack, models, devices, completion or manual",
                      argc, argv);
}

}  // namespace

int run_program(int argc, const char* const* argv, const char* file) {
  set_up_signals();
  report_errors_as_json(argc, argv);
  return exit_code_of([&] { return run_commands_of(argc, argv, file); });
}

}  // namespace poet::cli
