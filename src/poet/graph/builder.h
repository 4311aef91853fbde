#pragma once

// Builds a forward graph op by op: one function per operator of docs/operators.md. Each infers the shapes of
// what it writes, checks what it reads, and creates the parameters that the operator needs, named as PyTorch
// names them ("layer1.0.conv1.weight" for the op "layer1.0.conv1"). Every function throws InputError naming
// the op when shapes or element types do not fit the operator or a size overflows; a builder that has thrown
// is good for nothing but destruction. Each function is O(rank), finish() as verify().

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "poet/graph/graph.h"
#include "poet/graph/strides.h"

namespace poet {

using Extent2d = std::array<std::int64_t, 2>;  // height, width

struct Conv2dOptions {
  std::int64_t out_channels = 1;
  Extent2d kernel = {1, 1};
  Extent2d stride = {1, 1};
  Extent2d padding = {0, 0};
  Extent2d dilation = {1, 1};
  std::int64_t groups = 1;
  bool bias = false;
};

struct Pool2dOptions {
  Extent2d kernel = {2, 2};
  Extent2d stride = {2, 2};
  Extent2d padding = {0, 0};
};

struct BatchNormOptions {
  double eps = 1e-5;
  double momentum = 0.1;
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

  ValueId conv2d(const std::string& name, ValueId x, const Conv2dOptions& options);
  ValueId linear(const std::string& name, ValueId x, std::int64_t out_features, bool bias = true);
  /// Reads views with any strides.
  ValueId matmul(const std::string& name, ValueId a, ValueId b, const MatmulOptions& options = {});

  /// Training mode: normalises with the statistics of the batch, and updates the running ones in an op of its
  /// own right after it, so that the normalisation can be recomputed without repeating the side effect. Needs
  /// more than one value per channel.
  ValueId batch_norm(const std::string& name, ValueId x, const BatchNormOptions& options = {});
  ValueId layer_norm(const std::string& name, ValueId x, double eps);

  ValueId relu(const std::string& name, ValueId x);
  ValueId gelu(const std::string& name, ValueId x);
  ValueId tanh(const std::string& name, ValueId x);
  ValueId softmax(const std::string& name, ValueId x);
  /// `probability` of dropping an element. Each dropout of a graph has a seed of its own: 0, 1, 2... in
  /// order.
  ValueId dropout(const std::string& name, ValueId x, double probability);
  ValueId add(const std::string& name, ValueId a, ValueId b);

  /// At most 256 elements per window: an index is one byte.
  ValueId max_pool2d(const std::string& name, ValueId x, const Pool2dOptions& options);
  ValueId avg_pool2d(const std::string& name, ValueId x, const Pool2dOptions& options);
  ValueId global_avg_pool(const std::string& name, ValueId x);

  ValueId embedding(const std::string& name, ValueId indices, std::int64_t rows, std::int64_t width);
  ValueId select(const std::string& name, ValueId x, std::int64_t index);
  /// The loss: mean over the batch.
  ValueId softmax_cross_entropy(const std::string& name, ValueId logits, ValueId targets);

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
  ValueId elementwise(const std::string& name, const char* kind, ValueId x);
  ValueId pool(const std::string& name, const char* kind, ValueId x, const Pool2dOptions& options,
               bool indices);
  // Row-major, of this element type and (unless negative) this rank.
  void check_operand(const std::string& op, ValueId v, int rank, DType dtype = DType::float32) const;

  Graph graph_;
  std::int64_t next_seed_ = 0;
};

}  // namespace poet
