// What poet knows nothing of: data of the step, operators of elsewhere.

#include "poet/graph/operators/families.h"

namespace poet::operators {
namespace {

/// One operation per element that it reads or writes, as arithmetic element by element has.
Count of_all_elements(const WorkReader& w) {
  Count total = 0;
  for (std::size_t i = 0; i < w.inputs(); ++i) total = w.plus(total, w.elements(w.in(i)));
  for (std::size_t i = 0; i < w.outputs(); ++i) total = w.plus(total, w.elements(w.out(i)));
  return total;
}

}  // namespace

Schemas data_operators() {
  const char* anything = "reads:u* -> writes:u*";
  return {{.kind = "input", .operands = "-> x:u", .passes = Passes::none, .portable = false},
          {.kind = "opaque", .operands = anything, .flops = of_all_elements, .portable = false},
          {.kind = "opaque_backward", .operands = anything, .flops = of_all_elements, .portable = false}};
}

}  // namespace poet::operators
