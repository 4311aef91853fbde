#pragma once

// Builds a forward graph op by op: one function per operator of docs/operators.md. Each infers the shapes of
// what it writes, checks what it reads, and creates the parameters that the operator needs, named as PyTorch
// names them ("layer1.0.conv1.weight" for the op "layer1.0.conv1"). Every function throws InputError naming
// the op when shapes or element types do not fit the operator or a size overflows; a builder that has thrown
// is good for nothing but destruction. Each function is O(rank), finish() as verify().

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "poet/graph/graph.h"
#include "poet/graph/strides.h"

namespace poet {

/// One number per spatial axis: height and width, or depth, height and width.
using Extent = std::vector<std::int64_t>;

/// Lists left empty have the default along every axis.
struct ConvOptions {
  std::int64_t out_channels = 1;
  Extent kernel = {};    // 1
  Extent stride = {};    // 1
  Extent padding = {};   // 0
  Extent dilation = {};  // 1
  std::int64_t groups = 1;
  bool bias = false;
  Extent padding_end = {};  // at the end of each axis; empty: as at its begin, `padding`
  // Transposed convolutions alone: elements more at the end of each axis, fewer than the stride or the
  // dilation. Of the sizes from which a convolution leads to that of x it chooses another one than the least.
  Extent output_padding = {};  // 0
};

/// Lists left empty have the default along every axis.
struct PoolOptions {
  Extent kernel = {};             // 2
  Extent stride = {};             // as the kernel
  Extent padding = {};            // 0
  Extent dilation = {};           // 1
  Extent padding_end = {};        // at the end of each axis; empty: as at its begin, `padding`
  bool ceil_mode = false;         // one more window where the last one would leave elements over
  bool count_include_pad = true;  // average: padding counts in the divisor
};

struct BatchNormOptions {
  double eps = 1e-5;
  double momentum = 0.1;
};

struct LrnOptions {
  std::int64_t size = 5;  // channels in a window
  double alpha = 1e-4;
  double beta = 0.75;
  double bias = 1.0;
};

struct MatmulOptions {
  double alpha = 1.0;
  std::vector<std::int64_t> storage_order;  // of the output's axes, slowest first; empty: row-major
};

struct TensorType {
  Shape shape;
  DType dtype = DType::float32;
};

/// Which elements of the input an element of the output is made of, as ONNX's Resize says it.
struct ResizeOptions {
  std::string mode = "nearest";  // nearest, linear, cubic
  // half_pixel, pytorch_half_pixel, align_corners, asymmetric, tf_half_pixel_for_nn
  std::string coordinates = "half_pixel";
  std::string nearest = "round_prefer_floor";  // or round_prefer_ceil, floor, ceil
  double cubic_a = -0.75;
  bool exclude_outside = false;     // cubic: elements outside have no weight, instead of the border's value
  std::vector<double> scales = {};  // per spatial axis; empty: size of the output / size of the input
};

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

class GraphBuilder {
 public:
  explicit GraphBuilder(std::string graph_name);

  /// Data of the step, by an op that cannot be recomputed.
  ValueId input(const std::string& name, const Shape& shape, DType dtype = DType::float32);

  /// A weight with a name of its own, for operators to take in place of one that they would create: one that
  /// several share, or one that is named by a file.
  ValueId parameter(const std::string& name, const Shape& shape,
                    Persistence persistence = Persistence::parameter);
  /// Numbers that stay in RAM across steps and never train (to `differentiate` no more than running
  /// statistics are), for any operator to read.
  ValueId constant(const std::string& name, const Shape& shape, DType dtype = DType::float32);
  /// What an operator added later would create as `name` ("conv1.weight", "bn1.running_mean") is `existing`.
  /// The operator throws InputError when it has another shape.
  void bind(const std::string& name, ValueId existing);

  ValueId linear(const std::string& name, ValueId x, std::int64_t out_features, bool bias = true);
  /// Reads views with any strides. Of a (...,M,K) and b (...,K,N) the leading axes broadcast.
  ValueId matmul(const std::string& name, ValueId a, ValueId b, const MatmulOptions& options = {});

