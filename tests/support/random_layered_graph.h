#pragma once

// Graphs that are no training steps, in the manner of the random layered graphs of "Neural Topological
// Ordering for Computation Graphs" (Gagrani et al., NeurIPS 2022, appendix A), on which methods of
// rematerialization are compared: what an op makes may be wanted many layers later, and many values wait for
// the last op.

#include <cstdint>

#include "poet/cost/instance.h"

namespace poet::test {

struct RandomLayeredGraphOptions {
  int ops = 100;         // at least 4
  double width = 0.5;    // of a layer, over the number of layers
  double spread = 0.75;  // layers have their width more or less this share of it
  double edges = 0.2;    // share of the pairs of ops in neighbouring layers that have one
  double skips = 0.14;   // share of all edges that leap over layers
};

/// One source and one sink, which reads whatever nobody else does. Nothing can be paged. Values have 10 to
/// 8,000 bytes, mostly few; ops take up to a millisecond, and a joule per second. Ops come in a topological
/// order by chance. The same seed gives the same graph on every machine. O(ops x width).
[[nodiscard]] Instance random_layered_graph(std::uint64_t seed,
                                            const RandomLayeredGraphOptions& options = {});

}  // namespace poet::test
