// poet import: what an ONNX file holds, as the planner sees it.

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

#include "apps/cli/command.h"
#include "apps/cli/import/import_report.h"
#include "apps/shared/activity.h"
#include "apps/shared/amounts.h"
#include "apps/shared/inputs.h"
#include "apps/shared/output.h"
#include "poet/autodiff/differentiate.h"
#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/base/write_file.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/json_reader.h"
#include "poet/pipeline/network.h"
#include "poet/pipeline/pose.h"

namespace poet::cli {
namespace {

class Import final : public Command {
 public:
  explicit Import(CommandLine& program)
      : Command(program.command("import", "inspect an ONNX file, or convert it to an instance")) {
    parser_.option("FILE.onnx", file_, "ONNX file to read", "").required();
    parser_.option("--batch-size", options_.batch_size,
                   "samples per training step (default: the file's batch size, or 1)", "N");
    add_onnx_options(parser_, options_);
    parser_.option("-o,--instance-out", out_,
                   "write the training step with its costs as an instance file; needs --platform",
                   "FILE.json");
    parser_.option("--platform", options_.platform,
                   "-o only: device, a name (poet devices lists them) or a profile file", "DEVICE|FILE.json");
    parser_.option("--optimizer", options_.optimizer,
                   "-o only: optimizer: sgd (default), momentum, adam or adamw", "sgd|momentum|adam|adamw");
    parser_.option(
        "--trainable", options_.trainable,
        "train only parameters whose names match; a name without wildcards may be that of a constant",
        "PATTERN");
    parser_.option("--op-limit", op_limit_,
                   "reject files whose training step has more ops (default: no limit)", "N");
    parser_.flag("--operators", every_op_, "list every operator with its shapes, not only totals by kind");
    parser_.flag("--parameters", every_parameter_, "list the values that stay in RAM between steps, by name");
    parser_.flag("--json", json_, "print one JSON object instead of text");
  }

  int run() override {
    options_.onnx = file_;
    if (out_ && !options_.platform)
      throw InputError("-o", "needs --platform: an instance has the costs of a device");
    if (options_.platform && !out_) throw InputError("--platform", "is for the instance that -o writes");
    if (!out_ && options_.optimizer) throw InputError("--optimizer", "is for the instance that -o writes");
    if (out_) check_writable("-o", *out_);
    std::optional<Activity> activity(std::in_place, "reading " + file_);
    ImportedModel model = read_onnx(options_);
    if (options_.trainable) leave_alone(model, *options_.trainable);
    check_ops(model.forward);
    const Contents contents = measure(model.forward);
    if (out_) write_file(*out_, json_text(to_json(instance()), 1) + "\n");
    activity.reset();
    if (json_)
      print_answer(import_json(file_, model, contents));
    else
      print_text(import_text(file_, model, contents, every_op_, every_parameter_));
    return kAnswer;
  }

 private:
  Instance instance() const {
    return load(network_spec(options_), device_spec(options_), policy_of(options_)).instance;
  }

  static void leave_alone(ImportedModel& model, const std::string& trainable) {
    for (Value& value : model.forward.values) {
      if (value.persistence != Persistence::parameter || matches(trainable, value.name)) continue;
      value.persistence = Persistence::optimizer_state;
      model.reasons[value.name] = "--trainable does not match it";
    }
  }

  void check_ops(const Graph& forward) const {
    if (!op_limit_) return;
    const std::int64_t most = parse_count("--op-limit", *op_limit_);
    const auto ops = static_cast<std::int64_t>(differentiate(forward).ops.size());
    if (ops > most)
      throw InputError("--op-limit", fmt::format("the training step has {} ops, more than {}",
                                                 format_count(ops), format_count(most)));
  }

  std::string file_;
  InputOptions options_;
  std::optional<std::string> out_, op_limit_;
  bool every_op_ = false;
  bool every_parameter_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_import(CommandLine& program) { return std::make_unique<Import>(program); }

}  // namespace poet::cli
