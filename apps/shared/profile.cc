// poet profile: measures this machine for one network and writes a device profile.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "apps/shared/amounts.h"
#include "apps/shared/command.h"
#include "apps/shared/inputs.h"
#include "apps/shared/output.h"
#include "apps/shared/profiling.h"
#include "poet/base/error.h"
#include "poet/base/write_file.h"
#include "poet/pipeline/network.h"
#include "poet/split/split.h"

namespace poet::cli {
namespace {

class Profile final : public Command {
 public:
  explicit Profile(CommandLine& program)
      : Command(program.command("profile", "measure this machine for a network and write a device profile")) {
    const Parser subject = parser_.group("What to measure");
    add_network_options(subject, input_);
    subject.option("--instance", input_.instance, "instance file (poet import -o); instead of --model",
                   "FILE");
    subject.option("--split", split_,
                   "split operators into parts of at most this size, as poet solve --split does: 32KiB",
                   "BYTES");
    add_profiling_options(parser_, options_);
    parser_.group("Output").flag("--json", json_, "also print the profile on stdout");
    parser_.footer(
        "Times every kind and shape of operator inside whole training steps (where they fit the RAM), the\n"
        "storage in both directions, whether it runs beside compute, and power where a sensor can be read.\n"
        "Example:\n"
        "  poet profile --model resnet18_cifar --batch-size 8 -o here.json\n"
        "  poet solve --model resnet18_cifar --batch-size 8 --platform here.json --ram-budget 60MB");
  }

  int run() override {
    if (!options_.output) throw InputError("-o", "is missing: FILE.json, where to write the profile");
    check_writable("-o", *options_.output);
    Graph training = training_graph(network_spec(input_));
    if (split_) training = split(training, {parse_bytes("--split", *split_)});
    const runtime::MachineProfile profiled = profile_machine(training, options_);
    write_file(*options_.output, profile_file(profiled));
    if (json_)
      print_answer(to_json(profiled.device));
    else
      print_text(profile_text(profiled, *options_.output));
    return kAnswer;
  }

 private:
  InputOptions input_;  // of a network
  std::optional<std::string> split_;
  ProfilingOptions options_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_profile(CommandLine& program) { return std::make_unique<Profile>(program); }

}  // namespace poet::cli
