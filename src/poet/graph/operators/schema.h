#pragma once

// The schemas of operators: one entry per kind, one file per family in this folder. Used by graph
// verification, gradients, costs, kernels and docs/operators.md.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "poet/graph/graph.h"
#include "poet/graph/operators/work.h"

namespace poet {

namespace operators {
class Checker;
}

/// A size along an axis: `factor` times the size of `label`, divided by the op's attribute `divisor`, if any.
/// Without a label: `factor` itself.
struct AxisSpec {
  enum class Sort { size, attribute, shared, free };
  Sort sort = Sort::size;
  std::int64_t factor = 1;
  std::string label;
  std::string divisor;
};

struct OperandSpec {
  std::string name;  // that of docs/operators.md
  char type = 'f';
  bool optional = false;
  bool repeated = false;
  bool any_shape = true;
  std::vector<AxisSpec> axes;
};

/// What an attribute must be by itself. Numbers are finite.
struct AttributeSpec {
  enum class Sort { real, not_negative, positive, not_zero, probability, flag, count, integer };
  const char* name;
  Sort sort = Sort::real;
  bool optional = false;
};

/// Which of an op's values its kernel really passes over.
enum class Passes {
  all,       // every value entirely
  gathered,  // reads as many elements of input `table` as output 0 has, not all of it
  none,      // nothing is moved by the op itself
};

struct OperatorSchema {
  std::string kind;

  /// "x(...,I) weight(O,I) bias?(O) -> y(...,O)": what it reads, in order, and what it writes.
  /// Behind a name: `:i` the element type (f float32, which is what stands for none, i int32, b uint8, n
  /// float32 or int32, t any; those that say n (or t) are of one type; u any), `?` may be missing, `+`
  /// one or more, `*` any number, `!` is changed in place (Op::updates, in this order). In parentheses
  /// its axes: capital letters are sizes, equal wherever they stand, with a factor in front (4H) or
  /// divided by an attribute (C/groups); lower-case words are attributes; `...` is any number of axes,
  /// the same ones wherever it stands; `~` axes that broadcast and `*` those of windows, of which `rule`
  /// knows the sizes. Without parentheses `rule` knows all.
  const char* operands = "";
  std::vector<AttributeSpec> attributes = {};
  /// What the above does not say. It is called where the above holds.
  void (*rule)(const operators::Checker& op) = nullptr;

  /// Output 0 may be written over inputs 0 to in_place - 1 (in_place.h).
  std::size_t in_place = 0;

  /// Axes along which an op can be computed in parts, one after the other: labels of its operands' axes
  /// (`...`, `~` and `*` stand for each of theirs), and `-name` for all axes but those that the attribute
  /// names. Operands with such an axis are sliced along it, those with `~` by `...`, too, as they broadcast
  /// (along `*` neighbouring elements are read as well); the others are used whole. Behind a `+`: the parts'
  /// results are added up, in order, an optional bias by the first alone; so are those of a stretched
  /// operand's gradient. With groups a part has whole groups.
  std::string_view parts = "";

  /// Whether an op can go on where another one has stopped: with the attribute `accumulate`, the positions of
  /// some outputs, it has behind all other inputs one of each such output's shape, in this order, and adds
  /// its result to it, term by term as if the sum had never been interrupted. Output 0 may lie over its own.
  bool accumulates = false;

  operators::CountOf flops = operators::nothing;  // docs/cost_model.md
  operators::CountOf macs = operators::nothing;   // of forward kinds: multiply-accumulates
  Passes passes = Passes::all;
  std::size_t table = 0;

  bool moves_elements = false;  // all that it does is to copy them, or to fill what is left with one number

  bool portable = true;  // plain loops compute it
  bool library = false;  // so does oneDNN, for some shapes at least
  bool is_loss = false;  // output 0 is what training makes small

  // What `operands` says; filled in by operators().
  std::vector<OperandSpec> inputs = {};
  std::vector<OperandSpec> outputs = {};
  std::vector<std::size_t> updates = {};  // positions of inputs
};

/// Every kind that poet knows, in the order of its families.
[[nodiscard]] const std::vector<OperatorSchema>& operators_of_all_families();

/// Null for a kind that poet does not know: of such an op (a published instance's, another tool's)
/// nothing is checked but the data model's promises; it has a price where the instance gives it one, and
/// no kernel. O(1).
[[nodiscard]] const OperatorSchema* find_operator(std::string_view kind);

[[nodiscard]] bool is_loss(const Op& op);

/// Throws InputError naming op and rule unless inputs, outputs, updates and attributes fit the operator: how
/// many there are, their element types, shapes and strides, the attributes' types and ranges, and every value
/// within its storage. After that no kernel reaches beyond its operands, whatever they contain. Ids are in
/// range. verify(graph) does it for every op. O(operands, their axes, and numbers in attributes).
void check_operands(const Graph& graph, OpId op);

}  // namespace poet
