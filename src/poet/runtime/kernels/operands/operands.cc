#include "poet/runtime/kernels/operands/operands.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "poet/runtime/kernels/operands/rules.h"

namespace poet::runtime {
namespace operands {
namespace {

/// More would overflow where kernels add up sizes of operands.
constexpr Index kMostBytes = Index{1} << 48;

/// A view shows each element of its storage once, so strides are products of the axes that lie within. Of an
/// axis of size 1 they say nothing.
bool shows_each_once(const Value& value, Index count) {
  std::vector<std::pair<Index, Index>> axes;  // stride, size
  for (std::size_t axis = 0; axis < value.shape.size(); ++axis) {
    if (value.strides[axis] < 0 || value.strides[axis] > count) return false;
    if (value.shape[axis] != 1) axes.emplace_back(value.strides[axis], value.shape[axis]);
  }
  std::sort(axes.begin(), axes.end());
  Index span = 1;
  for (const auto& [stride, size] : axes) {
    if (stride != span) return false;
    span *= size;
  }
  return true;
}

void check_value(const OperandReader& op, const char* list, std::size_t i, ValueId v) {
  const Value& value = op.value(v);
  const Index bytes = op.storage_bytes(v).value();
  op.need(bytes <= kMostBytes, "{} {} of at most {} bytes, not {}", list, i, kMostBytes, bytes);
  const Index most = bytes / size_of(value.dtype).value();
  Index count = 1;
  for (const Index d : value.shape) {
    op.need(d > 0, "positive dimensions: {} {} has the shape {}", list, i, text_of(value.shape));
    op.need(d <= most / count, "a storage that holds {} {}: its shape is {}, its storage has {} bytes", list,
            i, text_of(value.shape), bytes);
    count *= d;
  }
  op.need(count <= most, "a storage that holds {} {}, which has only {} bytes", list, i, bytes);
  if (value.strides.empty()) return;
  op.need(value.strides.size() == value.shape.size() && shows_each_once(value, count),
          "strides that show every element once: {} {} has the shape {} and the strides {}", list, i,
          text_of(value.shape), text_of(value.strides));
}

void check_attribute(const OperandReader& op, const AttributeRule& rule) {
  if (rule.optional && !op.has(rule.name)) return;
  switch (rule.what) {
    case Attr::flag:
      (void)op.integer(rule.name, 0, 1);
      return;
    case Attr::count:
      (void)op.integer(rule.name, 1, std::numeric_limits<std::int32_t>::max());
      return;
    case Attr::real:
    case Attr::not_negative:
    case Attr::positive:
    case Attr::not_zero:
    case Attr::probability:
      break;
  }
  const double x = op.real(rule.name);
  if (rule.what == Attr::not_negative) op.need(x >= 0, "{} >= 0, not {}", rule.name, x);
  if (rule.what == Attr::positive) op.need(x > 0, "{} > 0, not {}", rule.name, x);
  if (rule.what == Attr::not_zero) op.need(x != 0, "{} other than 0", rule.name);
  if (rule.what == Attr::probability) op.need(x >= 0 && x < 1, "{} in [0, 1), not {}", rule.name, x);
}

const RuleTable& rules() {
  static const RuleTable table = [] {
    RuleTable all;
    add_elementwise_rules(all);
    add_function_rules(all);
    add_layout_rules(all);
    add_axis_rules(all);
    add_layer_rules(all);
    add_window_rules(all);
    add_recurrent_rules(all);
    all["input"] = {": t", [](const OperandReader&) {}};
    return all;
  }();
  return table;
}

}  // namespace
}  // namespace operands

void check_operands(const Graph& graph, OpId id) {
  using namespace operands;
  const OperandReader op(graph, id);
  for (std::size_t i = 0; i < op.inputs(); ++i) check_value(op, "input", i, op.op().inputs[i]);
  for (std::size_t i = 0; i < op.outputs(); ++i) check_value(op, "output", i, op.op().outputs[i]);
  const auto rule = rules().find(op.op().kind);
  if (rule == rules().end()) return;
  check_signature(op, rule->second.signature);
  for (const AttributeRule& attribute : rule->second.attributes) check_attribute(op, attribute);
  rule->second.shapes(op);
}

}  // namespace poet::runtime
