// What networks of tokens need, and pools over windows.

#include <algorithm>
#include <array>
#include <cmath>

#include "poet/base/error.h"
#include "poet/firmware/families.h"
#include "poet/graph/parts.h"

namespace poet::firmware {
namespace {

std::vector<std::byte> softmax_rows(const OpReader& op) {
  return bytes_of(poet_rows{small(op.in_count(0) / op.in(0).back()), small(op.in(0).back())});
}

std::vector<std::byte> layer_norm(const OpReader& op) {
  poet_layer_norm s{};
  s.width = small(op.in(0).back());
  s.rows = small(op.in_count(0) / s.width);
  s.dx = s.dweight = s.dbias = s.from_weight = s.from_bias = -1;
  s.eps = op.real("eps");
  return bytes_of(s);
}

std::vector<std::byte> layer_norm_backward(const OpReader& op) {
  const std::vector<Index> all = {0, 1, 2};
  const int weight = op.gradient(1, all);
  const int bias = op.gradient(2, all);
  poet_layer_norm s{};
  s.width = small(op.in(1).back());
  s.rows = small(op.in_count(1) / s.width);
  s.dx = output_or_none(op, op.gradient(0, all));
  s.dweight = output_or_none(op, weight);
  s.dbias = output_or_none(op, bias);
  s.from_weight = accumulator_of(op, weight);
  s.from_bias = accumulator_of(op, bias);
  return bytes_of(s);
}

// ---- matmul

/// The strides of the leading axes of an operand, stretched to `whole`, which has leading axes only.
Shape leading_strides(const Value& operand, const Shape& whole) {
  Shape strides(whole.size(), 0);
  const Shape own = own_strides(operand);
  const std::size_t leading = own.size() - 2;
  for (std::size_t axis = 0; axis < leading; ++axis)
    if (operand.shape[axis] != 1) strides[axis + whole.size() - leading] = own[axis];
  return strides;
}

/// Of all leading axes together.
Shape leading_axes(const std::array<const Value*, 3>& operands) {
  std::size_t axes = 0;
  for (const Value* v : operands) axes = std::max(axes, v->shape.size() - 2);
  Shape whole(axes, 1);
  for (const Value* v : operands) {
    const std::size_t leading = v->shape.size() - 2;
    for (std::size_t axis = 0; axis < leading; ++axis) {
      Index& size = whole[axis + axes - leading];
      size = std::max(size, v->shape[axis]);
    }
  }
  return whole;
}

std::vector<std::byte> matmul(const OpReader& op) {
  const std::array<const Value*, 3> operands = {&op.output(0), &op.input(0), &op.input(1)};  // c, a, b
  const Shape whole = leading_axes(operands);
  std::array<Shape, 3> strides;
  for (std::size_t i = 0; i < 3; ++i) strides[i] = leading_strides(*operands[i], whole);
  Shape kept, summed;
  std::array<Shape, 3> of_kept;
  std::array<Shape, 2> of_summed;
  for (std::size_t axis = 0; axis < whole.size(); ++axis) {
    if (strides[0][axis] != 0) {
      kept.push_back(whole[axis]);
      for (std::size_t i = 0; i < 3; ++i) of_kept[i].push_back(strides[i][axis]);
    } else {
      summed.push_back(whole[axis]);
      for (std::size_t i = 0; i < 2; ++i) of_summed[i].push_back(strides[i + 1][axis]);
    }
  }
  poet_matmul s{};
  s.products = nest_of(kept, {of_kept[0], of_kept[1], of_kept[2]});
  s.terms = nest_of(summed, {of_summed[0], of_summed[1]});
  const auto last_two = [](const Value& v, std::int32_t* to) {
    const Shape all = own_strides(v);
    to[0] = small(all[all.size() - 2]);
    to[1] = small(all.back());
  };
  last_two(op.input(0), s.a);
  last_two(op.input(1), s.b);
  last_two(op.output(0), s.c);
  const Shape& a = op.in(0);
  s.m = small(a[a.size() - 2]);
  s.n = small(op.in(1).back());
  s.k = small(a.back());
  s.from = op.accumulator(0);
  s.count = small(op.out_count(0));
  s.result = first_output(op);
  s.alpha = op.real32("alpha");
  return bytes_of(s);
}

// ---- tables, dropout

poet_embedding_shape table_of(const OpReader& op, const Value& table, Index ids) {
  poet_embedding_shape s{};
  s.ids = small(ids);
  s.width = small(table.shape[1]);
  s.first = small(table.part ? table.part->begin[0] : 0);
  s.size = small(table.shape[0]);
  s.rows = small(tensor_shape(table)[0]);
  s.from = op.accumulator(0);
  s.result = first_output(op);
  return s;
}

void append_runs(std::vector<std::byte>& bytes, const Value& part, poet_dropout_shape& s) {
  s.runs = 0;
  std::vector<std::byte> runs;
  for_each_run_of_part(part, [&](Index first, Index, Index count) {
    append_bytes(runs, poet_run_of_part{small(first), small(count)});
    ++s.runs;
  });
  append_bytes(bytes, s);
  bytes.insert(bytes.end(), runs.begin(), runs.end());
}

poet_dropout_shape dropout_shape(const OpReader& op) {
  const double p = op.real("p");
  poet_dropout_shape s{};
  s.count = small(op.in_count(0));
  s.threshold = static_cast<std::uint32_t>(std::min(std::ldexp(p, 32), 4294967295.0));
  s.factor = static_cast<float>(1.0 / (1.0 - p));
  return s;
}

std::vector<std::byte> dropout(const OpReader& op) {
  poet_dropout_shape s = dropout_shape(op);
  s.seed = static_cast<std::uint32_t>(op.integer("seed"));
  std::vector<std::byte> bytes;
  append_runs(bytes, op.output(0), s);
  return bytes;
}

std::vector<std::byte> first_occurrences(const OpReader& op) {
  poet_dropout_shape s{};
  std::vector<std::byte> bytes;
  append_runs(bytes, op.output(0), s);
  return bytes;
}

// ---- pools

poet_pool pool(const OpReader& op, const Shape& x, const Shape& y) {
  poet_pool s{};
  s.planes = small(x[0] * x[1]);
  const auto number = [&op](const char* name, std::size_t axis, Index missing) {
    return op.has(name) ? small(op.list(name).at(axis)) : small(missing);
  };
  for (std::size_t a = 0; a < 2; ++a) {
    s.x[a] = small(x[2 + a]);
    s.y[a] = small(y[2 + a]);
    s.kernel[a] = number("kernel", a, 1);
    s.stride[a] = number("stride", a, 1);
    s.padding[a] = number("padding", a, 0);
    s.padding_end[a] = number(op.has("padding_end") ? "padding_end" : "padding", a, 0);
    s.dilation[a] = number("dilation", a, 1);
  }
  s.padded = !op.has("count_include_pad") || op.integer("count_include_pad") != 0 ? 1 : 0;
  s.index_bytes = 4;
  return s;
}

std::vector<std::byte> max_pool(const OpReader& op) {
  poet_pool s = pool(op, op.in(0), op.out(0));
  s.index_bytes = small(size_of(op.output(1).dtype).value());
  return bytes_of(s);
}

std::vector<std::byte> max_pool_backward(const OpReader& op) {
  poet_pool s = pool(op, op.out(0), op.in(0));
  s.index_bytes = small(size_of(op.input(1).dtype).value());
  return bytes_of(s);
}

}  // namespace

void add_sequences(KernelTable& table) {
  const auto add_rule = [&table](const char* kind, const char* name, poet_kernel here,
                                 std::vector<std::byte> (*shape)(const OpReader&)) {
    table[kind] = {{name, "poet_sequence.c", here}, shape, false};
  };
  add_rule("softmax", "poet_softmax", poet_softmax, softmax_rows);
  add_rule("softmax_backward", "poet_softmax_backward", poet_softmax_backward, softmax_rows);
  add_rule("layer_norm", "poet_layer_norm_forward", poet_layer_norm_forward, layer_norm);
  add_rule("layer_norm_backward", "poet_layer_norm_backward", poet_layer_norm_backward, layer_norm_backward);
  add_rule("embedding", "poet_embedding", poet_embedding,
           [](const OpReader& op) { return bytes_of(table_of(op, op.input(1), op.in_count(0))); });
  add_rule("embedding_backward", "poet_embedding_backward", poet_embedding_backward,
           [](const OpReader& op) { return bytes_of(table_of(op, op.output(0), op.in_count(1))); });
  add_rule("first_occurrences", "poet_first_occurrences", poet_first_occurrences, first_occurrences);
  add_rule("dropout", "poet_dropout", poet_dropout, dropout);
  add_rule("dropout_backward", "poet_dropout_backward", poet_dropout_backward,
           [](const OpReader& op) { return bytes_of(dropout_shape(op)); });
  table["matmul"] = {{"poet_matmul_forward", "poet_matmul.c", poet_matmul_forward}, matmul, true};
}

void add_pools(KernelTable& table) {
  const auto add_rule = [&table](const char* kind, const char* name, poet_kernel here,
                                 std::vector<std::byte> (*shape)(const OpReader&)) {
    table[kind] = {{name, "poet_pools.c", here}, shape, false};
  };
  add_rule("max_pool2d", "poet_max_pool", poet_max_pool, max_pool);
  add_rule("max_pool2d_backward", "poet_max_pool_backward", poet_max_pool_backward, max_pool_backward);
  add_rule("avg_pool2d", "poet_avg_pool", poet_avg_pool,
           [](const OpReader& op) { return bytes_of(pool(op, op.in(0), op.out(0))); });
  add_rule("avg_pool2d_backward", "poet_avg_pool_backward", poet_avg_pool_backward,
           [](const OpReader& op) { return bytes_of(pool(op, op.out(0), op.in(0))); });
}

}  // namespace poet::firmware
