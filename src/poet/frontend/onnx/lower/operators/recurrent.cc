// Recurrent layers.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/frontend/onnx/lower/zero_states.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

constexpr std::size_t kX = 0;
constexpr std::size_t kSequenceLens = 4;
constexpr std::size_t kInitialH = 5;
constexpr std::size_t kInitialC = 6;
constexpr std::size_t kPeepholes = 7;

nn::Direction direction(const Node& node) {
  const std::string name = text(node, "direction", "forward");
  if (name == "forward") return nn::Direction::forward;
  if (name == "reverse") return nn::Direction::reverse;
  if (name == "bidirectional") return nn::Direction::bidirectional;
  throw InputError("attribute 'direction'", fmt::format("'{}' is not known", name));
}

/// Returns the activations of one direction in lower case: the node's, which must be equal in both
/// directions, or the operator's defaults.
std::vector<std::string> activations(const Node& node, std::size_t directions,
                                     const std::vector<std::string>& own) {
  const auto found = node.attributes.find("activations");
  if (found == node.attributes.end()) return own;
  const auto* given = std::get_if<std::vector<std::string>>(&found->second);
  if (given == nullptr) throw InputError("attribute 'activations'", "must be a list of texts");
  std::vector<std::string> names = *given;
  for (std::string& name : names) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  }
  const std::size_t each = own.size();
  if (names.size() != each * directions) {
    throw InputError("attribute 'activations'",
                     fmt::format("has {} names, not {}", names.size(), each * directions));
  }
  for (std::size_t i = each; i < names.size(); ++i) {
    if (names[i] != names[i - each]) {
      throw InputError("attribute 'activations'", "must be the same in both directions");
    }
  }
  names.resize(each);
  return names;
}

void check_activations(const Node& node, std::size_t directions, const std::vector<std::string>& own) {
  const std::vector<std::string> names = activations(node, directions, own);
  if (names == own) return;
  throw InputError("attribute 'activations'", fmt::format("must be {}, the operator's own, not {}",
                                                          fmt::join(own, ", "), fmt::join(names, ", ")));
}

void check_lengths(const Lowering& net, const Node& node, std::int64_t steps) {
  if (!has_input(node, kSequenceLens)) return;
  const Fixed* lengths = fixed_of(net, node, kSequenceLens);
  const auto is_whole = [&](std::int64_t length) { return length == steps; };
  if (lengths != nullptr && lengths->tensor.known && lengths->tensor.type == Type::integer &&
      std::all_of(lengths->tensor.integers.begin(), lengths->tensor.integers.end(), is_whole)) {
    return;
  }
  throw InputError(
      fmt::format("input {} ('{}') must be {} for every sample: poet plans sequences of one length; export "
                  "without lengths",
                  kSequenceLens, node.inputs[kSequenceLens], steps));
}

/// Rejects attributes and inputs that poet does not support.
void check_rest(const Node& node) {
  if (node.attributes.contains("clip")) throw InputError("attribute 'clip'", "must be absent");
  if (integer(node, "input_forget", 0) != 0) throw InputError("attribute 'input_forget'", "must be 0");
  if (node.op_type == "LSTM" && has_input(node, kPeepholes)) {
    throw InputError(
        fmt::format("input {} ('{}'): peepholes are not supported", kPeepholes, node.inputs[kPeepholes]));
  }
}

/// A layer while its node is lowered.
struct Layer {
  Lowering& net;
  const Node& node;
  std::string name;
  bool batch_first;
  ValueId x;
  nn::RecurrentOptions options;
};

/// Returns the real input with the sequence first: transposed if the node has the batch first.
ValueId sequence_first(const Layer& layer, std::size_t i) {
  const Shape shape = shape_of(layer.net, layer.node, i);
  if (shape.size() != 3) throw InputError(fmt::format("input {} must have 3 dimensions", i));
  if (!layer.batch_first) return row_major(layer.net, layer.node, i);
  const std::string name = fmt::format("{}.{}.transposed", layer.name, i);
  return nn::transpose(layer.net.builder, name, value_of(layer.net, layer.node, i), {1, 0, 2});
}

/// Binds weights as stored in the file, or as computed by nodes.
void bind(const Layer& layer, std::size_t i, const char* suffix) {
  Lowering& net = layer.net;
  const bool made = is_runtime(net, layer.node, i);
  if (made) {
    net.notices.add(
        "weights of recurrent layers that nodes put together are copied in every step; export with constant "
        "folding");
  }
  net.builder.bind(layer.name + suffix, made ? row_major(net, layer.node, i)
                                             : weight_of(net, layer.node, i, shape_of(net, layer.node, i)));
}

