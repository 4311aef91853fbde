#include "poet/runtime/kernels/bfloat16_operands.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "poet/graph/in_place.h"
#include "poet/graph/operators/schema.h"
#include "poet/runtime/kernels/bfloat16.h"

namespace poet::runtime {
namespace {

constexpr Bytes kAlignment(64);

bool is_bfloat16(const Graph& graph, ValueId v) { return graph.values[v].dtype == DType::bfloat16; }

/// One float32 copy in the workspace.
struct Copy {
  std::size_t operand;  // position in its list
  Bytes offset;
  std::int64_t count;  // of elements
};

/// Where an input is read from in the workspace.
struct Place {
  std::size_t operand;
  Bytes offset;
};

class Bfloat16Operands final : public Kernel {
 public:
  Bfloat16Operands(const Graph& graph, const Op& op, const Float32Op& wide, std::unique_ptr<Kernel> kernel)
      : kernel_(std::move(kernel)),
        size_(rounded_up(kernel_->workspace(), kAlignment)),
        inputs_(op.inputs.size()),
        outputs_(op.outputs.size()) {
    std::map<ValueId, Bytes> places;  // views of one storage share a copy
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (!is_bfloat16(graph, op.inputs[i])) continue;
      const auto [place, is_new] = places.emplace(storage(graph, op.inputs[i]), size_);
      if (is_new) read_.push_back(room_for(graph, op.inputs[i], i));
      replaced_.push_back({i, place->second});
    }
    const std::vector<std::size_t> overwritable = overwritable_inputs(wide.graph, wide.graph.ops[wide.op]);
    const auto over = std::find_if(replaced_.begin(), replaced_.end(), [&](const Place& place) {
      return std::ranges::count(overwritable, place.operand) > 0;
    });
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      if (!is_bfloat16(graph, op.outputs[i])) continue;
      if (i > 0 || over == replaced_.end())  // only the first output may lie over an operand
        written_.push_back(room_for(graph, op.outputs[i], i));
      else
        written_.push_back({i, over->offset, element_count(graph.values[op.outputs[i]].shape)});
    }
  }

  void run(const KernelCall& call) override {
    auto* workspace = static_cast<std::byte*>(call.workspace);
    const auto at = [&](const auto& copy) {
      return reinterpret_cast<float*>(workspace + copy.offset.value());
    };
    std::copy(call.inputs.begin(), call.inputs.end(), inputs_.begin());
    std::copy(call.outputs.begin(), call.outputs.end(), outputs_.begin());
    for (const Copy& copy : read_)
      widen(static_cast<const std::uint16_t*>(call.inputs[copy.operand]), copy.count, at(copy));
    for (const Place& place : replaced_) inputs_[place.operand] = at(place);
    for (const Copy& copy : written_) outputs_[copy.operand] = at(copy);
    KernelCall inner = call;
    inner.inputs = inputs_;
    inner.outputs = outputs_;
    kernel_->run(inner);
    for (const Copy& copy : written_)
      round_to_bfloat16(at(copy), copy.count, static_cast<std::uint16_t*>(call.outputs[copy.operand]));
  }

  [[nodiscard]] Bytes workspace() const override { return size_; }
  [[nodiscard]] std::string implementation() const override {
    return kernel_->implementation() + ", stored as bfloat16";
  }

 private:
  Copy room_for(const Graph& graph, ValueId v, std::size_t operand) {
    const std::int64_t count = element_count(graph.values[storage(graph, v)].shape);
    const Copy copy{operand, size_, count};
    size_ += rounded_up(byte_count({count}, DType::float32), kAlignment);
    return copy;
  }

  std::unique_ptr<Kernel> kernel_;
  Bytes size_;
  std::vector<Copy> read_;       // inputs, each storage once
  std::vector<Place> replaced_;  // every input that is in one of these
  std::vector<Copy> written_;    // outputs
  std::vector<void*> inputs_;    // of the run under way
  std::vector<void*> outputs_;
};

}  // namespace

bool needs_float32_copies(const Graph& graph, OpId id) {
  const Op& op = graph.ops[id];
  const auto stored = [&](ValueId v) { return is_bfloat16(graph, v); };
  bool any = false, all = true;
  for (const auto* list : {&op.inputs, &op.outputs}) {
    any = any || std::any_of(list->begin(), list->end(), stored);
    all = all && std::all_of(list->begin(), list->end(), stored);
  }
  const OperatorSchema* schema = find_operator(op.kind);
  const bool moves = schema != nullptr && schema->moves_elements;
  return any && !(all && moves);
}

Float32Op in_float32(const Graph& graph, OpId id) {
  Float32Op wide;
  std::map<ValueId, ValueId> known;
  const auto taken = [&](ValueId v, const auto& self) -> ValueId {
    if (const auto found = known.find(v); found != known.end()) return found->second;
    Value value = graph.values[v];
    value.producer = OpId();
    if (value.alias_of.valid()) value.alias_of = self(value.alias_of, self);
    if (value.dtype == DType::bfloat16) {
      value.dtype = DType::float32;
      value.bytes = byte_count(value.shape, DType::float32);
    }
    return known[v] = wide.graph.values.push_back(std::move(value));
  };
  Op op = graph.ops[id];
  for (std::vector<ValueId>* list : {&op.inputs, &op.outputs, &op.updates})
    for (ValueId& v : *list) v = taken(v, taken);
  wide.graph.name = graph.name;
  wide.op = wide.graph.ops.push_back(std::move(op));
  for (const ValueId v : wide.graph.ops[wide.op].outputs) wide.graph.values[v].producer = wide.op;
  return wide;
}

std::unique_ptr<Kernel> with_bfloat16_operands(const Graph& graph, OpId op, const Float32Op& wide,
                                               std::unique_ptr<Kernel> kernel) {
  return std::make_unique<Bfloat16Operands>(graph, graph.ops[op], wide, std::move(kernel));
}

}  // namespace poet::runtime
