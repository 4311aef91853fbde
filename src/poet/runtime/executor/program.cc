#include "poet/runtime/executor/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "poet/base/error.h"
#include "poet/graph/parts.h"

namespace poet::runtime {
namespace {

constexpr Bytes kCacheLine{64};
constexpr Bytes kLeastAlignment{4};  // of float32

/// So many bytes more give room for an aligned block of the asked-for size at any address that the device's
/// alignment allows.
Bytes alignment_slack(Bytes alignment) { return alignment < kCacheLine ? kCacheLine - alignment : Bytes(0); }

std::byte* aligned(std::byte* address) {
  const auto line = static_cast<std::uintptr_t>(kCacheLine.value());
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  return address + ((number + line - 1) / line * line - number);
}

bool is_view(const Value& value) { return value.alias_of.valid(); }

/// Values one after another without gaps, and still aligned: those whose sizes are multiples of larger powers
/// of two come first.
std::vector<ValueId> packing_order(const Graph& graph, std::vector<ValueId> values) {
  const auto power = [&graph](ValueId v) {
    const auto size = static_cast<std::uint64_t>(graph.values[v].bytes.value());
    return std::min(std::countr_zero(size), std::countr_zero(std::uint64_t{64}));
  };
  std::stable_sort(values.begin(), values.end(), [&](ValueId a, ValueId b) { return power(a) > power(b); });
  return values;
}

Bytes total(const Graph& graph, const std::vector<ValueId>& values) {
  Bytes sum{};
  for (const ValueId v : values) sum += graph.values[v].bytes;
  return sum;
}

/// Returns the values with rows, in order, by the name of the input that has their indices.
std::map<std::string, std::vector<ValueId>> by_indices(const Graph& graph) {
  std::map<std::string, std::vector<ValueId>> found;
  for (const ValueId v : ids<ValueId>(graph.values.size()))
    if (graph.values[v].rows) found[graph.values[v].rows->indices].push_back(v);
  return found;
}

/// Returns the ops that bring the row indices of `table`. Throws InputError if there are none, or their
/// values do not have `count` indices.
std::vector<OpId> inputs_named(const Graph& graph, const std::string& name, const std::string& table,
                               std::size_t count) {
  std::vector<OpId> found;
  for (const OpId op : ids<OpId>(graph.ops.size())) {
    if (graph.ops[op].kind != "input") continue;
    const Value& value = graph.values[graph.ops[op].outputs.at(0)];
    if (tensor_name(value) != name) continue;
    found.push_back(op);
    if (value.dtype != DType::int32 || element_count(tensor_shape(value)) != static_cast<std::int64_t>(count))
      throw InputError(fmt::format("input '{}'", name),
                       fmt::format("must be int32 with {} indices, one per row", count));
  }
  if (found.empty())
    throw InputError(fmt::format("input '{}'", name),
                     fmt::format("is missing; table '{}' is indexed by it", table));
  return found;
}

/// Returns the bytes that the row indices of a step occupy.
Bytes indices_of(const Graph& graph) {
  Bytes sum;
  for (const auto& [name, values] : by_indices(graph))
    sum += byte_count({tensor_shape(graph.values[values.front()])[0]}, DType::int32);
  return sum;
}

void align_as_needed(Instance& instance) {
  if (instance.costs.alignment >= kLeastAlignment) return;
  instance.costs.alignment = kLeastAlignment;
  align_sizes(instance.graph, instance.costs);
}

std::byte* at(std::byte* begin, Bytes offset) { return begin + offset.value(); }

std::span<std::byte> tail(const Memory& memory, Bytes from) {
  return memory.bytes().subspan(static_cast<std::size_t>(from.value()));
}

}  // namespace

/// The address of every value as a plan's steps go by.
class Program::Places {
 public:
  /// `fixed` are the addresses of values outside the arena. Throws InputError if the plan's addresses are not
  /// aligned to 4 bytes.
  Places(const Graph& graph, const std::vector<Allocation>& allocations,
         const IdVector<ValueId, std::byte*>& fixed, std::byte* arena)
      : storage_of_(storages(graph)), allocations_(allocations), place_(fixed), arena_(arena) {
    for (const Allocation& allocation : allocations)
      if (allocation.offset % kLeastAlignment.value() != 0)
        throw InputError("the plan's addresses", "must be multiples of 4, the size of a number");
  }

