#include "tests/support/runtime_interpreter.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "poet/graph/strides.h"
#include "poet/runtime/kernels/bfloat16.h"
#include "poet/runtime/kernels/kernel.h"
#include "poet/runtime/kernels/kernel_options.h"

namespace poet::test {
namespace {

constexpr std::size_t kGuard = 128;
// NaN, as floats: what reads outside, or what nobody has written, spoils its result.
constexpr std::byte kGuardByte{0xFF};
constexpr std::byte kUnwritten = kGuardByte;

/// Calls f(element in row-major order, its place in storage).
template <class F>
void for_each_element(const Value& value, const F& f) {
  const Shape strides = value.strides.empty() ? row_major_strides(value.shape) : value.strides;
  for (std::int64_t i = 0; i < element_count(value.shape); ++i) {
    std::int64_t rest = i;
    std::int64_t place = 0;
    for (std::size_t axis = value.shape.size(); axis-- > 0;) {
      place += rest % value.shape[axis] * strides[axis];
      rest /= value.shape[axis];
    }
    f(static_cast<std::size_t>(i), static_cast<std::size_t>(place));
  }
}

template <class T>
void put(std::byte* to, std::size_t place, double number) {
  const T rounded = static_cast<T>(number);
  std::memcpy(to + place * sizeof rounded, &rounded, sizeof rounded);
}
template <class T>
double take(const std::byte* from, std::size_t place) {
  T number;
  std::memcpy(&number, from + place * sizeof number, sizeof number);
  return static_cast<double>(number);
}

}  // namespace

GuardedBuffer::GuardedBuffer(std::size_t size, std::size_t offset)
    : memory_(size + 2 * kGuard + 128, kGuardByte), size_(size) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory_.data()) + kGuard;
  const std::uintptr_t aligned = (begin + 63) / 64 * 64 + offset;
  data_ = memory_.data() + (aligned - reinterpret_cast<std::uintptr_t>(memory_.data()));
  std::fill_n(data_, size_, kUnwritten);
}

bool GuardedBuffer::intact() const {
  const auto is_guard = [](std::byte b) { return b == kGuardByte; };
  const std::byte* const begin = memory_.data();
  return std::all_of(begin, static_cast<const std::byte*>(data_), is_guard) &&
         std::all_of(static_cast<const std::byte*>(data_) + size_, begin + memory_.size(), is_guard);
}

std::unique_ptr<runtime::Kernel> reference_kernel(const Graph& graph, OpId op) {
  return runtime::make_kernel(graph, op, {runtime::KernelLibrary::reference, 1, ""});
}

RuntimeInterpreter::RuntimeInterpreter(const Graph& graph, const MakeKernel& make, std::size_t offset)
    : graph_(graph), buffers_(graph.values.size()), kernels_(graph.ops.size()) {
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    if (storage(graph, v) != v) continue;
    const auto size = static_cast<std::size_t>(graph.values[v].bytes.value());
    buffers_[v] = std::make_shared<GuardedBuffer>(size, offset);
  }
  Bytes most;
  for (const OpId op : ids<OpId>(graph.ops.size())) {
    if (graph.ops[op].kind == "input") continue;
    kernels_[op] = make(graph, op);
    most = std::max(most, kernels_[op]->workspace());
  }
  workspace_ = std::make_unique<GuardedBuffer>(static_cast<std::size_t>(most.value()), 0);
}

void RuntimeInterpreter::share(ValueId v, ValueId other) {
  buffers_[storage(graph_, v)] = buffers_[storage(graph_, other)];
}

