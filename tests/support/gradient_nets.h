#pragma once

// Networks whose gradients are checked: together they have every operator.

#include <string>
#include <vector>

#include "poet/graph/graph.h"
#include "poet/graph/nn.h"

namespace poet::test {

/// Every operator of convolutional networks: strides, groups, dilation, overlapping pools, two residual
/// branches.
[[nodiscard]] Graph conv_net();

/// One encoder block: embeddings, two heads on strided views, both residual sums, pooler.
[[nodiscard]] Graph transformer();

/// Uneven windows, normalisations within an image, and copies of elements, on views and on parts that do not
/// train.
[[nodiscard]] Graph layout_net();

/// Arithmetic as files spell networks out: an activation gated by its channels' means, a layer norm and a
/// gelu in parts, operands that broadcast from either side, shared parameters and constants.
[[nodiscard]] Graph arithmetic_net();

/// Masks and positions that the step computes, choices between operands that broadcast, tables read by index.
[[nodiscard]] Graph integers_net();

/// Images in other sizes and orders, with three kinds of resizing, and the activations between them; extremes
/// and stretched products at the end.
[[nodiscard]] Graph resize_net();

/// Every function of one element that has a slope.
[[nodiscard]] Graph functions_net();

/// Windows over three axes, transposed convolutions, a pool with a window too long for indices of one byte.
[[nodiscard]] Graph volume_net();

/// One of each loss of numbers, and a cross-entropy with smoothed labels.
[[nodiscard]] std::vector<Graph> loss_nets();

struct RecurrentCase {
  std::string kind;  // lstm, gru, rnn
  bool variant;      // linear before reset; relu; the loss reads an lstm's cells, without a bias nothing else
  nn::Direction direction;
  bool bias;
  bool states;  // initial ones: h a parameter, c of a layer

  [[nodiscard]] std::string name() const {
    return kind + (variant ? "_variant_" : "_") + std::to_string(static_cast<int>(direction)) +
           (bias ? "_bias" : "") + (states ? "_states" : "");
  }
};

[[nodiscard]] std::vector<RecurrentCase> recurrent_cases();

/// Three steps, two samples: the loss reads the states of every step, and the last ones once more.
[[nodiscard]] Graph recurrent_net(const RecurrentCase& wanted);

}  // namespace poet::test
