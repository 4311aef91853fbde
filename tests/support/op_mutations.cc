#include "tests/support/op_mutations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "poet/base/error.h"
#include "poet/graph/operators/schema.h"
#include "poet/graph/strides.h"

namespace poet::test {
namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t n) { return static_cast<std::size_t>(random() % n); }

template <class T>
T& one_of(Random& random, std::vector<T>& list) {
  return list[below(random, list.size())];
}

/// A number like `n`, or at an end of what there is. Sums wrap around.
std::int64_t other(Random& random, std::int64_t n) {
  const auto by = [n](std::uint64_t step) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(n) + step);
  };
  const std::array<std::int64_t, 14> numbers = {by(1),
                                                by(-1),
                                                by(1),
                                                by(-1),
                                                by(2),
                                                n > 1 << 20 ? n : by(static_cast<std::uint64_t>(n)),
                                                n / 2,
                                                0,
                                                1,
                                                -1,
                                                static_cast<std::int64_t>(random() % 9),
                                                std::int64_t{1} << 20,
                                                std::int64_t{1} << 31,
                                                std::numeric_limits<std::int64_t>::max()};
  return numbers[below(random, numbers.size())];
}

double other(Random& random, double x) {
  const std::array<double, 7> numbers = {-x, 0.0, x + 1.0, 1e300, 1e-300, 0.5, -1.0};
  return numbers[below(random, numbers.size())];
}

/// What the shape needs, where that can be said.
void fit_bytes(Value& value) {
  try {
    value.bytes = byte_count(value.shape, value.dtype);
  } catch (const InputError&) {
    value.bytes = Bytes(64);
  }
}

std::string change_shape(Random& random, Value& value) {
  if (value.shape.empty() || below(random, 4) == 0) {
    const auto at = value.shape.begin() + static_cast<std::ptrdiff_t>(below(random, value.shape.size() + 1));
    if (below(random, 2) == 0 || at == value.shape.end()) {
      value.shape.insert(at, below(random, 2) == 0 ? 1 : 2);
    } else {
      value.shape.erase(at);
    }
    if (below(random, 2) == 0) value.strides.clear();
  } else {
    std::int64_t& d = one_of(random, value.shape);
    d = other(random, d);
  }
  if (below(random, 4) != 0) fit_bytes(value);
  return fmt::format("the shape of {}", value.name);
}

std::string change_type(Random& random, Value& value) {
  value.dtype = static_cast<DType>(below(random, 4));
  if (below(random, 2) == 0) fit_bytes(value);
  return fmt::format("the type of {}", value.name);
}

std::string change_strides(Random& random, Value& value) {
  const std::size_t rank = value.shape.size();
  if (below(random, 2) == 0) {
    std::vector<std::int64_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    value.strides = stored_in_order(value.shape, order).strides;
  } else {
    if (value.strides.empty()) value.strides = row_major_strides(value.shape);
    if (rank > 0) {
      std::int64_t& stride = one_of(random, value.strides);
      stride = other(random, stride);
    }
  }
  return fmt::format("the strides of {}", value.name);
}

std::string change_operands(Random& random, Graph& graph, OpId id) {
  Op& op = graph.ops[id];
  std::vector<ValueId>& list = below(random, 3) == 0 ? op.outputs : op.inputs;
  const bool output = &list == &op.outputs;
  switch (below(random, 4)) {
    case 0:
      if (list.empty()) return "nothing";
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(below(random, list.size())));
      return "an operand less";
    case 1: {
      if (graph.values.size() == 0) return "nothing";
      Value more = graph.values[ValueId(below(random, graph.values.size()))];
      more.producer = output ? id : OpId();
      more.persistence = output ? Persistence::activation : Persistence::parameter;
      list.push_back(graph.values.push_back(std::move(more)));
      return "an operand more";
    }
    case 2:
      if (list.empty()) return "nothing";
      std::swap(one_of(random, list), one_of(random, list));
      return "operands in another order";
    default:
      if (op.inputs.empty()) return "nothing";
      one_of(random, op.inputs) = one_of(random, op.inputs);
      return "an operand twice";
  }
}