/// Returns the initial state at input `i`, or an invalid id if it is absent or known to be zero.
ValueId initial_state(const Layer& layer, std::size_t i) {
  if (!has_input(layer.node, i)) return {};
  if (!is_zero_state(layer.net, layer.node, i)) return sequence_first(layer, i);
  // It is dropped, but says whether the layer is what it seems: PyTorch exports a projection (proj_size)
  // wrongly.
  const Fixed* zeros =
      layer.net.operands.contains(layer.node.inputs[i]) ? fixed_of(layer.net, layer.node, i) : nullptr;
  if (zeros != nullptr && !zeros->tensor.shape.empty() &&
      zeros->tensor.shape.back() != layer.options.hidden_size)
    throw InputError(fmt::format("its initial state has {} numbers per sample, but its hidden size is {}",
                                 zeros->tensor.shape.back(), layer.options.hidden_size));
  return {};
}

Layer prepared(Lowering& net, const Node& node, std::int64_t gates) {
  Layer layer{net, node, name_of(node), integer(node, "layout", 0) != 0, {}, {}};
  check_rest(node);
  layer.options.direction = direction(node);
  const Shape recurrence = shape_of(net, node, 2);
  if (recurrence.size() != 3 || recurrence[1] != gates * recurrence[2]) {
    throw InputError(fmt::format("input 2 must be (directions, {} hidden_size, hidden_size), not {}", gates,
                                 shown(recurrence)));
  }
  layer.options.hidden_size = recurrence[2];
  if (const std::int64_t told = integer(node, "hidden_size", recurrence[2]); told != recurrence[2]) {
    throw InputError("attribute 'hidden_size'",
                     fmt::format("is {}, but input 2 is {}", told, shown(recurrence)));
  }
  layer.x = sequence_first(layer, kX);
  check_lengths(net, node, net.builder.shape(layer.x)[0]);
  layer.options.bias = has_input(node, 3);
  bind(layer, 1, ".weight_ih");
  bind(layer, 2, ".weight_hh");
  if (layer.options.bias) bind(layer, 3, ".bias");
  layer.options.initial_h = initial_state(layer, kInitialH);
  return layer;
}

std::size_t directions(const Layer& layer) {
  return layer.options.direction == nn::Direction::bidirectional ? 2 : 1;
}

void set_states(const Layer& layer, const ValueId y) {
  if (!is_read(layer.net.uses, layer.node, 0)) return;
  Runtime all{y};
  if (layer.batch_first) all.id = nn::permute(layer.net.builder, layer.name + ".transposed", y, {2, 0, 1, 3});
  layer.net.operands[layer.node.outputs[0]] = all;
}

/// Sets output `i` to the last step of `states`.
void set_last(const Layer& layer, std::size_t i, const char* suffix, ValueId states) {
  if (!is_read(layer.net.uses, layer.node, i)) return;
  GraphBuilder& graph = layer.net.builder;
  Runtime last{nn::last_step(graph, layer.name + suffix, states, layer.options.direction)};
  if (layer.batch_first)
    last.id = nn::permute(graph, layer.name + suffix + ".transposed", last.id, {1, 0, 2});
  layer.net.operands[layer.node.outputs[i]] = last;
}

void lstm(Lowering& net, const Node& node) {
  Layer layer = prepared(net, node, 4);
  check_activations(node, directions(layer), {"sigmoid", "tanh", "tanh"});
  nn::RecurrentOptions& options = layer.options;
  options.initial_c = initial_state(layer, kInitialC);
  if (options.initial_h.valid() != options.initial_c.valid()) {
    // The op takes both or neither, so the missing one is zeros.
    const bool cell = options.initial_h.valid();
    const Shape shape = net.builder.shape(cell ? options.initial_h : options.initial_c);
    ValueId& missing = cell ? options.initial_c : options.initial_h;
    missing = add_filled(net, layer.name + (cell ? ".initial_c" : ".initial_h"), shape, 0);
  }
  const nn::LstmOutputs out = nn::lstm(net.builder, layer.name, layer.x, options);
  set_states(layer, out.y);
  set_last(layer, 1, ".h", out.y);
  set_last(layer, 2, ".c", out.cells);
}

void gru(Lowering& net, const Node& node) {
  const Layer layer = prepared(net, node, 3);
  check_activations(node, directions(layer), {"sigmoid", "tanh"});
  const bool linear_before_reset = integer(node, "linear_before_reset", 0) != 0;
  const ValueId y = nn::gru(net.builder, layer.name, layer.x, layer.options, linear_before_reset);
  set_states(layer, y);
  set_last(layer, 1, ".h", y);
}

void rnn(Lowering& net, const Node& node) {
  const Layer layer = prepared(net, node, 1);
  const std::string activation = activations(node, directions(layer), {"tanh"}).front();
  if (activation != "tanh" && activation != "relu") {
    throw InputError("attribute 'activations'", fmt::format("must be Tanh or Relu, not {}", activation));
  }
  const ValueId y = nn::rnn(net.builder, layer.name, layer.x, layer.options, activation == "relu");
  set_states(layer, y);
  set_last(layer, 1, ".h", y);
}

}  // namespace

const std::vector<OperatorEntry>& recurrent_operators() {
  static const std::vector<OperatorEntry> entries = {{"GRU", gru}, {"LSTM", lstm}, {"RNN", rnn}};
  return entries;
}

}  // namespace poet::onnx
