#pragma once

// The rules of all operators, a table that each family of them adds its own to.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "poet/runtime/kernels/operands/operand_reader.h"

namespace poet::runtime::operands {

/// What a rule demands of an attribute by itself. Numbers are finite.
enum class Attr { real, not_negative, positive, not_zero, probability, flag, count };

struct AttributeRule {
  const char* name;
  Attr what = Attr::real;
  bool optional = false;
};

/// The signature is "inputs : outputs : updates", e.g. "f f f? : f". Inputs and outputs are element types: f
/// float32, i int32, b uint8, n float32 or int32, t any; those that say n (or t) are of one type; u any. ?
/// may be missing, + stands for one or more. Updates are positions of inputs. Where the signature holds, the
/// attributes are looked at and then `shapes` is called.
struct Rule {
  const char* signature;
  void (*shapes)(const OperandReader& op);
  std::vector<AttributeRule> attributes = {};
};

using RuleTable = std::map<std::string, Rule, std::less<>>;

void add_elementwise_rules(RuleTable& table);  // functions, arithmetic that broadcasts, comparisons
void add_function_rules(RuleTable& table);     // y = f(x) and its gradient, with f's numbers
void add_layout_rules(RuleTable& table);       // copies of elements
void add_axis_rules(RuleTable& table);         // sums and the like along axes, elements by index
void add_layer_rules(RuleTable& table);        // norms, products, losses, updates
void add_window_rules(RuleTable& table);       // convolutions, pools, resize
void add_recurrent_rules(RuleTable& table);    // lstm, gru, rnn

/// Throws InputError unless the op has the operands that the signature lists.
void check_signature(const OperandReader& op, const char* signature);

// Rules that families share.
/// All inputs and outputs have one shape.
void one_shape(const OperandReader& op);
/// Output 0 has the shape that the inputs broadcast to.
void broadcast_to_output(const OperandReader& op);
/// Output 0 and the inputs but the first broadcast to input 0, a gradient.
void summed_from_first(const OperandReader& op);

}  // namespace poet::runtime::operands
