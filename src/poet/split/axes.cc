#include "poet/split/axes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "poet/base/text.h"
#include "poet/graph/operators/schema.h"

namespace poet::splitting {
namespace {

/// What the word for an axis of an operand stands for: a label, or several, which count from the last one.
constexpr const char* kSeveral = "...";
constexpr const char* kGroups = "groups";
constexpr const char* kJoinedName = "joined ";

bool is_join(const Op& op) {
  return op.kind == "concat" || op.kind == "concat_backward" || op.kind == "split" ||
         op.kind == "split_backward";
}

std::int64_t groups_of(const Op& op) {
  const auto found = op.attributes.find("groups");
  return found == op.attributes.end() ? 1 : std::get<std::int64_t>(found->second);
}

bool is_box(const Op& op) { return op.kind.starts_with("slice") || op.kind.starts_with("pad"); }

class Reader {
 public:
  Reader(const Graph& graph, const Op& op, const OperatorSchema& schema)
      : graph_(graph), op_(op), schema_(schema), grouped_(groups_of(op) > 1 || is_group_norm()) {}

  OpAxes read() {
    for (std::size_t i = 0; i < op_.inputs.size(); ++i) axes_.inputs.push_back(labels_of(true, i));
    for (std::size_t i = 0; i < op_.outputs.size(); ++i) axes_.outputs.push_back(labels_of(false, i));
    drop_uneven();
    mark_cuttable();
    for (std::size_t i = 0; i < schema_.inputs.size() && i < op_.inputs.size(); ++i) {
      if (schema_.inputs[i].name == "bias" && schema_.inputs[i].optional) axes_.biases.push_back(i);
    }
    return std::move(axes_);
  }

 private:
  [[nodiscard]] bool is_group_norm() const { return schema_.kind.starts_with("group_norm"); }
  [[nodiscard]] const Shape& shape(bool input, std::size_t i) const {
    return graph_.values[(input ? op_.inputs : op_.outputs)[i]].shape;
  }

  int label(const std::string& name, std::int64_t size) {
    const auto [entry, is_new] = known_.emplace(name, static_cast<int>(axes_.labels.size()));
    if (is_new) axes_.labels.push_back({name, size});
    Label& found = axes_.labels[static_cast<std::size_t>(entry->second)];
    // The first operand may be stretched along it.
    if (name.starts_with(kSeveral)) found.size = std::max(found.size, size);
    return entry->second;
  }

  /// The gradients of operators of which some may be left out have the axes of what they are gradients of.
  [[nodiscard]] const OperandSpec* gradient_spec(std::size_t i) const {
    if (!schema_.kind.ends_with("norm_backward")) return nullptr;
    const auto found = op_.attributes.find("gradients");
    const std::int64_t of = found == op_.attributes.end()
                                ? static_cast<std::int64_t>(i)
                                : std::get<std::vector<std::int64_t>>(found->second)[i];
    return &schema_.inputs[of == 0 ? 1 : 2];
  }

  AxisLabels labels_of(bool input, std::size_t i) {
    const auto& specs = input ? schema_.inputs : schema_.outputs;
    const OperandSpec* spec = &specs[std::min(i, specs.size() - 1)];
    if (!input && spec->any_shape) {
      const OperandSpec* as = gradient_spec(i);
      if (as != nullptr) spec = as;
    }
    return spec->any_shape ? by_attributes(input, i) : by_spec(*spec, shape(input, i));
  }

  AxisLabels by_spec(const OperandSpec& spec, const Shape& shape) {
    AxisLabels labels;
    const std::size_t covers = shape.size() + 1 - spec.axes.size();
    for (const AxisSpec& axis : spec.axes) {
      if (axis.sort == AxisSpec::Sort::shared || axis.label == "~") {
        for (std::size_t k = covers; k-- > 0;) {
          const std::int64_t size = shape[labels.size()];
          labels.push_back(size == 1 ? kNoLabel : label(kSeveral + std::to_string(k), size));
        }
      } else if (axis.sort == AxisSpec::Sort::free) {
        labels.insert(labels.end(), covers, kNoLabel);
      } else {
        labels.push_back(single(axis, shape[labels.size()]));
      }
    }
    return labels;
  }

