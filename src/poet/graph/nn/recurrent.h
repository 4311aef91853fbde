#pragma once

// One recurrent layer over x (S, N, I), in one or both directions, with the gates and the layout of ONNX:
// NAME.weight_ih (directions, gates * hidden_size, I), NAME.weight_hh (directions, gates * hidden_size,
// hidden_size), NAME.bias (directions, 2 * gates * hidden_size), the half for x first. The result is
// (S, directions, N, hidden_size).

#include <cstdint>
#include <string>

#include "poet/graph/builder.h"

namespace poet::nn {

enum class Direction { forward, reverse, bidirectional };

struct RecurrentOptions {
  std::int64_t hidden_size = 1;
  Direction direction = Direction::forward;
  bool bias = true;
  ValueId initial_h = {};  // (directions, N, hidden_size); none: zeros
  ValueId initial_c = {};  // the same; an lstm has both or neither, the others have none
};

/// Both (S, directions, N, hidden_size).
struct LstmOutputs {
  ValueId y;      // the hidden state after every step
  ValueId cells;  // the cell state after every step
};

LstmOutputs lstm(GraphBuilder& g, const std::string& name, ValueId x, const RecurrentOptions& options);
/// `linear_before_reset`: the reset gate multiplies the product with the hidden state, not the state.
ValueId gru(GraphBuilder& g, const std::string& name, ValueId x, const RecurrentOptions& options,
            bool linear_before_reset = false);
/// With tanh, or with relu.
ValueId rnn(GraphBuilder& g, const std::string& name, ValueId x, const RecurrentOptions& options,
            bool relu = false);
/// What a recurrent layer is left with (directions, N, hidden_size), of its states after every step: those
/// after the last, which the reverse direction takes at position 0.
ValueId last_step(GraphBuilder& g, const std::string& name, ValueId states, Direction direction);

}  // namespace poet::nn
