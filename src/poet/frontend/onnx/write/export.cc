#include "poet/frontend/onnx/export.h"

#include <fmt/format.h>

#include "poet/base/error.h"
#include "poet/base/write_file.h"
#include "poet/frontend/onnx/read/protobuf.h"
#include "poet/frontend/onnx/write/graph_export.h"
#include "poet/frontend/onnx/write/rules.h"
#include "poet/graph/operators/schema.h"

namespace poet {
namespace {

constexpr std::int64_t kOldestOpset = 13;

/// The operands of the loss.
struct LossInputs {
  ValueId output;
  ValueId targets;
};

LossInputs loss_inputs(const Graph& forward) {
  for (const Op& op : forward.ops) {
    if (!is_loss(op)) continue;
    return {op.inputs.at(0), op.inputs.size() > 1 ? storage(forward, op.inputs[1]) : ValueId()};
  }
  throw InputError(forward.name, "has no loss, which determines the output of an ONNX model");
}

void add_op(onnx::GraphExport& to, const Op& op) {
  const onnx::ExportRule rule = onnx::find_export_rule(op.kind);
  if (rule == nullptr) {
    throw InputError(fmt::format("op '{}'", op.name),
                     fmt::format("is a {}, which poet cannot write as ONNX; a network that came from an ONNX "
                                 "file is written with the nodes of that file",
                                 op.kind));
  }
  rule(to, op);
}

}  // namespace

std::string onnx_model_of(const Graph& forward, const WeightLookup& weights, const OnnxOptions& options) {
  if (options.opset < kOldestOpset || options.opset > onnx::kNewestOpset) {
    throw InputError(
        "opset", fmt::format("must be {} to {}, not {}", kOldestOpset, onnx::kNewestOpset, options.opset));
  }
  for (const Value& value : forward.values) {
    if (!value.part) continue;
    throw InputError(fmt::format("tensor '{}'", value.part->tensor),
                     "is in parts: trained weights go into the ONNX file that the network came from");
  }
  const LossInputs loss = loss_inputs(forward);
  onnx::GraphExport to(forward, weights, options);
  for (const Op& op : forward.ops) {
    if (is_loss(op)) {
      to.add_output(loss.output);
    } else if (op.kind == "input") {
      if (op.outputs.at(0) != loss.targets) to.add_input(op.outputs[0]);
    } else if (op.kind != "batch_norm_stats") {  // which is part of a BatchNormalization
      add_op(to, op);
    }
  }
  return to.bytes();
}

void write_onnx(const std::filesystem::path& file, const Graph& forward, const WeightLookup& weights,
                const OnnxOptions& options) {
  write_file(file, onnx_model_of(forward, weights, options));
}

}  // namespace poet
