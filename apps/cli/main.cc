// The program `poet`: the command line around the library. Every error ends here, as one line on stderr.

#include <memory>
#include <vector>

#include "apps/cli/command.h"
#include "apps/shared/called_as.h"
#include "apps/shared/errors.h"
#include "poet/version.h"

namespace {

int run(int argc, char** argv) {
  using namespace poet::cli;  // NOLINT(google-build-using-namespace): of this function
  set_called_as(argc > 0 ? argv[0] : nullptr);
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

int main(int argc, char** argv) {
  poet::cli::set_up_signals();
  poet::cli::report_errors_as_json(argc, argv);
  return poet::cli::exit_code_of([&] { return run(argc, argv); });
}