  [[nodiscard]] void* of(ValueId v) const {
    std::byte* address = place_[storage_of_[v]];
    return address != nullptr ? address : arena_;  // tensors without elements have no address
  }

  /// Takes up the allocations that begin with `step`; to be called for every step in order. Returns the
  /// address of the step's workspace, or null.
  std::byte* begin(int step) {
    std::byte* workspace = nullptr;
    for (; next_ < allocations_.size() && allocations_[next_].begin == step; ++next_) {
      const Allocation& allocation = allocations_[next_];
      std::byte* address = arena_ + allocation.offset;
      if (allocation.value.valid())
        place_[allocation.value] = address;
      else
        workspace = address;
    }
    return workspace;
  }

 private:
  IdVector<ValueId, ValueId> storage_of_;
  const std::vector<Allocation>& allocations_;  // in the order of their beginnings
  IdVector<ValueId, std::byte*> place_;
  std::byte* arena_;
  std::size_t next_ = 0;
};

Program::Program(const PlanFile& file, const KernelOptions& options)
    : file_(file),
      fixed_(file.instance.graph.values.size(), nullptr),
      own_slots_(page_slots(file.instance.graph, std::array{pager_of(file)})),
      slots_(&*own_slots_) {
  make_kernels(options);
  map_memory();
  lay_out_tables();
  prepare();
}

Program::Program(const PlanFile& file, const KernelOptions& options, const PageSlots& slots)
    : file_(file), fixed_(file.instance.graph.values.size(), nullptr), slots_(&slots) {
  make_kernels(options);
  map_memory();
  lay_out_tables();
  prepare();
}

Program::Program(const PlanFile& file, const KernelOptions& options, const Program& host,
                 const IdVector<ValueId, ValueId>& of_host)
    : file_(file),
      fixed_(file.instance.graph.values.size(), nullptr),
      own_slots_(page_slots(file.instance.graph, std::array{pager_of(file)})),
      slots_(&*own_slots_) {
  make_kernels(options);
  use_memory_of(host, of_host);
  prepare();
}

std::span<std::byte> Program::arena() const { return {arena_, static_cast<std::size_t>(map_.arena.value())}; }

void Program::make_kernels(const KernelOptions& options) {
  const Graph& graph = file_.instance.graph;
  verify(graph);  // kernels believe it
  for (const OpId op : ids<OpId>(graph.ops.size())) {
    const bool is_input = graph.ops[op].kind == "input";
    kernels_.push_back(is_input ? nullptr : make_kernel(graph, op, options));
  }
}

void Program::map_memory() {
  const Graph& graph = file_.instance.graph;
  const CostTable& costs = file_.instance.costs;
  std::vector<ValueId> counted, excluded;
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const Value& value = graph.values[v];
    const Bytes needed = byte_count(value.shape, value.dtype);
    if (needed > value.bytes || (needed < value.bytes && !is_view(value)))
      throw InputError(fmt::format("value {} \"{}\"", v.index, value.name),
                       fmt::format("has {} bytes, its shape needs {}", value.bytes.value(), needed.value()));
    if (is_view(value) || value.bytes == Bytes(0)) continue;
    if (costs.values[v].bytes == Bytes(0)) {
      excluded.push_back(v);
    } else if (costs.values[v].bytes < value.bytes) {
      throw InputError(fmt::format("value {} \"{}\"", v.index, value.name),
                       fmt::format("has {} bytes, the plan's costs give it {}", value.bytes.value(),
                                   costs.values[v].bytes.value()));
    } else if (is_resident(value)) {
      counted.push_back(v);
    }
  }
  map_.arena = file_.layout.arena;
  const Bytes indices = indices_of(graph);
  map_.persistent = total(graph, counted) + indices;
  map_.excluded = total(graph, excluded);
  if (map_.persistent > costs.persistent)
    throw InputError("persistent_bytes", fmt::format("are {}, the plan's persistent values need {}",
                                                     costs.persistent.value(), map_.persistent.value()));