  /// Training mode: normalises with the statistics of the batch, and updates the running ones in an op of its
  /// own right after it, so that the normalisation can be recomputed without repeating the side effect. Needs
  /// more than one value per channel.
  ValueId batch_norm(const std::string& name, ValueId x, const BatchNormOptions& options = {});
  ValueId layer_norm(const std::string& name, ValueId x, double eps);
  /// Normalises every group of channels of every image; scale and shift per channel.
  ValueId group_norm(const std::string& name, ValueId x, std::int64_t groups, double eps);
  /// The group norm with one channel per group.
  ValueId instance_norm(const std::string& name, ValueId x, double eps);
  /// Divides x (N,C,...) by (bias + alpha / size * sum of squares)^beta, the sum over the `size` channels
  /// around: (size - 1) / 2 before, rounded down, the others after.
  ValueId lrn(const std::string& name, ValueId x, const LrnOptions& options);

  /// y = f(x), by an operator of docs/operators.md that reads x alone and writes one value of its shape:
  /// "sigmoid", "leaky_relu" with its attribute, "logical_not".
  ValueId unary(const std::string& kind, const std::string& name, ValueId x, Attributes attributes = {});
  ValueId relu(const std::string& name, ValueId x) { return unary("relu", name, x); }
  ValueId gelu(const std::string& name, ValueId x) { return unary("gelu", name, x); }
  ValueId tanh(const std::string& name, ValueId x) { return unary("tanh", name, x); }
  /// Over the last axis, as log_softmax.
  ValueId softmax(const std::string& name, ValueId x) { return unary("softmax", name, x); }
  ValueId log_softmax(const std::string& name, ValueId x) { return unary("log_softmax", name, x); }
  /// `probability` of dropping an element. Each dropout of a graph has a seed of its own: 0, 1, 2... in
  /// order.
  ValueId dropout(const std::string& name, ValueId x, double probability);

  // Arithmetic (builder_elementwise.cc). Operands are values of any persistence; add, sub, mul, abs, neg and
  // scale (by whole numbers) take int32 ones, too.
  /// By an operator of two operands of one type, which broadcast as NumPy's do: aligned at the last axis,
  /// axes of size 1 stretch. Arithmetic, comparisons ("less", "equal"), logic ("logical_and"), "int_div",
  /// "mod". A truth value is a uint8, 0 or not 0; ops write 0 and 1. Integers have no gradient: it stops
  /// at them.
  ValueId binary(const std::string& kind, const std::string& name, ValueId a, ValueId b);
  ValueId add(const std::string& name, ValueId a, ValueId b) { return binary("add", name, a, b); }
  ValueId sub(const std::string& name, ValueId a, ValueId b) { return binary("sub", name, a, b); }
  ValueId mul(const std::string& name, ValueId a, ValueId b) { return binary("mul", name, a, b); }
  ValueId div(const std::string& name, ValueId a, ValueId b) { return binary("div", name, a, b); }
  /// alpha x + beta; a `shift`, which shares its gradient, where alpha is 1.
  ValueId scale(const std::string& name, ValueId x, double alpha, double beta = 0.0);
  /// The scale by -1.
  ValueId neg(const std::string& name, ValueId x);
  /// To [minimum, maximum], one of which may be infinite. ReLU6 is (0, 6).
  ValueId clip(const std::string& name, ValueId x, double minimum, double maximum);
  /// x where positive, else slope x; the slope broadcasts to x.
  ValueId prelu(const std::string& name, ValueId x, ValueId slope);
  /// "reduce_sum", "reduce_mean", "reduce_max" or "reduce_min" over `axes` (at least one, each once,
  /// counted from 0), which stay as axes of size 1 with `keepdims`. Elements that are equally extreme
  /// share the gradient.
  ValueId reduce(const std::string& kind, const std::string& name, ValueId x, std::vector<std::int64_t> axes,
                 bool keepdims = true);