void RuntimeInterpreter::set(ValueId v, const std::vector<double>& data) {
  const Value& value = graph_.values[v];
  std::byte* const to = buffer(v).data();
  for_each_element(value, [&](std::size_t i, std::size_t place) {
    switch (value.dtype) {
      case DType::float32:
        return put<float>(to, place, data.at(i));
      case DType::int32:
        return put<std::int32_t>(to, place, data.at(i));
      case DType::int64:
        return put<std::int64_t>(to, place, data.at(i));
      case DType::uint8:
        return put<std::uint8_t>(to, place, data.at(i));
      case DType::bfloat16:
        return put<std::uint16_t>(to, place, runtime::rounded_to_bfloat16(static_cast<float>(data.at(i))));
    }
  });
}

std::vector<double> RuntimeInterpreter::get(ValueId v) const {
  const Value& value = graph_.values[v];
  const std::byte* const from = buffer(v).data();
  std::vector<double> data(static_cast<std::size_t>(element_count(value.shape)));
  for_each_element(value, [&](std::size_t i, std::size_t place) {
    switch (value.dtype) {
      case DType::float32:
        data[i] = take<float>(from, place);
        return;
      case DType::int32:
        data[i] = take<std::int32_t>(from, place);
        return;
      case DType::int64:
        data[i] = take<std::int64_t>(from, place);
        return;
      case DType::uint8:
        data[i] = take<std::uint8_t>(from, place);
        return;
      case DType::bfloat16:
        data[i] = static_cast<double>(
            runtime::widened(static_cast<std::uint16_t>(take<std::uint16_t>(from, place))));
        return;
    }
  });
  return data;
}

std::vector<std::byte> RuntimeInterpreter::bytes(ValueId v) const {
  return {buffer(v).data(), buffer(v).data() + buffer(v).size()};
}

runtime::KernelCall RuntimeInterpreter::call(OpId id, std::int64_t step, std::uint64_t seed) {
  const auto find = [this](const std::vector<ValueId>& values, std::vector<void*>& addresses) {
    addresses.clear();
    for (const ValueId v : values) addresses.push_back(buffer(v).data());
  };
  find(graph_.ops[id].inputs, inputs_);
  find(graph_.ops[id].outputs, outputs_);
  find(graph_.ops[id].updates, updates_);
  std::fill_n(workspace_->data(), workspace_->size(), kUnwritten);
  return {inputs_, outputs_, updates_, workspace_->data(), step, 1.0, seed};
}

void RuntimeInterpreter::run_op(OpId id, std::int64_t step, std::uint64_t seed) {
  if (kernels_[id]) kernels_[id]->run(call(id, step, seed));
}

void RuntimeInterpreter::run(std::int64_t step, std::uint64_t seed) {
  for (const OpId op : ids<OpId>(graph_.ops.size())) run_op(op, step, seed);
}

bool RuntimeInterpreter::intact() const {
  return workspace_->intact() && std::all_of(buffers_.begin(), buffers_.end(), [](const auto& each) {
           return each == nullptr || each->intact();
         });
}

Graph lone_op(const Graph& graph, OpId id) {
  Graph alone;
  alone.name = graph.ops[id].name;
  Op op = graph.ops[id];
  std::map<ValueId, ValueId> known;
  const auto copy = [&](ValueId v) {
    const auto [entry, is_new] = known.emplace(v, ValueId());
    if (!is_new) return entry->second;
    Value value = graph.values[v];
    value.alias_of = ValueId();
    value.producer = OpId();
    return entry->second = alone.values.push_back(std::move(value));
  };
  for (ValueId& v : op.inputs) {
    const bool is_new = !known.contains(v);
    v = copy(v);
    if (!is_new || is_persistent(alone.values[v].persistence)) continue;
    Op source;
    source.name = "source" + std::to_string(v.index);
    source.kind = "input";
    source.outputs = {v};
    source.recomputable = false;
    alone.values[v].producer = alone.ops.push_back(source);
  }
  for (ValueId& v : op.updates) v = copy(v);
  for (ValueId& v : op.outputs) {
    v = copy(v);
    alone.values[v].producer = alone.ops.next_id();
  }
  alone.ops.push_back(std::move(op));
  return alone;
}

}  // namespace poet::test