  const Bytes arena_end = rounded_up(map_.arena, kCacheLine);
  memory_ = std::make_unique<Memory>(arena_end + map_.persistent);
  arena_ = memory_->bytes().data();
  std::byte* next = tail(*memory_, arena_end).data();
  indices_ = {reinterpret_cast<std::int32_t*>(next),
              static_cast<std::size_t>(indices.value()) / sizeof(std::int32_t)};
  next = at(next, indices);
  for (const ValueId v : packing_order(graph, counted)) {
    fixed_[v] = next;
    next = at(next, graph.values[v].bytes);
  }

  map_.workspace = unplanned_workspace();
  outside_ = std::make_unique<Memory>(rounded_up(map_.workspace, kCacheLine) + map_.excluded);
  workspace_ = outside_->bytes().data();
  next = tail(*outside_, rounded_up(map_.workspace, kCacheLine)).data();
  for (const ValueId v : packing_order(graph, excluded)) {
    fixed_[v] = next;
    next = at(next, graph.values[v].bytes);
  }
}

void Program::use_memory_of(const Program& host, const IdVector<ValueId, ValueId>& of_host) {
  const Graph& graph = file_.instance.graph;
  map_.arena = file_.layout.arena;
  if (map_.arena > host.map_.arena)
    throw InputError("the validation's plan", fmt::format("has an arena of {} bytes, the training's has {}",
                                                          map_.arena.value(), host.map_.arena.value()));
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    const Value& value = graph.values[v];
    if (is_persistent(value.persistence) && !is_view(value) && !value.paged)
      fixed_[v] = host.fixed_[of_host[v]];
  }
  arena_ = host.arena_;
  workspace_ = host.workspace_;
  // No step is under way that needs its numbers of rows.
  indices_ = host.indices_;
  lay_out_tables();
  for (const ValueId v : ids<ValueId>(graph.values.size()))
    if (row_transfers_[v]) {
      const auto& of_training = host.row_transfers_[of_host[v]];
      if (!of_training)
        throw InputError("the validation's plan",
                         fmt::format("loads rows of \"{}\", the training's does not", graph.values[v].name));
      row_transfers_[v]->table = of_training->table;
    }
  const Bytes workspace = unplanned_workspace();
  if (workspace <= host.map_.workspace) return;
  map_.workspace = workspace;
  outside_ = std::make_unique<Memory>(rounded_up(workspace, kCacheLine));
  workspace_ = outside_->bytes().data();
}

/// A kernel's workspace for which the plan has no room is taken outside, once for all.
Bytes Program::unplanned_workspace() const {
  const CostTable& costs = file_.instance.costs;
  Bytes most{};
  for (const OpId op : ids<OpId>(kernels_.size())) {
    if (!kernels_[op]) continue;
    const Bytes needed = kernels_[op]->workspace();
    if (needed > Bytes(0) && costs.ops[op].workspace < needed + alignment_slack(costs.alignment))
      most = std::max(most, needed);
  }
  return most;
}

void Program::lay_out_tables() {
  const Graph& graph = file_.instance.graph;
  for (std::size_t i = 0; i < graph.values.size(); ++i) row_transfers_.push_back(nullptr);
  std::map<std::string, std::size_t> tables;  // by the name of what is at home
  std::span<std::int32_t> left = indices_;
  for (const auto& [name, values] : by_indices(graph)) {
    IndexList list;
    const auto count = static_cast<std::size_t>(tensor_shape(graph.values[values.front()])[0]);
    list.inputs = inputs_named(graph, name, graph.values[values.front()].rows->table, count);
    list.numbers = left.first(count);
    left = left.subspan(count);
    for (const ValueId v : values) {
      const Value& rows = graph.values[v];
      const TableSize size{rows.rows->of, byte_count({rows.shape[1]}, rows.dtype)};
      const auto [table, is_new] = tables.emplace(at_home(rows).name, tables_.size());
      if (is_new) {
        tables_.push_back(size);
        table_owners_.push_back(v);
      }
      const TableSize& of_table = tables_[table->second];
      if (of_table.rows != size.rows || of_table.row != size.row)
        throw InputError(fmt::format("value {} \"{}\"", v.index, rows.name),
                         fmt::format("has rows of another \"{}\" than other values have", table->first));
      if (stands_for_home(rows)) table_owners_[table->second] = v;
      list.rows = list.rows == 0 ? size.rows : std::min(list.rows, size.rows);
      const auto first = static_cast<std::size_t>(rows.part ? rows.part->begin[0] : 0);
      const auto of_value = list.numbers.subspan(first, static_cast<std::size_t>(rows.shape[0]));
      row_checksums_.emplace_back(of_value.size(), 0);
      row_transfers_[v] = std::make_unique<RowTransfer>(
          RowTransfer{table->second, size.row, of_value, row_checksums_.back()});
    }
    index_lists_.push_back(std::move(list));
  }
}

