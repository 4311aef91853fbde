#pragma once

// Builds a forward graph op by op, in an order in which it can run. Operators are the functions of
// poet/graph/nn.h.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "poet/graph/graph.h"
#include "poet/graph/strides.h"

namespace poet {

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
  /// Says how files have the persistent value `v`.
  void set_layout_in_file(ValueId v, FileLayout layout);
  /// What an operator added later would create as `name` ("conv1.weight", "bn1.running_mean") is `existing`.
  /// The operator throws InputError when it has another shape.
  void bind(const std::string& name, ValueId existing);
  /// A view with a layout made by the functions of strides.h from that of `x`.
  ValueId view(const std::string& name, ValueId x, const StridedShape& as);

  [[nodiscard]] const Value& value(ValueId v) const;
  [[nodiscard]] const Shape& shape(ValueId v) const { return value(v).shape; }
  [[nodiscard]] DType dtype(ValueId v) const { return value(v).dtype; }
  [[nodiscard]] StridedShape layout(ValueId v) const { return strided_shape(value(v)); }

  /// The graph, verified, in the time of verify(). The builder is empty afterwards.
  [[nodiscard]] Graph finish();

  // What the functions of nn.h are made of. `op` is the name of the op that is being added.
  /// Throws InputError unless `v` is row-major, of this element type and (unless negative) this rank.
  void check_operand(const std::string& op, ValueId v, int rank = -1, DType dtype = DType::float32) const;
  /// The element type of `v`. Throws InputError unless it is row-major.
  DType any_type(const std::string& op, ValueId v) const;
  /// What is bound to `name`, or a new persistent value.
  ValueId persistent(const std::string& op, const std::string& name, const Shape& shape,
                     Persistence persistence = Persistence::parameter);
  /// A value that the op appended next writes.
  ValueId output(const std::string& op, const std::string& name, StridedShape layout,
                 DType dtype = DType::float32, Persistence persistence = Persistence::activation);
  /// Throws InputError where the op does not fit the schema of its kind.
  Op& append(const std::string& name, const std::string& kind, Attributes attributes,
             std::vector<ValueId> inputs, std::vector<ValueId> outputs, std::vector<ValueId> updates = {});
  /// 0, 1, 2... for ops that draw random numbers.
  std::int64_t next_seed() { return next_seed_++; }

 private:
  Graph graph_;
  std::map<std::string, ValueId> bound_;
  std::int64_t next_seed_ = 0;
};

}  // namespace poet