  // Windows (builder_windows.cc): x is (N,C,H,W), of the 3-d ones (N,C,D,H,W).
  ValueId conv2d(const std::string& name, ValueId x, const ConvOptions& options);
  ValueId conv3d(const std::string& name, ValueId x, const ConvOptions& options);
  /// The gradient of a convolution as a forward operator: every element of x, times the weight (C,
  /// out_channels/groups, kernel...), is added to one window of the output.
  ValueId conv_transpose2d(const std::string& name, ValueId x, const ConvOptions& options);
  ValueId conv_transpose3d(const std::string& name, ValueId x, const ConvOptions& options);
  /// An index is a byte where a window has at most 256 elements, else an int32.
  ValueId max_pool2d(const std::string& name, ValueId x, const PoolOptions& options);
  ValueId max_pool3d(const std::string& name, ValueId x, const PoolOptions& options);
  ValueId avg_pool2d(const std::string& name, ValueId x, const PoolOptions& options);
  ValueId avg_pool3d(const std::string& name, ValueId x, const PoolOptions& options);
  /// Over all of (N,C,...) but the first two axes, which stay as axes of size 1.
  ValueId global_avg_pool(const std::string& name, ValueId x);
  ValueId global_max_pool(const std::string& name, ValueId x);

  ValueId embedding(const std::string& name, ValueId indices, std::int64_t rows, std::int64_t width);
  ValueId select(const std::string& name, ValueId x, std::int64_t index);
  /// The loss: mean over the batch.
  ValueId softmax_cross_entropy(const std::string& name, ValueId logits, ValueId targets);
  /// The loss: mean over all elements of (x - targets)².
  ValueId mse_loss(const std::string& name, ValueId x, ValueId targets);

  /// An operator of which no more is known than what it reads and writes: it cannot be recomputed, and its
  /// backward op reads all of that. `what` is its name where it comes from; the first output is called
  /// `name`, the others "NAME.1", "NAME.2"...
  std::vector<ValueId> opaque(const std::string& name, const std::string& what,
                              const std::vector<ValueId>& inputs, const std::vector<TensorType>& outputs);

  // Integers and conditions (builder_integers.cc).
  /// Between float32, int32 and uint8. Real numbers are rounded towards zero; what is not 0 is true.
  ValueId cast(const std::string& name, ValueId x, DType to);
  /// Of float32 or int32. `exclusive`: without the element itself; `reverse`: from the end.
  ValueId cumsum(const std::string& name, ValueId x, std::int64_t axis, bool exclusive = false,
                 bool reverse = false);
  /// The position (int32) of the largest element along `axis`, the first of several, or the last.
  ValueId argmax(const std::string& name, ValueId x, std::int64_t axis, bool keepdims = true,
                 bool last = false);
  /// a where the condition (uint8) holds, else b; the three broadcast.
  ValueId where(const std::string& name, ValueId condition, ValueId a, ValueId b);
  /// Slices of x (of any type) at the positions `indices` (int32) along `axis`, which the axes of `indices`
  /// take the place of. A position below 0 counts from the end.
  ValueId gather(const std::string& name, ValueId x, ValueId indices, std::int64_t axis);
  /// For every element of `indices` (int32, of x's rank, no axis but `axis` longer than x's) the element of x
  /// whose position along `axis` it is, with the other positions its own.
  ValueId gather_elements(const std::string& name, ValueId x, ValueId indices, std::int64_t axis);
  /// x (of any type), stretched to a shape that it broadcasts to.
  ValueId expand(const std::string& name, ValueId x, const Shape& to);

  // One recurrent layer (builder_recurrent.cc) over x (S, N, I), in one or both directions, with the gates
  // and the layout of ONNX: NAME.weight_ih (directions, gates * hidden_size, I), NAME.weight_hh (directions,
  // gates * hidden_size, hidden_size), NAME.bias (directions, 2 * gates * hidden_size), the half for x first.
  // The result is (S, directions, N, hidden_size).
  LstmOutputs lstm(const std::string& name, ValueId x, const RecurrentOptions& options);
  /// `linear_before_reset`: the reset gate multiplies the product with the hidden state, not the state.
  ValueId gru(const std::string& name, ValueId x, const RecurrentOptions& options,
              bool linear_before_reset = false);
  /// With tanh, or with relu.
  ValueId rnn(const std::string& name, ValueId x, const RecurrentOptions& options, bool relu = false);
  /// What a recurrent layer is left with (directions, N, hidden_size), of its states after every step: those
  /// after the last, which the reverse direction takes at position 0.
  ValueId last_step(const std::string& name, ValueId states, Direction direction);

