// Data of the step, copies of elements, integers and conditions.

#include "poet/cost/rules.h"

namespace poet::cost {
namespace {

// Of an unknown operator one operation per element that it reads or writes, as arithmetic element by element
// has.
Count opaque(const Subject& s) {
  Count total = 0;
  for (std::size_t i = 0; s.has_input(i); ++i) total = s.plus(total, s.elements(s.input(i)));
  for (std::size_t i = 0; s.has_output(i); ++i) total = s.plus(total, s.elements(s.output(i)));
  return total;
}

}  // namespace

const std::vector<Rule>& data_rules() {
  static const std::vector<Rule> rules = {
      {"input", nothing, Traffic::none},
      {"flip", nothing},
      {"flip_backward", nothing},
      {"embedding", nothing, Traffic::gathered, 1},
      {"embedding_backward", per_input<1>},  // one addition per element gathered
      {"concat", nothing},
      {"concat_backward", nothing, Traffic::gathered, 0},
      {"slice", nothing, Traffic::gathered, 0},
      {"slice_backward", nothing},
      {"pad", nothing},
      {"pad_backward", nothing, Traffic::gathered, 0},
      {"transpose", nothing},
      {"transpose_backward", nothing},
      {"select", nothing, Traffic::gathered, 0},
      {"select_backward", nothing},
      {"split", nothing},
      {"split_backward", nothing},
      {"opaque", opaque},
      {"opaque_backward", opaque},
      {"equal", per_output<1>},
      {"less", per_output<1>},
      {"less_or_equal", per_output<1>},
      {"greater", per_output<1>},
      {"greater_or_equal", per_output<1>},
      {"logical_and", per_output<1>},
      {"logical_or", per_output<1>},
      {"logical_xor", per_output<1>},
      {"logical_not", per_output<1>},
      {"cast", per_output<1>},
      {"int_div", per_output<1>},
      {"mod", per_output<1>},
      {"cumsum", per_input<1>},
      {"cumsum_backward", per_input<1>},
      {"argmax", per_input<1>},
      {"where", per_output<1>},
      {"where_backward_a", per_stretched<1>},
      {"where_backward_b", per_stretched<1>},
      {"expand", nothing},
      {"gather", nothing, Traffic::gathered, 0},
      {"gather_backward", per_input<1>},
      {"gather_elements", nothing, Traffic::gathered, 0},
      {"gather_elements_backward", per_input<1>},
  };
  return rules;
}

}  // namespace poet::cost
