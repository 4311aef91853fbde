// Attention and rotary embeddings, operators of newer opsets, as products, masks and a softmax.

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

/// Returns queries, keys or values as (batch, heads, positions, size); a view if the input is (batch,
/// positions, heads size).
ValueId by_heads(Lowering& net, const Node& node, std::size_t i, const char* attribute) {
  const ValueId x = value_of(net, node, i);
  const Shape shape = net.builder.shape(x);
  if (shape.size() == 4) return x;
  if (shape.size() != 3) throw InputError(fmt::format("input {} has {} axes, not 3 or 4", i, shape.size()));
  const std::int64_t heads = integer(node, attribute, 0);
  if (heads < 1 || shape[2] % heads != 0) {
    throw InputError(fmt::format("attribute '{}'", attribute),
                     fmt::format("{} heads do not divide {} numbers", heads, shape[2]));
  }
  const std::string name = fmt::format("{}.{}", name_of(node), i);
  const ValueId apart = nn::reshape(net.builder, name + ".apart", row_major(net.builder, name, x),
                                    {shape[0], shape[1], heads, shape[2] / heads});
  return nn::permute(net.builder, name + ".heads", apart, {0, 2, 1, 3});
}

/// Splits the heads (axis 1) into groups that share a head of the keys.
ValueId grouped(Lowering& net, const std::string& name, ValueId x, std::int64_t groups) {
  const Shape s = net.builder.shape(x);
  return nn::reshape(net.builder, name + ".groups", row_major(net.builder, name, x),
                     {s[0], groups, s[1] / groups, s[2], s[3]});
}

/// Returns a constant for masked scores. It is finite, since persistent values must be.
ValueId least(Lowering& net, const std::string& name) {
  return add_filled(net, name, {}, static_cast<double>(std::numeric_limits<float>::lowest()));
}

/// Returns the scores with a boolean mask applied or a real mask added.
ValueId masked(Lowering& net, const Node& node, ValueId scores, std::int64_t groups) {
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node) + ".masked";
  const Shape to = g.shape(scores);
  const bool grouped_heads = to.size() == 5;
  const Shape plain = grouped_heads ? Shape{to[0], to[1] * to[2], to[3], to[4]} : to;
  const Shape of_mask = shape_of(net, node, 3);
  if (of_mask.size() < 2 || broadcast(of_mask, plain) != plain)
    throw InputError(fmt::format("the mask {} does not broadcast to {}", shown(of_mask), shown(plain)));
  ValueId mask = any_value(net, node, 3);
  if (grouped_heads && of_mask.size() > 2) {
    Shape seen = of_mask;
    const auto heads = seen.end() - 3;
    const bool each = *heads != 1;
    *heads = each ? plain[1] / groups : 1;
    seen.insert(seen.end() - 3, each ? groups : 1);
    mask = nn::reshape(g, name + ".mask", mask, seen);
  }
  const Type type = type_of(net, node, 3);
  if (type == Type::real) return nn::add(g, name, scores, mask);
  if (type != Type::boolean) throw InputError("the mask must be of real numbers or truth values");
  return nn::where(g, name, mask, scores, least(net, name + ".outside"));
}

void check_attention(const Lowering& net, const Node& node) {
  for (const std::size_t i : {std::size_t{4}, std::size_t{5}, std::size_t{6}}) {
    if (has_input(node, i))
      throw InputError(fmt::format("input {}", i),
                       "keys and values of earlier calls are no part of training");
  }
  for (std::size_t i = 1; i < node.outputs.size(); ++i) {
    if (is_read(net.uses, node, i))
      throw InputError(fmt::format("output {} ('{}')", i, node.outputs[i]), "only the first one is computed");
  }
  if (real(node, "softcap", 0.0) != 0.0 && (has_input(node, 3) || integer(node, "is_causal", 0) != 0)) {
    throw InputError("attribute 'softcap'",
                     "with a mask: releases of the standard differ on which comes first; write it as nodes");
  }
}

void attention(Lowering& net, const Node& node) {
  check_attention(net, node);
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node);
  ValueId q = by_heads(net, node, 0, "q_num_heads");
  ValueId k = by_heads(net, node, 1, "kv_num_heads");
  ValueId v = by_heads(net, node, 2, "kv_num_heads");
  const Shape queries = g.shape(q);
  const Shape keys = g.shape(k);
  const Shape values = g.shape(v);
  const std::int64_t groups = keys[1];
  if (queries[0] != keys[0] || queries[3] != keys[3] || keys[0] != values[0] || keys[1] != values[1] ||
      keys[2] != values[2] || queries[1] % groups != 0) {
    throw InputError(
        fmt::format("queries {}, keys {} and values {} (batch, heads, positions, size) do not "
                    "fit together",
                    shown(queries), shown(keys), shown(values)));
  }
  const bool shared = queries[1] != groups;
  if (shared) {
    q = grouped(net, name + ".queries", q, groups);
    k = grouped(net, name + ".keys", k, groups);
    v = grouped(net, name + ".values", v, groups);
  }
  std::vector<std::int64_t> last = {0, 1, 3, 2};
  if (shared) last = {0, 1, 2, 4, 3};
  const double usual = 1.0 / std::sqrt(static_cast<double>(queries[3]));
  ValueId scores = nn::matmul(g, name + ".scores", q, nn::permute(g, name + ".keys.T", k, last),
                              {.alpha = real(node, "scale", usual), .storage_order = {}});
  if (has_input(node, 3)) scores = masked(net, node, scores, groups);
  if (integer(node, "is_causal", 0) != 0) {
    const ValueId before = triangle(net, name + ".before", {queries[2], keys[2]}, 0, false);
    scores = nn::where(g, name + ".causal", before, scores, least(net, name + ".after"));
  }
  if (const double cap = real(node, "softcap", 0.0); cap != 0.0) {
    const ValueId part = nn::scale(g, name + ".part", scores, 1.0 / cap);
    scores = nn::scale(g, name + ".capped", nn::tanh(g, name + ".tanh", part), cap);
  }
  const ValueId weights = nn::softmax(g, name + ".softmax", scores);
  nn::MatmulOptions options;
  const bool flat = shape_of(net, node, 0).size() == 3;
  if (flat && !shared) options.storage_order = {0, 2, 1, 3};
  ValueId y = nn::matmul(g, name, weights, v, options);
  if (shared) y = nn::reshape(g, name + ".heads", y, {queries[0], queries[1], queries[2], values[3]});
  if (flat) {
    y = row_major(g, name + ".flat", nn::permute(g, name + ".positions", y, {0, 2, 1, 3}));
    y = nn::reshape(g, name + ".joined", y, {queries[0], queries[2], queries[1] * values[3]});
  }
  set_result(net, node, y);
}

