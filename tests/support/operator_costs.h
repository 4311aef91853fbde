#pragma once

// The cost of operators, counted by hand from their shapes, for tests of the cost model: a list for each
// family of operators.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/one_op.h"

namespace poet::test {

/// One op and its cost. Common shapes have {2,3,4,4} = 96, {2,3,2,2} = 24 and {2,3} = 6 elements of four
/// bytes.
struct OperatorCost {
  std::string kind;
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  std::int64_t flops;
  std::int64_t moved;  // bytes
  Attributes attributes = {};
  std::vector<std::size_t> updates = {};
};

/// An op's attribute that names the gradients that it computes.
inline Attributes gradients(std::vector<std::int64_t> positions) {
  return {{"gradients", std::move(positions)}};
}

const std::vector<OperatorCost>& elementwise_costs();
const std::vector<OperatorCost>& layout_costs();
const std::vector<OperatorCost>& windows_costs();
const std::vector<OperatorCost>& products_costs();
const std::vector<OperatorCost>& recurrent_costs();
const std::vector<OperatorCost>& training_costs();

/// All of them.
inline std::vector<OperatorCost> operator_costs() {
  std::vector<OperatorCost> all;
  for (const auto* costs : {&elementwise_costs(), &layout_costs(), &windows_costs(), &products_costs(),
                            &recurrent_costs(), &training_costs()})
    all.insert(all.end(), costs->begin(), costs->end());
  return all;
}

}  // namespace poet::test
