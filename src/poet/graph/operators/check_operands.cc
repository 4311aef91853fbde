// Whether an op fits its operator's schema: values, how many of which type, attributes, shapes, and last the
// operator's own rule, in the order in which later checks rely on earlier ones.

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "poet/base/amounts.h"
#include "poet/graph/operators/checker.h"
#include "poet/graph/operators/schema.h"

namespace poet {
namespace {

using operators::Checker;
using operators::Index;
using operators::text_of;
using ValueIds = std::vector<ValueId>;

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

void check_value(const Checker& op, const char* list, std::size_t i, ValueId v) {
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

/// The types that operands of "one type" have, once one of them has been seen.
struct CommonTypes {
  std::optional<DType> number, any;
};

void check_type(const Checker& op, const char* list, std::size_t i, DType stored, char wanted,
                CommonTypes& common) {
  const DType type = computed_as(stored);
  const auto need = [&](DType exact) {
    op.need(type == exact, "{} {} of type {}, not {}", list, i, to_string(exact), to_string(type));
  };
  switch (wanted) {
    case 'f':
      return need(DType::float32);
    case 'i':
      return need(DType::int32);
    case 'b':
      return need(DType::uint8);
    case 'n':
      op.need(type == DType::float32 || type == DType::int32, "{} {} of type float32 or int32, not {}", list,
              i, to_string(type));
      return need(*(common.number = common.number.value_or(type)));
    case 'u':
      return;
    default:
      return need(*(common.any = common.any.value_or(type)));
  }
}

/// The spec of operand `i`: the last one may stand for several.
const OperandSpec& spec_of(const std::vector<OperandSpec>& specs, std::size_t i) {
  return specs[std::min(i, specs.size() - 1)];
}

/// How many operands of which types, in one list.
void check_list(const Checker& op, const char* list, const ValueIds& values,
                const std::vector<OperandSpec>& specs, CommonTypes& common) {
  const auto optional = static_cast<std::size_t>(
      std::count_if(specs.begin(), specs.end(), [](const auto& s) { return s.optional; }));
  const bool many = !specs.empty() && specs.back().repeated;
  const std::size_t least = specs.size() - optional;
  if (values.size() < least || (!many && values.size() > specs.size())) {
    const std::string most = counted(static_cast<Index>(many ? least : specs.size()), list);
    const std::string range = many ? "at least " : optional > 0 ? fmt::format("{} to ", least) : "";
    op.refuse(fmt::format("{}{}, not {}", range, most, values.size()));
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    check_type(op, list, i, op.value(values[i]).dtype, spec_of(specs, i).type, common);
}

void check_updates(const Checker& op, const OperatorSchema& schema) {
  const ValueIds& updates = op.op().updates;
  if (updates.size() != schema.updates.size())
    op.refuse(fmt::format("{} that it updates, not {}",
                          counted(static_cast<Index>(schema.updates.size()), "value"), updates.size()));
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const std::size_t position = schema.updates[i];
    op.need(updates[i] == op.op().inputs[position], "input {} as update {}", position, i);
  }
}

/// How many inputs are accumulators. What else reads the op counts without them.
void check_accumulators(const Checker& op, const OperatorSchema& schema) {
  if (!op.has("accumulate")) return;
  op.need(schema.accumulates, "no attribute accumulate: its result is no sum");
  const std::vector<Index>& outputs = op.Checker::list("accumulate");
  op.need(!outputs.empty() && outputs.size() < op.op().inputs.size(),
          "an input for each number in accumulate");
  (void)op.positions("accumulate", static_cast<Index>(op.outputs()), outputs.size(), "accumulators");
  for (const Index i : outputs) {
    const auto output = static_cast<std::size_t>(i);
    const auto position = static_cast<std::size_t>(op.accumulator(output));
    const Value& from = op.value(op.op().inputs[position]);
    const Value& to = op.output(output);
    op.need_shape("input", position, from.shape, to.shape);
    op.need(computed_as(from.dtype) == computed_as(to.dtype) && from.strides == to.strides,
            "input {} in the layout of output {}", position, i);
  }
}

void check_attribute(const Checker& op, const AttributeSpec& attribute) {
  using Sort = AttributeSpec::Sort;
  const char* name = attribute.name;
  if (attribute.optional && !op.has(name)) return;
  switch (attribute.sort) {
    case Sort::flag:
      (void)op.integer(name, 0, 1);
      return;
    case Sort::count:
      (void)op.integer(name, 1, std::numeric_limits<std::int32_t>::max());
      return;
    case Sort::integer:
      (void)op.integer(name, std::numeric_limits<Index>::min(), std::numeric_limits<Index>::max());
      return;
    default:
      break;
  }
  const double x = op.real(name);
  if (attribute.sort == Sort::not_negative) op.need(x >= 0, "{} >= 0, not {}", name, x);
  if (attribute.sort == Sort::positive) op.need(x > 0, "{} > 0, not {}", name, x);
  if (attribute.sort == Sort::not_zero) op.need(x != 0, "{} other than 0", name);
  if (attribute.sort == Sort::probability) op.need(x >= 0 && x < 1, "{} in [0, 1), not {}", name, x);
}

/// What the labels of an operator's axes stand for in one op: the first operand that has a label tells.
class Sizes {
 public:
  Sizes(const Checker& op, const OperatorSchema& schema) : op_(op) {
    each(schema, [this](const char* list, std::size_t i, const Shape& shape, const OperandSpec& spec) {
      bind(list, i, shape, spec);
    });
    each(schema, [this](const char* list, std::size_t i, const Shape& shape, const OperandSpec& spec) {
      compare(list, i, shape, spec);
    });
  }

 private:
  using Axis = AxisSpec::Sort;

  template <class F>
  void each(const OperatorSchema& schema, F f) const {
    for (std::size_t i = 0; i < op_.inputs(); ++i) {
      if (!spec_of(schema.inputs, i).any_shape) f("input", i, op_.in(i), spec_of(schema.inputs, i));
    }
    for (std::size_t i = 0; i < op_.outputs(); ++i) {
      if (!spec_of(schema.outputs, i).any_shape) f("output", i, op_.out(i), spec_of(schema.outputs, i));
    }
  }

  /// Where in `axes` stands what covers any number of them; behind the end: nowhere.
  static std::size_t open_end(const std::vector<AxisSpec>& axes) {
    const auto open = std::find_if(axes.begin(), axes.end(), [](const AxisSpec& axis) {
      return axis.sort == Axis::shared || axis.sort == Axis::free;
    });
    return static_cast<std::size_t>(open - axes.begin());
  }

  void bind(const char* list, std::size_t i, const Shape& shape, const OperandSpec& spec) {
    const std::size_t open = open_end(spec.axes);
    if (open == spec.axes.size()) {
      op_.need(shape.size() == open, "{} {} of {} axes, not {}", list, i, open, text_of(shape));
    } else {
      op_.need(shape.size() + 1 >= spec.axes.size(), "{} {} of at least {} axes, not {}", list, i,
               spec.axes.size() - 1, text_of(shape));
    }
    std::size_t at = 0;
    for (const AxisSpec& axis : spec.axes) {
      const std::size_t covers =
          &axis == spec.axes.data() + open ? shape.size() + 1 - spec.axes.size() : std::size_t{1};
      const auto begin = shape.begin() + static_cast<std::ptrdiff_t>(at);
      at += covers;
      const bool plain = axis.sort == Axis::shared || (axis.sort == Axis::size && axis.factor == 1 &&
                                                       axis.divisor.empty() && !axis.label.empty());
      if (plain && find(axis.label) == nullptr)
        bound_.emplace_back(std::string_view(axis.label),
                            Shape(begin, begin + static_cast<std::ptrdiff_t>(covers)));
    }
  }

  void compare(const char* list, std::size_t i, const Shape& shape, const OperandSpec& spec) const {
    const std::size_t open = open_end(spec.axes);
    Shape wanted;
    for (const AxisSpec& axis : spec.axes) {
      if (axis.sort == Axis::free) {
        const auto begin = shape.begin() + static_cast<std::ptrdiff_t>(open);
        wanted.insert(wanted.end(), begin,
                      begin + static_cast<std::ptrdiff_t>(shape.size() + 1 - spec.axes.size()));
      } else if (axis.sort == Axis::attribute) {
        wanted.push_back(op_.OpReader::integer(axis.label.c_str()));
      } else if (axis.label.empty()) {
        wanted.push_back(axis.factor);
      } else {
        const Shape* sizes = find(axis.label);
        ensure(sizes != nullptr, "every label of an operator's axes stands alone somewhere");
        const Index divisor = axis.divisor.empty() ? 1 : op_.OpReader::integer(axis.divisor.c_str());
        for (const Index size : *sizes) {
          op_.need(size % divisor == 0, "{} that divide {}, not {}", axis.divisor, size, divisor);
          wanted.push_back(axis.factor * size / divisor);
        }
      }
    }
    op_.need_shape(list, i, shape, wanted);
  }

  [[nodiscard]] const Shape* find(const std::string& label) const {
    for (const auto& [name, sizes] : bound_) {
      if (name == label) return &sizes;
    }
    return nullptr;
  }

  const Checker& op_;
  std::vector<std::pair<std::string_view, Shape>> bound_;
};

}  // namespace

void check_operands(const Graph& graph, OpId id) {
  const Checker op(graph, id);
  const OperatorSchema* schema = find_operator(op.op().kind);
  if (schema == nullptr) return;
  for (std::size_t i = 0; i < op.op().inputs.size(); ++i) check_value(op, "input", i, op.op().inputs[i]);
  for (std::size_t i = 0; i < op.outputs(); ++i) check_value(op, "output", i, op.op().outputs[i]);
  check_accumulators(op, *schema);
  CommonTypes common;
  const auto own = op.op().inputs.begin();
  check_list(op, "input", {own, own + static_cast<std::ptrdiff_t>(op.inputs())}, schema->inputs, common);
  check_list(op, "output", op.op().outputs, schema->outputs, common);
  check_updates(op, *schema);
  for (const AttributeSpec& attribute : schema->attributes) check_attribute(op, attribute);
  const Sizes sizes(op, *schema);
  if (schema->rule != nullptr) schema->rule(op);
}

}  // namespace poet