  int single(const AxisSpec& axis, std::int64_t size) {
    const bool of_groups = axis.label == "C" || axis.label == "O" || axis.label == kGroups;
    if (grouped_ && of_groups) return axis.divisor.empty() ? label(kGroups, groups_of(op_)) : kNoLabel;
    if (axis.sort == AxisSpec::Sort::attribute || axis.label.empty()) return kNoLabel;
    const int found = label(axis.label, size / axis.factor);
    if (axis.factor != 1) uneven_.push_back(found);
    return axis.factor == 1 ? found : kNoLabel;
  }

  /// The axes that an attribute names.
  [[nodiscard]] std::vector<std::int64_t> axes_in(const std::string& attribute) const {
    const auto found = op_.attributes.find(attribute);
    if (found == op_.attributes.end()) return {};
    if (const auto* one = std::get_if<std::int64_t>(&found->second)) return {*one};
    return std::get<std::vector<std::int64_t>>(found->second);
  }

  /// Axis `axis` of every operand is the same one, but for those that the attribute names.
  AxisLabels by_attributes(bool input, std::size_t i) {
    const Shape& own = shape(input, i);
    AxisLabels labels(own.size(), kNoLabel);
    if (op_.kind == "input") {
      for (std::size_t a = 0; a < own.size(); ++a) labels[a] = label(std::to_string(a), own[a]);
    } else if (op_.kind == "transpose" || op_.kind == "transpose_backward") {
      const std::vector<std::int64_t> axes = axes_in("axes");
      const bool is_x = input == (op_.kind == "transpose");
      for (std::size_t a = 0; a < own.size(); ++a) {
        const std::size_t at = is_x ? a : static_cast<std::size_t>(axes[a]);
        labels[a] = label(std::to_string(at), own[a]);
      }
    } else if (is_box(op_)) {
      for (std::size_t a = 0; a < own.size(); ++a)
        if (is_all_of(a)) labels[a] = label(std::to_string(a), own[a]);
    } else if (is_join(op_)) {
      const auto axis = static_cast<std::size_t>(axes_in("axis").front());
      for (std::size_t a = 0; a < own.size(); ++a)
        if (a != axis) labels[a] = label(std::to_string(a), own[a]);
      if (joins(graph_, op_))
        labels[axis] = input ? kJoined : label(kJoinedName + std::to_string(i), own[axis]);
    } else if (schema_.parts == "-axes" && schema_.kind.starts_with("reduce_")) {
      reduced(input, i, axes_in("axes"), labels);
    }
    return labels;
  }

  /// Whether a slice takes all along the axis, or padding adds nothing.
  [[nodiscard]] bool is_all_of(std::size_t axis) const {
    const Shape& x = shape(op_.kind == "slice" || op_.kind == "pad", 0);
    const Shape& y = shape(op_.kind == "slice_backward" || op_.kind == "pad_backward", 0);
    return x[axis] == y[axis];
  }

  /// x has all axes, y those that are left.
  void reduced(bool input, std::size_t i, const std::vector<std::int64_t>& axes, AxisLabels& labels) {
    const bool backward = schema_.kind.ends_with("_backward");
    const bool is_x = backward ? !input || (schema_.inputs.size() == 3 && i == 1) : input;
    const bool keeps = std::get<std::int64_t>(op_.attributes.at("keepdims")) != 0;
    const Shape& own = shape(input, i);
    std::int64_t of_x = 0;
    for (std::size_t a = 0; a < own.size(); ++a, ++of_x) {
      const auto gone = [&] { return std::find(axes.begin(), axes.end(), of_x) != axes.end(); };
      if (!is_x && !keeps)
        while (gone()) ++of_x;
      if (!gone()) labels[a] = label(std::to_string(of_x), own[a]);
    }
  }

  void drop_uneven() {
    for (auto* list : {&axes_.inputs, &axes_.outputs}) {
      for (AxisLabels& labels : *list) {
        for (int& l : labels)
          if (std::find(uneven_.begin(), uneven_.end(), l) != uneven_.end()) l = kNoLabel;
      }
    }
  }