Attribute other_attribute(Random& random, const Attribute& attribute) {
  if (below(random, 5) == 0) {
    const std::array<Attribute, 5> some = {std::int64_t{1}, 1.0, std::string("x"),
                                           std::vector<std::int64_t>{}, std::vector<std::int64_t>{0, 1}};
    return some[below(random, some.size())];
  }
  if (const auto* n = std::get_if<std::int64_t>(&attribute)) return other(random, *n);
  if (const auto* x = std::get_if<double>(&attribute)) return other(random, *x);
  if (std::holds_alternative<std::string>(attribute)) {
    const std::array<const char*, 8> words = {"",           "linear", "cubic",   "nearest",
                                              "asymmetric", "relu",   "reverse", "bidirectional"};
    return std::string(words[below(random, words.size())]);
  }
  auto list = std::get<std::vector<std::int64_t>>(attribute);
  const std::size_t what = below(random, 6);
  if (what == 0) list.push_back(static_cast<std::int64_t>(random() % 3));
  if (what == 1 && !list.empty()) list.pop_back();
  if (what == 2 && !list.empty()) std::swap(list.front(), list.back());
  if (what > 2 && !list.empty()) {
    std::int64_t& n = one_of(random, list);
    n = other(random, n);
  }
  return list;
}

std::string change_attribute(Random& random, Op& op) {
  if (op.attributes.empty() || below(random, 8) == 0) {
    const std::array<const char*, 6> names = {"gradients",     "output_gradients", "padding_end",
                                              "initial_state", "dilation",         "output_padding"};
    const char* name = names[below(random, names.size())];
    op.attributes[name] = std::vector<std::int64_t>{static_cast<std::int64_t>(random() % 3)};
    return fmt::format("an attribute {}", name);
  }
  auto entry = op.attributes.begin();
  std::advance(entry, static_cast<std::ptrdiff_t>(below(random, op.attributes.size())));
  const std::string name = entry->first;
  if (below(random, 8) == 0) {
    op.attributes.erase(entry);
    return fmt::format("no attribute {}", name);
  }
  entry->second = other_attribute(random, entry->second);
  return fmt::format("another attribute {}", name);
}

std::string change_kind(Random& random, Op& op) {
  const std::vector<OperatorSchema>& all = operators_of_all_families();
  op.kind = all[below(random, all.size())].kind;
  return "the kind, now " + op.kind;
}

/// Who produces what is as the lists say, so that the data model's promises hold.
void tidy(Graph& graph, OpId op) {
  for (const ValueId v : ids<ValueId>(graph.values.size())) {
    Value& value = graph.values[v];
    const std::vector<ValueId>& outputs = graph.ops[op].outputs;
    const bool written = std::find(outputs.begin(), outputs.end(), v) != outputs.end();
    if (value.producer == op && !written) {
      value.producer = OpId();
      value.persistence = Persistence::optimizer_state;
    }
  }
}

}  // namespace

std::string mutate_op(Graph& graph, OpId id, Random& random) {
  Op& op = graph.ops[id];
  std::vector<ValueId> operands = op.inputs;
  operands.insert(operands.end(), op.outputs.begin(), op.outputs.end());
  Value& value = graph.values[one_of(random, operands)];
  std::string what;
  switch (below(random, 16)) {
    case 0:
    case 1:
    case 2:
    case 3:
      what = change_shape(random, value);
      break;
    case 4:
      what = change_type(random, value);
      break;
    case 5:
    case 6:
      try {
        what = change_strides(random, value);
      } catch (const InputError&) {  // no strides go with what an earlier change has left
        value.strides.clear();
        what = "no strides";
      }
      break;
    case 7:
    case 8:
      what = change_operands(random, graph, id);
      break;
    case 9:
      value.bytes = Bytes(value.bytes.value() / 2);
      what = "half of the bytes of " + value.name;
      break;
    case 10:
      what = change_kind(random, op);
      break;
    case 11:
      if (!op.updates.empty() && below(random, 2) == 0) {
        op.updates.pop_back();
      } else if (!op.inputs.empty()) {
        op.updates.push_back(one_of(random, op.inputs));
      }
      what = "the updates";
      break;
    default:
      what = change_attribute(random, op);
      break;
  }
  tidy(graph, id);
  return what;
}

}  // namespace poet::test
