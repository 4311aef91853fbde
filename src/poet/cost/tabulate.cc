#include "poet/cost/tabulate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <unordered_map>

#include "poet/base/error.h"
#include "poet/cost/instance.h"
#include "poet/graph/parts.h"

namespace poet {
namespace {

/// `stored`: with what is stored as bfloat16 told from float32.
std::string joined_shapes(const Graph& graph, const std::vector<ValueId>& values, bool stored) {
  std::vector<std::string> shapes;
  shapes.reserve(values.size());
  for (const ValueId v : values) {
    const Shape& shape = graph.values[v].shape;
    shapes.push_back(shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x")));
    if (stored && graph.values[v].dtype == DType::bfloat16) shapes.back() += ":bf16";
  }
  return fmt::format("{}", fmt::join(shapes, ","));
}

std::string shapes_of(const Graph& graph, OpId op, bool stored) {
  const Op& o = graph.ops[op];
  return joined_shapes(graph, o.inputs, stored) + "->" +
         joined_shapes(graph, o.outputs.empty() ? o.updates : o.outputs, stored);
}

/// Overrides by kind and shape class, rates by kind.
class Measured {
 public:
  explicit Measured(const DeviceProfile& device) {
    for (const OpOverride& measured : device.overrides)
      by_key_.emplace(key(measured.kind, measured.shape_class), &measured);
    for (const KindRates& rates : device.rates) rates_.emplace(key(rates.kind, rates.depthwise), &rates);
  }
  [[nodiscard]] const KindRates* rates(const Graph& graph, OpId op) const {
    if (rates_.empty()) return nullptr;
    const auto found = rates_.find(key(graph.ops[op].kind, is_depthwise(graph, op)));
    return found == rates_.end() ? nullptr : found->second;
  }
  [[nodiscard]] const OpOverride* find(const Graph& graph, OpId op) const {
    if (by_key_.empty()) return nullptr;
    const std::string& kind = graph.ops[op].kind;
    auto found = by_key_.find(key(kind, shape_class(graph, op)));
    // Without figures of bfloat16: an op computes with float32 in any case.
    if (found == by_key_.end()) found = by_key_.find(key(kind, shapes_of(graph, op, false)));
    return found == by_key_.end() ? nullptr : found->second;
  }

 private:
  static std::string key(const std::string& kind, const std::string& shapes) { return kind + '\n' + shapes; }
  static std::string key(const std::string& kind, bool depthwise) {
    return depthwise ? kind + " depthwise" : kind;
  }
  std::unordered_map<std::string, const OpOverride*> by_key_;
  std::unordered_map<std::string, const KindRates*> rates_;
};

/// `amount` at `per_second`, where 0 is no limit.
Seconds at_rate(double amount, double per_second) {
  return per_second > 0 ? Seconds(amount / per_second) : Seconds(0);
}

Seconds modelled(const Graph& graph, OpId op, const DeviceProfile& device, const KindRates* rates,
                 const Work& work) {
  const auto flops = static_cast<double>(work.flops.value());
  const auto moved = static_cast<double>(work.moved.value());
  if (rates != nullptr) {
    const PlanesAndRows count = planes_and_rows(graph, op);
    return rates->per_op + count.planes * rates->per_plane + count.rows * rates->per_row +
           at_rate(flops, rates->flops_per_second) + at_rate(moved, rates->bytes_per_second);
  }
  return std::max(Seconds(flops / device.flops_per_second), Seconds(moved / device.memory_bytes_per_second));
}

OpCost cost_of(const Graph& graph, OpId op, const DeviceProfile& device, const Measured& measured) {
  const Work work = work_of(graph, op);
  if (const OpOverride* own = measured.find(graph, op); own != nullptr)
    return {own->runtime, own->energy, std::max(work.workspace, own->workspace)};
  const Seconds runtime = modelled(graph, op, device, measured.rates(graph, op), work);
  return {runtime, device.active * runtime, work.workspace};
}

TransferCost transfer(Bytes bytes, Bytes block, const StorageDirection& direction) {
  const auto moved = static_cast<double>(rounded_up(bytes, block).value());
  const Seconds seconds = direction.latency + Seconds(moved / direction.bytes_per_second);
  return {seconds, direction.power * seconds};
}

/// Of a row, on storage.
Bytes stored_row(const Value& rows) { return byte_count({rows.shape[1]}, rows.dtype) + kRowMark; }

/// Rows of a table are transferred one by one: all of them, as no two indices may name the same.
TransferCost transfer(const Value& value, Bytes block, const StorageDirection& direction) {
  if (!value.rows) return transfer(value.bytes, block, direction);
  const TransferCost one = transfer(stored_row(value), block, direction);
  const auto rows = static_cast<double>(value.shape[0]);
  return {rows * one.seconds, rows * one.energy};
}

/// Two places for each row of every table.
Bytes tables_on_storage(const Graph& graph, Bytes block) {
  Bytes sum;
  for (const Value& value : graph.values)
    if (value.rows && stands_for_home(value))
      sum += 2 * value.rows->of * rounded_up(stored_row(value), block);
  return sum;
}

/// The numbers of the rows that a step names are in RAM before it begins.
Bytes indices_in_ram(const Graph& graph) {
  std::set<std::string> names;
  Bytes sum;
  for (const Value& value : graph.values) {
    if (value.rows && names.insert(value.rows->indices).second)
      sum += byte_count({tensor_shape(value)[0]}, DType::int32);
  }
  return sum;
}

Bytes ram_of(const Value& value, PersistentPolicy policy) {
  if (value.alias_of.valid()) return Bytes(0);
  const bool between_steps =
      is_persistent(value.persistence) || value.persistence == Persistence::parameter_gradient;
  return between_steps && policy == PersistentPolicy::excluded ? Bytes(0) : value.bytes;
}

bool is_finite(const TransferCost& t) {
  return std::isfinite(t.seconds.value()) && std::isfinite(t.energy.value());
}

}  // namespace

bool is_depthwise(const Graph& graph, OpId id) {
  const Op& op = graph.ops[id];
  const bool of_weight = op.kind == "conv2d_backward_weight";
  if (!of_weight && op.kind != "conv2d" && op.kind != "conv2d_backward_input") return false;
  const std::vector<ValueId>& list = of_weight ? op.outputs : op.inputs;
  const std::size_t place = of_weight ? 0 : 1;
  if (place >= list.size()) return false;
  const Shape& weight = graph.values[list[place]].shape;
  const auto groups = op.attributes.find("groups");
  const auto* count = groups == op.attributes.end() ? nullptr : std::get_if<std::int64_t>(&groups->second);
  return weight.size() == 4 && weight[1] == 1 && weight[0] == (count == nullptr ? 1 : *count);
}

PlanesAndRows planes_and_rows(const Graph& graph, OpId op) {
  PlanesAndRows count;
  if (graph.ops[op].inputs.empty()) return count;
  const Shape& shape = graph.values[graph.ops[op].inputs[0]].shape;
  const auto product = [&](std::size_t axes) {
    return std::accumulate(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axes), 1.0,
                           [](double a, std::int64_t b) { return a * static_cast<double>(b); });
  };
  if (shape.size() > 2) count.planes = product(2);
  if (shape.size() > 1) count.rows = product(shape.size() - 1);
  return count;
}

std::string shape_class(const Graph& graph, OpId op) { return shapes_of(graph, op, true); }

CostTable tabulate(const Graph& training, const DeviceProfile& device, PersistentPolicy persistent) {
  CostTable costs;
  const Measured measured(device);
  for (const OpId op : ids<OpId>(training.ops.size())) {
    const OpCost cost = cost_of(training, op, device, measured);
    if (!std::isfinite(cost.runtime.value()) || !std::isfinite(cost.energy.value())) {
      throw InputError(device.name,
                       fmt::format("its figures give op {} \"{}\" a cost beyond the range of a double",
                                   op.index, training.ops[op].name));
    }
    costs.ops.push_back(cost);
  }
  costs.has_storage = device.storage.has_value();
  for (const ValueId v : ids<ValueId>(training.values.size())) {
    const Value& value = training.values[v];
    ValueCost cost;
    cost.bytes = ram_of(value, persistent);
    if (is_resident(value)) costs.persistent += cost.bytes;
    if (device.storage) {
      // From the true size: what the user excluded from the budget must not look free to page.
      cost.page_in = transfer(value, device.storage->block, device.storage->page_in);
      cost.page_out = transfer(value, device.storage->block, device.storage->page_out);
      if (!is_finite(cost.page_in) || !is_finite(cost.page_out)) {
        throw InputError(
            device.name,
            fmt::format("its figures give value {} \"{}\" a transfer beyond the range of a double", v.index,
                        value.name));
      }
    }
    costs.values.push_back(cost);
  }
  costs.persistent += indices_in_ram(training);
  costs.alignment = device.alignment;
  align_sizes(training, costs);
  costs.timing.idle = device.idle;
  costs.timing.variation = device.variation;
  if (device.storage) {
    costs.storage_capacity = device.storage->capacity - tables_on_storage(training, device.storage->block);
    costs.timing.concurrent = device.storage->concurrent;
    costs.timing.wake_time = device.storage->wake_time;
    costs.timing.wake_energy = device.storage->wake_energy;
  }
  return costs;
}

}  // namespace poet
