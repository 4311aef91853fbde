#pragma once

// One row per function of one element: what it computes and what that costs. The kernels that tests trust,
// graphs with every function, gradients and counts of work are made of the rows.

#include <cstdint>
#include <vector>

#include "poet/graph/graph.h"

namespace poet::test {

/// The op's numbers.
struct Numbers {
  double alpha = 0.0;
  double beta = 0.0;
  double gamma = 0.0;
  double exponent = 0.0;
};

struct FunctionRow {
  const char* kind;
  double (*f)(double x, const Numbers& n);
  double (*slope)(double kept, const Numbers& n);  // of x or y, whichever the gradient reads; null: always 0
  std::int64_t flops;                              // per element
  std::int64_t slope_flops = 0;
  Attributes attributes = {};                                      // numbers that float32 holds
  enum class Domain { all, wide, positive } domain = Domain::all;  // wide: it bends a few units from 0
};

[[nodiscard]] const std::vector<FunctionRow>& function_rows();
[[nodiscard]] Numbers numbers_of(const Attributes& attributes);

}  // namespace poet::test