void Program::start_rows(std::int64_t step) const {
  for (const auto& transfer : row_transfers_) {
    if (!transfer) continue;
    transfer->step = step;
    transfer->written = false;
  }
}

std::span<void* const> Program::pointers(const Places& places, const std::vector<ValueId>& values) {
  std::vector<void*>& list = pointers_.emplace_back();
  for (const ValueId v : values) list.push_back(places.of(v));
  return list;
}

void Program::prepare_transfer(PreparedStep& prepared, const Places& places) {
  prepared.rows = row_transfers_[prepared.value].get();
  if (prepared.rows == nullptr) {
    prepared.slot = slots_->home[prepared.value].slot;
    prepared.other_slot = slots_->home[prepared.value].other_slot;
  }
  prepared.data = static_cast<std::byte*>(places.of(prepared.value));
  ++transfers_;
}

std::byte* Program::workspace_of(OpId op, std::byte* planned) const {
  const Kernel* kernel = kernels_[op].get();
  if (kernel == nullptr || kernel->workspace() <= Bytes(0)) return nullptr;
  const CostTable& costs = file_.instance.costs;
  const Bytes with_slack = kernel->workspace() + alignment_slack(costs.alignment);
  const bool is_planned = planned != nullptr && costs.ops[op].workspace >= with_slack;
  return is_planned ? aligned(planned) : workspace_;
}

void Program::prepare() {
  const Graph& graph = file_.instance.graph;
  Places places(graph, file_.layout.allocations, fixed_, arena_);
  IdVector<OpId, char> computed(graph.ops.size(), 0);
  pointers_.reserve(3 * file_.plan.steps.size());
  steps_.reserve(file_.plan.steps.size());
  for (int i = 0; i < static_cast<int>(file_.plan.steps.size()); ++i) {
    const Step& step = file_.plan.steps[static_cast<std::size_t>(i)];
    PreparedStep prepared;
    prepared.kind = step.kind;
    prepared.op = step.op;
    prepared.value = step.value;
    // A result may lie over an operand, so operands are looked up before the step's allocations begin.
    if (step.kind == StepKind::compute) prepared.call.inputs = pointers(places, graph.ops[step.op].inputs);
    std::byte* const workspace = places.begin(i);
    switch (step.kind) {
      case StepKind::page_out:
      case StepKind::page_in:
        prepare_transfer(prepared, places);
        break;
      case StepKind::compute:
        prepared.kernel = kernels_[step.op].get();
        prepared.first = computed[step.op] == 0;
        computed[step.op] = 1;
        prepared.call.outputs = pointers(places, graph.ops[step.op].outputs);
        prepared.call.updates = pointers(places, graph.ops[step.op].updates);
        prepared.call.workspace = workspace_of(step.op, workspace);
        break;
      case StepKind::wait:
      case StepKind::free:
        break;
    }
    steps_.push_back(prepared);
  }
}

void charge_workspaces(Instance& instance, const KernelOptions& options) {
  const Graph& graph = instance.graph;
  align_as_needed(instance);
  for (const OpId op : ids<OpId>(graph.ops.size())) {
    if (graph.ops[op].kind == "input") continue;
    Bytes needed = make_kernel(graph, op, options)->workspace();
    if (needed > Bytes(0)) needed += alignment_slack(instance.costs.alignment);
    Bytes& planned = instance.costs.ops[op].workspace;
    planned = std::max(planned, rounded_up(needed, instance.costs.alignment));
  }
}

void charge_workspaces_as(const Instance& training, Instance& instance, const KernelOptions& options) {
  Instance charged = training;
  charge_workspaces(charged, options);
  const auto less = [&](OpId op) {
    return training.costs.ops[op].workspace < charged.costs.ops[op].workspace;
  };
  bool has_room = true;
  for (const OpId op : ids<OpId>(training.graph.ops.size())) has_room = has_room && !less(op);
  if (has_room)
    charge_workspaces(instance, options);
  else
    align_as_needed(instance);
}

}  // namespace poet::runtime