  // Copies of elements of any type (builder_layout.cc). Lists have one number per axis.
  /// The inputs one after another along an axis; their other axes must be equal.
  ValueId concat(const std::string& name, const std::vector<ValueId>& inputs, std::int64_t axis);
  /// Along every axis the positions start, start + step... before end. Without steps all are 1.
  ValueId slice(const std::string& name, ValueId x, const std::vector<std::int64_t>& starts,
                const std::vector<std::int64_t>& ends, const std::vector<std::int64_t>& steps = {});
  /// One part per size, called "NAME.0", "NAME.1"...; the sizes must add up to that of the axis.
  std::vector<ValueId> split(const std::string& name, ValueId x, std::int64_t axis,
                             const std::vector<std::int64_t>& sizes);
  ValueId pad(const std::string& name, ValueId x, const std::vector<std::int64_t>& before,
              const std::vector<std::int64_t>& after, double value = 0.0);
  /// Axis i of the result is axis `axes[i]` of x, which may be a view with any strides; the result is
  /// row-major. What a permuted view needs before an operator that reads row-major tensors only.
  ValueId transpose(const std::string& name, ValueId x, const std::vector<std::int64_t>& axes);

  /// x (N,C,...) with `sizes` in place of its one to three spatial axes (builder_resize.cc).
  ValueId resize(const std::string& name, ValueId x, const std::vector<std::int64_t>& sizes,
                 const ResizeOptions& options = {});
  /// In reversed order along `axes` (at least one, each once).
  ValueId flip(const std::string& name, ValueId x, std::vector<std::int64_t> axes);

  // Views: values, not ops.
  ValueId reshape(const std::string& name, ValueId x, const Shape& to);
  /// Keeps axis 0 and merges the others.
  ValueId flatten(const std::string& name, ValueId x);
  ValueId permute(const std::string& name, ValueId x, const std::vector<std::int64_t>& axes);
  /// A view with a layout made by the functions of strides.h from that of `x`.
  ValueId view(const std::string& name, ValueId x, const StridedShape& as);

  [[nodiscard]] const Shape& shape(ValueId v) const;
  [[nodiscard]] StridedShape layout(ValueId v) const;
  [[nodiscard]] DType dtype(ValueId v) const;

  /// The graph, verified. The builder is empty afterwards.
  [[nodiscard]] Graph finish();

 private:
  ValueId persistent(const std::string& op, const std::string& name, const Shape& shape,
                     Persistence persistence);
  // A value that the op added next writes.
  ValueId output(const std::string& op, const std::string& name, StridedShape layout,
                 DType dtype = DType::float32, Persistence persistence = Persistence::activation);
  // Checked: what does not fit the operator's schema is refused.
  Op& append(const std::string& name, const std::string& kind, Attributes attributes,
             std::vector<ValueId> inputs, std::vector<ValueId> outputs, std::vector<ValueId> updates = {});
  struct RecurrentLayer;
  RecurrentLayer recurrent(const std::string& name, ValueId x, const RecurrentOptions& options,
                           std::int64_t gates, bool has_cells);
  ValueId convolution(const std::string& name, const char* kind, std::size_t axes, ValueId x,
                      const ConvOptions& options, bool transposed);
  ValueId pool(const std::string& name, const char* kind, std::size_t axes, ValueId x,
               const PoolOptions& options, bool indices);
  ValueId global_pool(const std::string& name, const char* kind, ValueId x, bool indices);
  // Row-major, of this element type and (unless negative) this rank.
  void check_operand(const std::string& op, ValueId v, int rank, DType dtype = DType::float32) const;
  // Of what an operator writes that reads `inputs` operands, the first of type `read`.
  static DType written_type(const std::string& kind, std::size_t inputs, DType read);
  // Row-major, whatever the type.
  DType any_type(const std::string& op, ValueId v) const;

  Graph graph_;
  std::map<std::string, ValueId> bound_;
  std::int64_t next_seed_ = 0;
};

}  // namespace poet
