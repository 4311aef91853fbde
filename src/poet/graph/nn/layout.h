#pragma once

// Copies of elements of any type, and views, which are values and no ops. Lists have one number per axis.

#include <cstdint>
#include <string>
#include <vector>

#include "poet/graph/builder.h"

namespace poet::nn {

/// The inputs one after another along an axis; their other axes must be equal.
ValueId concat(GraphBuilder& g, const std::string& name, const std::vector<ValueId>& inputs,
               std::int64_t axis);
/// Along every axis the positions start, start + step... before end. Without steps all are 1.
ValueId slice(GraphBuilder& g, const std::string& name, ValueId x, const std::vector<std::int64_t>& starts,
              const std::vector<std::int64_t>& ends, const std::vector<std::int64_t>& steps = {});
/// One part per size, called "NAME.0", "NAME.1"...; the sizes must add up to that of the axis.
std::vector<ValueId> split(GraphBuilder& g, const std::string& name, ValueId x, std::int64_t axis,
                           const std::vector<std::int64_t>& sizes);
ValueId pad(GraphBuilder& g, const std::string& name, ValueId x, const std::vector<std::int64_t>& before,
            const std::vector<std::int64_t>& after, double value = 0.0);
/// Axis i of the result is axis `axes[i]` of x, which may be a view with any strides; the result is
/// row-major. What a permuted view needs before an operator that reads row-major tensors only.
ValueId transpose(GraphBuilder& g, const std::string& name, ValueId x, const std::vector<std::int64_t>& axes);
/// x, stretched to a shape that it broadcasts to.
ValueId expand(GraphBuilder& g, const std::string& name, ValueId x, const Shape& to);
/// In reversed order along `axes` (at least one, each once).
ValueId flip(GraphBuilder& g, const std::string& name, ValueId x, std::vector<std::int64_t> axes);

/// Views.
ValueId reshape(GraphBuilder& g, const std::string& name, ValueId x, const Shape& to);
/// Keeps axis 0 and merges the others.
ValueId flatten(GraphBuilder& g, const std::string& name, ValueId x);
ValueId permute(GraphBuilder& g, const std::string& name, ValueId x, const std::vector<std::int64_t>& axes);

}  // namespace poet::nn