/// Returns the table of cosines or sines as (batch or 1, 1, positions, half). It is stored in the file or
/// computed, and never trained.
ValueId table_of(Lowering& net, const Node& node, std::size_t i, const Shape& wanted) {
  GraphBuilder& g = net.builder;
  const Fixed* fixed = fixed_of(net, node, i);
  ValueId table = fixed == nullptr || fixed->tensor.type != Type::real || fixed->transposed
                      ? row_major(net, node, i)
                      : stored_value(net, node, *fixed, fixed->tensor.shape);
  const std::string name = fmt::format("{}.{}", name_of(node), i);
  if (has_input(node, 3)) {
    if (g.shape(table).size() != 2) throw InputError(fmt::format("input {} must be a matrix", i));
    table = nn::gather(g, name + ".rows", table, any_value(net, node, 3), 0);
  }
  const Shape shape = g.shape(table);
  if (shape.size() != 3 || (shape[0] != wanted[0] && shape[0] != 1) || shape[1] != wanted[2] ||
      shape[2] != wanted[3]) {
    throw InputError(fmt::format("input {} gives {} for {} (batch, positions, half of what is turned)", i,
                                 shown(shape), shown({wanted[0], wanted[2], wanted[3]})));
  }
  return nn::reshape(g, name + ".table", table, {shape[0], 1, shape[1], shape[2]});
}

/// Rotates pairs of numbers of each vector by the angles of its position; pairs consist of numbers from the
/// two halves or of neighbours.
void rotary_embedding(Lowering& net, const Node& node) {
  GraphBuilder& g = net.builder;
  const std::string name = name_of(node);
  const Shape given = shape_of(net, node, 0);
  const ValueId x = row_major(g, name + ".heads", by_heads(net, node, 0, "num_heads"));
  const Shape s = g.shape(x);
  const std::int64_t stated = integer(node, "rotary_embedding_dim", 0);
  const std::int64_t turned = stated == 0 ? s[3] : stated;
  if (turned < 2 || turned % 2 != 0 || turned > s[3])
    throw InputError(fmt::format("turns {} of {} numbers", turned, s[3]));
  const std::int64_t half = turned / 2;
  const bool interleaved = integer(node, "interleaved", 0) != 0;
  const ValueId cosine = table_of(net, node, 1, {s[0], 1, s[2], half});
  const ValueId sine = table_of(net, node, 2, {s[0], 1, s[2], half});
  const auto part = [&](const char* which, std::int64_t begin, std::int64_t end, std::int64_t step) {
    return nn::slice(g, name + which, x, {0, 0, 0, begin}, {s[0], s[1], s[2], end}, {1, 1, 1, step});
  };
  const ValueId a = interleaved ? part(".a", 0, turned, 2) : part(".a", 0, half, 1);
  const ValueId b = interleaved ? part(".b", 1, turned, 2) : part(".b", half, turned, 1);
  const ValueId a_cosine = nn::mul(g, name + ".a.cos", a, cosine);
  const ValueId b_sine = nn::mul(g, name + ".b.sin", b, sine);
  ValueId first = nn::sub(g, name + ".first", a_cosine, b_sine);
  const ValueId a_sine = nn::mul(g, name + ".a.sin", a, sine);
  const ValueId b_cosine = nn::mul(g, name + ".b.cos", b, cosine);
  ValueId second = nn::add(g, name + ".second", a_sine, b_cosine);
  ValueId y{};
  if (interleaved) {
    const Shape pairs = {s[0], s[1], s[2], half, 1};
    first = nn::reshape(g, name + ".first.pair", first, pairs);
    second = nn::reshape(g, name + ".second.pair", second, pairs);
    y = nn::reshape(g, name + ".turned", nn::concat(g, name + ".pairs", {first, second}, 4),
                    {s[0], s[1], s[2], turned});
  } else {
    y = nn::concat(g, name + ".turned", {first, second}, 3);
  }
  if (turned < s[3]) y = nn::concat(g, name, {y, part(".rest", turned, s[3], 1)}, 3);
  if (given.size() == 3) {
    y = nn::transpose(g, name + ".positions", y, {0, 2, 1, 3});
    y = nn::reshape(g, name + ".joined", y, given);
  }
  set_result(net, node, y);
}

}  // namespace

const std::vector<OperatorEntry>& attention_operators() {
  static const std::vector<OperatorEntry> entries = {
      {"Attention", attention},
      {"RotaryEmbedding", rotary_embedding},
  };
  return entries;
}

}  // namespace poet::onnx
