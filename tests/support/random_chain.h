#pragma once

// Training steps whose forward pass is a chain of blocks, random or all alike.

#include "poet/cost/instance.h"
#include "tests/support/random_instance.h"

namespace poet::test {

struct RandomChainOptions {
  int blocks = 4;               // the loss included
  int most_ops = 3;             // forward ops of a block
  bool input = true;            // the first block reads data that cannot be recomputed
  bool targets = false;         // the last block reads such data, too
  bool updates = false;         // parameters, trained by ops between the backward ones
  bool device = false;          // workspace, idle power, waking up
  std::int64_t most_bytes = 8;  // of a value
};

/// Every block has backward ops that read something of its interior or its input and output, so that the
/// chain is of exactly that many blocks. Seconds are multiples of 1/8 and joules of 1/4. Values can be paged.
[[nodiscard]] Instance random_chain(Rng& rng, const RandomChainOptions& options);

/// As many equal blocks of one op, with an input that cannot be recomputed: every value 1 byte, every op 1 s
/// and 1 J. Block i's backward op reads its input, its output and the gradient so far.
[[nodiscard]] Instance unit_blocks(int blocks);

}  // namespace poet::test
