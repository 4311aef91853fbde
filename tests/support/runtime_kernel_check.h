#pragma once

// Holds the runtime's kernels against the float64 interpreter, op by op on the same inputs.

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "poet/graph/graph.h"
#include "tests/support/runtime_interpreter.h"

namespace poet::test {

struct KernelCheckOptions {
  MakeKernel make = reference_kernel;
  std::int64_t step = 1;
  double tolerance = 2e-5;  // relative to the largest element of the result
  int classes = 3;          // integers are drawn below
};

/// Draws the values of what no op computes, runs the graph with the kernels and compares every op's results
/// with those of float64 on the same operands: values; nothing written outside the outputs and no operand
/// changed; the same bits at other addresses, on a second run, and over every operand that
/// overwritable_inputs() names. Adds the kinds that it has seen. Failures are GoogleTest's.
void check_kernels(const Graph& graph, std::uint64_t seed, std::set<std::string>* kinds = nullptr,
                   const KernelCheckOptions& options = {});

}  // namespace poet::test
