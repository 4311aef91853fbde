#include "poet/firmware/lowered.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

#include "poet/base/error.h"
#include "poet/firmware/families.h"

namespace poet::firmware {
namespace {

const KernelTable& table() {
  static const KernelTable all = [] {
    KernelTable t;
    add_elements(t);
    add_copies(t);
    add_products(t);
    add_norms(t);
    add_losses(t);
    add_pools(t);
    add_sequences(t);
    add_folds(t);
    add_updates(t);
    return t;
  }();
  return all;
}

}  // namespace

Lowered lowered(const Graph& graph, OpId op) {
  const OpReader reader(graph, op);
  const auto found = table().find(reader.op().kind);
  const std::string place = fmt::format("op \"{}\"", reader.op().name);
  if (found == table().end())
    throw InputError(place, fmt::format("is a {}, for which there is no kernel in C", reader.op().kind));
  const LoweringRule& rule = found->second;
  const auto refuse_strides = [&](const std::vector<ValueId>& values) {
    for (const ValueId v : values)
      if (!graph.values[v].strides.empty())
        throw InputError(
            place,
            fmt::format("reads or writes \"{}\" in another order than row by row, which {} in C does not",
                        graph.values[v].name, reader.op().kind));
  };
  if (!rule.any_strides) {
    refuse_strides(reader.op().inputs);
    refuse_strides(reader.op().outputs);
  }
  const bool simple = rule.is_simple != nullptr && rule.is_simple(reader);
  return {simple ? &rule.simple : &rule.kernel, rule.shape(reader)};
}

void check_kinds(const Graph& graph) {
  std::map<std::string, std::string> missing;  // the first op of each
  for (const Op& op : graph.ops)
    if (op.kind != "input" && !table().contains(op.kind)) missing.emplace(op.kind, op.name);
  if (missing.empty()) return;
  std::vector<std::string> list;
  for (const auto& [kind, op] : missing) list.push_back(fmt::format("{} (op \"{}\")", kind, op));
  throw InputError("the plan", fmt::format("there is no kernel in C for {}", fmt::join(list, ", ")));
}

std::vector<std::string> kinds() {
  std::vector<std::string> names;
  for (const auto& entry : table()) names.push_back(entry.first);
  return names;
}

std::int32_t small(std::int64_t n) {
  if (n < std::numeric_limits<std::int32_t>::min() || n > std::numeric_limits<std::int32_t>::max())
    throw InputError("firmware", fmt::format("{} does not fit 32 bits", n));
  return static_cast<std::int32_t>(n);
}

std::int32_t first_output(const OpReader& op) {
  return small(static_cast<std::int64_t>(op.op().inputs.size()));
}

std::int32_t output_or_none(const OpReader& op, int output) {
  return output < 0 ? -1 : first_output(op) + output;
}

std::int32_t accumulator_of(const OpReader& op, int output) {
  return output < 0 ? -1 : op.accumulator(static_cast<std::size_t>(output));
}

}  // namespace poet::firmware