  /// Whether the schema names the label among its parts, and with a plus.
  [[nodiscard]] std::pair<bool, bool> named_part(const std::string& name) const {
    for (std::string& word : words_of(schema_.parts)) {
      const bool plus = word.front() == '+';
      if (plus) word.erase(0, 1);
      const bool several = (word == kSeveral || word == "~") && name.starts_with(kSeveral);
      const bool groups = name == kGroups && (word == "C" || word == "O");
      // A stretched operand's gradient is a sum without a plus.
      if (several || groups || word == name) return {true, plus || word == "~"};
    }
    return {false, false};
  }

  /// Whether the label is of an axis that the attribute behind a minus names.
  [[nodiscard]] bool is_barred(const std::string& name) const {
    if (!schema_.parts.starts_with("-") || !name.starts_with(kSeveral)) return false;
    const auto rank = static_cast<std::int64_t>(shape(true, 0).size());
    const std::int64_t axis = rank - 1 - std::stoll(name.substr(std::string_view(kSeveral).size()));
    const std::vector<std::int64_t> barred = axes_in(std::string(schema_.parts.substr(1)));
    return std::find(barred.begin(), barred.end(), axis) != barred.end();
  }

  void mark_cuttable() {
    const bool by_position = op_.kind == "input" || op_.kind.starts_with("transpose") || is_box(op_) ||
                             schema_.parts.starts_with("-");
    for (std::size_t l = 0; l < axes_.labels.size(); ++l) {
      Label& label = axes_.labels[l];
      const auto [named, plus] = named_part(label.name);
      label.summed = plus;
      label.cuttable = (named || by_position) && label.size > 1 && !is_barred(label.name);
      const auto lacks = [&](const AxisLabels& labels) {
        return std::find(labels.begin(), labels.end(), static_cast<int>(l)) == labels.end();
      };
      const bool all_have = std::none_of(axes_.outputs.begin(), axes_.outputs.end(), lacks);
      const bool in_some = std::any_of(axes_.inputs.begin(), axes_.inputs.end(),
                                       [&](const AxisLabels& labels) { return !lacks(labels); });
      if (label.summed && !all_have && !schema_.accumulates) label.cuttable = false;
      if (!label.summed && !all_have && !once_is_enough()) label.cuttable = false;
      // The rows of a table's gradient are found by what the ids say, and any place by all of them.
      if (!in_some && op_.kind != "input" && op_.kind != "embedding_backward" &&
          op_.kind != "first_occurrences")
        label.cuttable = false;
      if (label.name.starts_with(kJoinedName)) label.cuttable = label.size > 1;
      if (label.name == "S" && op_.kind.starts_with("select")) {
        label.only = std::get<std::int64_t>(op_.attributes.at("index"));
        label.cuttable = label.size > 1;
      }
    }
  }

  /// The gradient of a bias, which comes with the weight's, can be left out.
  [[nodiscard]] bool once_is_enough() const { return schema_.kind.ends_with("_backward_weight"); }

  const Graph& graph_;
  const Op& op_;
  const OperatorSchema& schema_;
  bool grouped_;
  OpAxes axes_;
  std::map<std::string, int> known_;
  std::vector<int> uneven_;
};

}  // namespace

bool joins(const Graph& graph, const Op& op) {
  if (!is_join(op) || op.attributes.contains("output_gradients")) return false;
  return std::none_of(op.inputs.begin(), op.inputs.end(),
                      [&](ValueId v) { return graph.values[v].alias_of.valid(); });
}

OpAxes axes_of(const Graph& graph, const Op& op) {
  const OperatorSchema* schema = find_operator(op.kind);
  if (schema != nullptr && (schema->inputs.size() + schema->outputs.size() > 0)) {
    // Without a list there is nothing to tell; `input` has outputs only, updates inputs only.
    const bool told =
        (op.inputs.empty() || !schema->inputs.empty()) && (op.outputs.empty() || !schema->outputs.empty());
    if (told) return Reader(graph, op, *schema).read();
  }
  OpAxes axes;
  for (const ValueId v : op.inputs) axes.inputs.emplace_back(graph.values[v].shape.size(), kNoLabel);
  for (const ValueId v : op.outputs) axes.outputs.emplace_back(graph.values[v].shape.size(), kNoLabel);
  return axes;
}

}  // namespace poet::splitting
