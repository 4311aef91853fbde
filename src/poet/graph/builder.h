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
  ValueId constant(const std::string& name, const Shape& shape);
  /// What an operator added later would create as `name` ("conv1.weight", "bn1.running_mean") is `existing`.
  /// The operator throws InputError when it has another shape.
  void bind(const std::string& name, ValueId existing);

  ValueId linear(const std::string& name, ValueId x, std::int64_t out_features, bool bias = true);
  /// Reads views with any strides.
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

  ValueId relu(const std::string& name, ValueId x);
  ValueId gelu(const std::string& name, ValueId x);
  ValueId tanh(const std::string& name, ValueId x);
  ValueId softmax(const std::string& name, ValueId x);
  /// `probability` of dropping an element. Each dropout of a graph has a seed of its own: 0, 1, 2... in
  /// order.
  ValueId dropout(const std::string& name, ValueId x, double probability);

  // Arithmetic (builder_elementwise.cc). Operands are float32 values of any persistence.
  /// Operands of two shapes broadcast as NumPy's do: aligned at the last axis, axes of size 1 stretch.
  ValueId add(const std::string& name, ValueId a, ValueId b);
  ValueId sub(const std::string& name, ValueId a, ValueId b);
  ValueId mul(const std::string& name, ValueId a, ValueId b);
  ValueId div(const std::string& name, ValueId a, ValueId b);
  /// alpha x + beta; a `shift`, which shares its gradient, where alpha is 1.
  ValueId scale(const std::string& name, ValueId x, double alpha, double beta = 0.0);
  /// The scale by -1.
  ValueId neg(const std::string& name, ValueId x);
  ValueId sigmoid(const std::string& name, ValueId x);
  ValueId erf(const std::string& name, ValueId x);
  ValueId exp(const std::string& name, ValueId x);
  ValueId log(const std::string& name, ValueId x);
  ValueId sqrt(const std::string& name, ValueId x);
  ValueId abs(const std::string& name, ValueId x);
  /// `exponent` is not 0.
  ValueId pow(const std::string& name, ValueId x, double exponent);
  /// To [minimum, maximum], one of which may be infinite. ReLU6 is (0, 6).
  ValueId clip(const std::string& name, ValueId x, double minimum, double maximum);
  /// x where positive, else alpha x; alpha >= 0.
  ValueId leaky_relu(const std::string& name, ValueId x, double alpha = 0.01);
  /// x where positive, else alpha (exp(x) - 1); alpha >= 0.
  ValueId elu(const std::string& name, ValueId x, double alpha = 1.0);
  /// alpha x + beta, clipped to [0, 1].
  ValueId hardsigmoid(const std::string& name, ValueId x, double alpha = 0.2, double beta = 0.5);
  /// x (x / 6 + 1/2, clipped to [0, 1]).
  ValueId hardswish(const std::string& name, ValueId x);
  /// Over `axes` (at least one, each once, counted from 0), which stay as axes of size 1 with `keepdims`.
  ValueId reduce_sum(const std::string& name, ValueId x, const std::vector<std::int64_t>& axes,
                     bool keepdims = true);
  ValueId reduce_mean(const std::string& name, ValueId x, const std::vector<std::int64_t>& axes,
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

  // Copies of elements (builder_layout.cc). Lists have one number per axis.
  /// The inputs one after another along an axis; their other axes must be equal.
  ValueId concat(const std::string& name, const std::vector<ValueId>& inputs, std::int64_t axis);
  /// Along every axis the positions start, start + step... before end. Without steps all are 1.
  ValueId slice(const std::string& name, ValueId x, const std::vector<std::int64_t>& starts,
                const std::vector<std::int64_t>& ends, const std::vector<std::int64_t>& steps = {});
  /// One slice per size, "NAME.0", "NAME.1"...; the sizes must add up to that of the axis.
  std::vector<ValueId> split(const std::string& name, ValueId x, std::int64_t axis,
                             const std::vector<std::int64_t>& sizes);
  ValueId pad(const std::string& name, ValueId x, const std::vector<std::int64_t>& before,
              const std::vector<std::int64_t>& after, double value = 0.0);
  /// Axis i of the result is axis `axes[i]` of x, which may be a view with any strides; the result is
  /// row-major. What a permuted view needs before an operator that reads row-major tensors only.
  ValueId transpose(const std::string& name, ValueId x, const std::vector<std::int64_t>& axes);

  // Views: values, not ops.
  ValueId reshape(const std::string& name, ValueId x, const Shape& to);
  /// Keeps axis 0 and merges the others.
  ValueId flatten(const std::string& name, ValueId x);
  ValueId permute(const std::string& name, ValueId x, const std::vector<std::int64_t>& axes);
  /// A view with a layout made by the functions of strides.h from that of `x`.
  ValueId view(const std::string& name, ValueId x, const StridedShape& as);

  [[nodiscard]] const Shape& shape(ValueId v) const;
  [[nodiscard]] StridedShape layout(ValueId v) const;

  /// The graph, verified. The builder is empty afterwards.
  [[nodiscard]] Graph finish();

 private:
  ValueId persistent(const std::string& op, const std::string& name, const Shape& shape,
                     Persistence persistence);
  // A value that the op added next writes.
  ValueId output(const std::string& op, const std::string& name, StridedShape layout,
                 DType dtype = DType::float32, Persistence persistence = Persistence::activation);
  Op& append(const std::string& name, const char* kind, Attributes attributes, std::vector<ValueId> inputs,
             std::vector<ValueId> outputs);
  ValueId elementwise(const std::string& name, const char* kind, ValueId x, Attributes attributes = {});
  ValueId binary(const std::string& name, const char* kind, ValueId a, ValueId b);
  ValueId reduction(const std::string& name, const char* kind, ValueId x, std::vector<std::int64_t> axes,
                    bool keepdims);
  ValueId convolution(const std::string& name, const char* kind, std::size_t axes, ValueId x,
                      const ConvOptions& options, bool transposed);
  ValueId pool(const std::string& name, const char* kind, std::size_t axes, ValueId x,
               const PoolOptions& options, bool indices);
  ValueId global_pool(const std::string& name, const char* kind, ValueId x, bool indices);
  // Row-major, of this element type and (unless negative) this rank.
  void check_operand(const std::string& op, ValueId v, int rank, DType dtype = DType::float32) const;

  Graph graph_;
  std::map<std::string, ValueId> bound_;
  std::int64_t next_seed_ = 0;
};

}  // namespace poet
