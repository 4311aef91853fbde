#include "poet/runtime/executor/evaluation.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <string>

#include "poet/base/error.h"
#include "poet/plan/machine.h"
#include "poet/runtime/data/data_input.h"
#include "poet/runtime/kernels/bfloat16.h"

namespace poet::runtime {
namespace {

bool same_tensor(const Value& a, const Value& b) {
  return a.shape == b.shape && a.dtype == b.dtype && a.paged == b.paged;
}

IdVector<ValueId, ValueId> persistent_by_name(const Graph& graph, const Graph& training) {
  std::map<std::string, ValueId> by_name;
  for (const ValueId v : ids<ValueId>(training.values.size()))
    if (is_persistent(training.values[v].persistence)) by_name.emplace(training.values[v].name, v);
  IdVector<ValueId, ValueId> found(graph.values.size());
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const Value& value = graph.values[v];
    if (!is_persistent(value.persistence) || value.alias_of.valid()) continue;
    const auto other = by_name.find(value.name);
    if (other == by_name.end() || !same_tensor(value, training.values[other->second]))
      throw InputError(fmt::format("value {} \"{}\"", v.index, value.name),
                       "of the validation's plan is none of the training's");
    found[v] = other->second;
  }
  return found;
}

std::int64_t stride(const Value& value, std::size_t axis) {
  if (!value.strides.empty()) return value.strides[axis];
  std::int64_t stride = 1;
  for (std::size_t i = axis + 1; i < value.shape.size(); ++i) stride *= value.shape[i];
  return stride;
}

}  // namespace

Evaluation::Evaluation(const PlanFile& plan, const KernelOptions& kernels, const Graph& training,
                       const Program& host)
    : plan_(plan),
      of_training_(persistent_by_name(plan.instance.graph, training)),
      program_(std::make_unique<Program>(plan, kernels, host, of_training_)),
      row_numbers_(plan.instance.graph, *program_),
      loss_op_(find_loss(plan.instance.graph)),
      batch_(samples_per_step(data_inputs(plan.instance.graph))),
      has_classes_(plan.instance.graph.ops[loss_op_].kind == "softmax_cross_entropy"),
      ticket_(plan.instance.graph.values.size(), 0),
      slot_(plan.instance.graph.values.size(), kNoSlot) {
  for (const Step& step : plan.plan.steps) {
    if (step.kind != StepKind::page_out) continue;
    const Value& value = plan.instance.graph.values[step.value];
    if (is_persistent(value.persistence))
      throw InputError("the validation's plan",
                       fmt::format("writes \"{}\", which only steps do", value.name));
    if (slot_[step.value] != kNoSlot) continue;
    slot_[step.value] = slots_.size();
    slots_.push_back(value.bytes);
  }
}

PassFigures Evaluation::run(const PersistentValues& persistent, TransferQueue* channel, PageFile* pages,
                            const InputSource& inputs, std::int64_t samples) {
  // The plan knows of one channel. Where there are two kinds of pages, none moves beside computing.
  const bool waits = has_waits(plan_.instance, plan_.semantics) && slots_.empty();
  std::uint64_t last = 0;
  found_ = {};
  row_numbers_.read(inputs);
  for (const PreparedStep& step : program_->steps()) {
    switch (step.kind) {
      case StepKind::page_out:
        pages->write(slot_[step.value], step.data);
        break;
      case StepKind::page_in:
        if (slot_[step.value] != kNoSlot) {
          pages->read(slot_[step.value], step.data);
          break;
        }
        last = ticket_[step.value] =
            step.rows != nullptr ? channel->page_in(*step.rows, step.data)
                                 : channel->page_in(persistent.slot_of(of_training_[step.value]), step.data);
        if (!waits) channel->wait(last);
        break;
      case StepKind::wait:
        if (waits) channel->wait(ticket_[step.value]);
        break;
      case StepKind::compute:
        if (step.kernel == nullptr) {
          inputs(step.op, static_cast<std::byte*>(step.call.outputs.front()));
          break;
        }
        // Before it runs: it may write over the logits.
        if (step.op == loss_op_ && has_classes_ && step.first) count_right(step.call, samples);
        step.kernel->run(step.call);
        if (step.op == loss_op_) std::memcpy(&found_.loss, step.call.outputs.front(), sizeof found_.loss);
        break;
      case StepKind::free:
        break;
    }
  }
  if (last > 0) channel->wait(last);
  return found_;
}

std::int64_t Evaluation::rows_per_sample() const {
  const Graph& graph = plan_.instance.graph;
  return graph.values[graph.ops[loss_op_].inputs[0]].shape[0] / batch_;
}

/// The first of equal logits counts, as everywhere.
void Evaluation::count_right(const KernelCall& call, std::int64_t samples) {
  const Graph& graph = plan_.instance.graph;
  const Op& loss = graph.ops[loss_op_];
  const Value& scores = graph.values[loss.inputs[0]];
  const auto logit = [at = call.inputs[0], narrow = scores.dtype == DType::bfloat16](std::int64_t i) {
    return narrow ? widened(static_cast<const std::uint16_t*>(at)[i]) : static_cast<const float*>(at)[i];
  };
  const auto* targets = static_cast<const std::int32_t*>(call.inputs[1]);
  const std::int64_t row_stride = stride(scores, 0), class_stride = stride(scores, 1);
  const std::int64_t target_stride = stride(graph.values[loss.inputs[1]], 0);
  const std::int64_t rows = rows_per_sample() * samples;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t best = 0;
    for (std::int64_t c = 1; c < scores.shape[1]; ++c)
      if (logit(row * row_stride + c * class_stride) > logit(row * row_stride + best * class_stride))
        best = c;
    if (best == targets[row * target_stride]) ++found_.right;
  }
}

}  // namespace poet::runtime
