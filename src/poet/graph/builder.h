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

  /// Adds data of the step, and the op that brings it, which cannot be recomputed.
  ValueId input(const std::string& name, const Shape& shape, DType dtype = DType::float32);
  /// Adds a weight for operators to use instead of creating one (see bind()): one that several share, or that
  /// a file names.
  ValueId parameter(const std::string& name, const Shape& shape,
                    Persistence persistence = Persistence::parameter);
  /// Adds a persistent tensor that is not trained, for any operator to read.
  ValueId constant(const std::string& name, const Shape& shape, DType dtype = DType::float32);
  /// Sets how files have the persistent value `v`.
  void set_layout_in_file(ValueId v, FileLayout layout);
  /// Makes operators that are added later use `existing` instead of creating `name` ("conv1.weight",
  /// "bn1.running_mean"). They throw InputError if its shape differs.
  void bind(const std::string& name, ValueId existing);
  /// Adds a view of `x` with a layout that functions of strides.h derived from that of `x`.
  ValueId view(const std::string& name, ValueId x, const StridedShape& as);

  [[nodiscard]] const Value& value(ValueId v) const;
  [[nodiscard]] const Shape& shape(ValueId v) const { return value(v).shape; }
  [[nodiscard]] DType dtype(ValueId v) const { return value(v).dtype; }
  [[nodiscard]] StridedShape layout(ValueId v) const { return strided_shape(value(v)); }

  /// Returns the verified graph and leaves the builder empty. Time as verify().
  [[nodiscard]] Graph finish();

  // What the functions of nn.h are made of. `op` is the name of the op that is being added.
  /// Throws InputError unless `v` is row-major, of this element type and (unless negative) this rank.
  void check_operand(const std::string& op, ValueId v, int rank = -1, DType dtype = DType::float32) const;
  /// Returns the element type of `v`. Throws InputError unless it is row-major.
  DType any_type(const std::string& op, ValueId v) const;
  /// Returns the value bound to `name`, or a new persistent value.
  ValueId persistent(const std::string& op, const std::string& name, const Shape& shape,
                     Persistence persistence = Persistence::parameter);
  /// Adds a value that the next appended op writes.
  ValueId output(const std::string& op, const std::string& name, StridedShape layout,
                 DType dtype = DType::float32, Persistence persistence = Persistence::activation);
  /// Appends an op. Throws InputError if it does not fit the schema of its kind.
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
