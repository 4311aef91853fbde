// poet profile: measures this machine for one network and writes a device profile.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/cli/command.h"
#include "apps/cli/inputs.h"
#include "apps/cli/options.h"
#include "apps/cli/output.h"
#include "apps/cli/profiling.h"
#include "poet/base/error.h"
#include "poet/base/write_file.h"
#include "poet/cost/instance_json.h"

namespace poet::cli {
namespace {

class Profile final : public Command {
 public:
  explicit Profile(CLI::App& parent) {
    app_ = parent.add_subcommand("profile", "measure this machine for a network: a device profile");
    const auto add = [this](const std::string& name, std::optional<std::string>& value,
                            const std::string& help, const std::string& type) {
      app_->add_option(name, value, help)->group("What to measure")->type_name(type);
    };
    add("--model", input_.model, "a built-in network (poet models lists them)", "NAME");
    add("--onnx", input_.onnx, "or a network from an ONNX file", "FILE");
    add_onnx_options(*app_, input_, "What to measure");
    add("--instance", input_.instance, "or the graph of an instance file (poet import -o)", "FILE");
    add("--batch-size", input_.batch_size, "samples per training step (default 1)", "N");
    add("--sequence-length", input_.sequence_length, "tokens per sample, for bert and transformer", "N");
    add("--optimizer", input_.optimizer, "sgd (default), momentum or adam", "NAME");
    add("--trainable", input_.trainable, "train these parameters only", "PATTERN");
    add_profiling_options(*app_, options_);
    app_->add_flag("--json", json_, "the profile on stdout, too")->group("Output");
    app_->footer(
        "Times every kind and shape of operator inside whole training steps (where they fit the RAM), the\n"
        "storage in both directions, whether it runs beside compute, and power where a sensor can be read.\n"
        "Example:\n"
        "  poet profile --model resnet18_cifar --batch-size 8 -o here.json\n"
        "  poet solve --model resnet18_cifar --batch-size 8 --platform here.json --ram-budget 80MB");
  }

  int run() override {
    if (!options_.output) throw InputError("-o FILE.json is needed: where to write the profile");
    check_writable("-o", *options_.output);
    const Graph training = input_.instance ? instance_graph() : load_network(input_).training;
    const Profiled profiled = profile_machine(training, options_);
    write_file(*options_.output, to_json(profiled.device).dump(1) + "\n");
    if (json_)
      print_answer(to_json(profiled.device));
    else
      print_answer(profile_text(profiled, *options_.output));
    return kAnswer;
  }

 private:
  Graph instance_graph() const {
    if (input_.model || input_.onnx || input_.batch_size || input_.optimizer || input_.trainable)
      throw InputError("--instance", "has its graph: it goes with no other option that names or changes one");
    return read_instance(*input_.instance).graph;
  }

  InputOptions input_;
  ProfilingOptions options_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_profile(CLI::App& parent) { return std::make_unique<Profile>(parent); }

}  // namespace poet::cli
