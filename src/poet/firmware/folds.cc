// Sums along axes, and gradients of operands that were stretched.

#include <array>

#include "poet/firmware/families.h"

namespace poet::firmware {
namespace {

/// Strides along the axes of `whole` of up to two inputs and of the result, 0 where elements fall together.
struct FoldStrides {
  Shape a, b, result;
};

/// As make_fold() of the portable kernels.
std::vector<std::byte> fold_of(const Shape& whole, const FoldStrides& strides, double factor) {
  const std::array<const Shape*, 4> all = {&strides.a, &strides.b, nullptr, &strides.result};
  Shape kept, summed;
  std::vector<Shape> of_kept(all.size()), of_summed(2);
  for (std::size_t axis = 0; axis < whole.size(); ++axis) {
    const bool is_kept = strides.result[axis] != 0;
    (is_kept ? kept : summed).push_back(whole[axis]);
    std::vector<Shape>& to = is_kept ? of_kept : of_summed;
    for (std::size_t r = 0; r < to.size(); ++r) to[r].push_back(all[r] == nullptr ? 0 : (*all[r])[axis]);
  }
  poet_fold s{};
  s.kept = nest_of(kept, of_kept);
  s.summed = nest_of(summed, of_summed);
  const bool one = s.summed.count == 1 && s.summed.rank == 0;
  s.by_columns = one || (s.kept.count > 1 && s.kept.step[0] < s.summed.step[0]) ? 1 : 0;
  s.factor = factor;
  return bytes_of(s);
}

// ---- along the attribute `axes`

/// The strides of what is left of `x`, as axes of x: 0 along those.
Shape reduced_strides(const OpReader& op, const Value& reduced, const Shape& x) {
  std::vector<bool> gone(x.size());
  for (const Index axis : op.list("axes")) gone[static_cast<std::size_t>(axis)] = true;
  const bool keeps = reduced.shape.size() == x.size();
  const Shape own = own_strides(reduced);
  Shape strides(x.size(), 0);
  std::size_t next = 0;
  for (std::size_t axis = 0; axis < x.size(); ++axis) {
    if (!gone[axis]) strides[axis] = own[next];
    if (!gone[axis] || keeps) ++next;
  }
  return strides;
}

double together(const OpReader& op, const Shape& x) {
  double n = 1.0;
  for (const Index axis : op.list("axes")) n *= static_cast<double>(x[static_cast<std::size_t>(axis)]);
  return n;
}

std::vector<std::byte> reduced(const OpReader& op, bool mean) {
  const Shape& x = op.in(0);
  const Shape of_x = own_strides(op.input(0));
  return fold_of(x, {of_x, of_x, reduced_strides(op, op.output(0), x)}, mean ? 1.0 / together(op, x) : 1.0);
}

std::vector<std::byte> reduced_backward(const OpReader& op, bool mean) {
  const Shape& x = op.out(0);
  poet_elementwise s{};
  s.nest = nest_of(x, {own_strides(op.output(0)), reduced_strides(op, op.input(0), x)});
  s.number[0] = mean ? static_cast<float>(1.0 / together(op, x)) : 1.0F;
  return bytes_of(s);
}

// ---- of stretched operands

bool has_own_shape(const OpReader& op) { return op.out(0) == op.in(0); }

std::vector<std::byte> gradient(const OpReader& op, std::size_t inputs) {
  const Shape& whole = op.in(0);
  const Shape a = stretched(op.input(0), whole);
  return fold_of(whole, {a, inputs > 1 ? stretched(op.input(1), whole) : a, stretched(op.output(0), whole)},
                 1.0);
}

std::vector<std::byte> as_it_is(const OpReader& op, std::size_t inputs, float factor) {
  const Shape& whole = op.out(0);
  std::vector<Shape> strides = {own_strides(op.output(0))};
  for (std::size_t i = 0; i < inputs; ++i) strides.push_back(stretched(op.input(i), whole));
  poet_elementwise s{};
  s.nest = nest_of(whole, strides);
  s.number[0] = factor;
  return bytes_of(s);
}

}  // namespace

void add_folds(KernelTable& table) {
  const KernelFunction sum = {"poet_sum", "poet_fold.c", poet_sum};
  const KernelFunction scaled = {"poet_scale_backward", "poet_elements.c", poet_scale_backward};
  for (const bool mean : {false, true}) {
    const std::string kind = mean ? "reduce_mean" : "reduce_sum";
    table[kind] = {sum, [mean](const OpReader& op) { return reduced(op, mean); }, true};
    table[kind + "_backward"] = {scaled, [mean](const OpReader& op) { return reduced_backward(op, mean); },
                                 true};
  }
  const auto add_gradient = [&table](const char* kind, const KernelFunction& summed,
                                     const KernelFunction& each, std::size_t inputs, float factor) {
    const auto shape = [inputs, factor](const OpReader& op) {
      return has_own_shape(op) ? as_it_is(op, inputs, factor) : gradient(op, inputs);
    };
    table[kind] = {summed, shape, true, each, has_own_shape};
  };
  add_gradient("sum_to", sum, scaled, 1, 1.0F);
  add_gradient("sub_backward_b", {"poet_negated_sum", "poet_fold.c", poet_negated_sum}, scaled, 1, -1.0F);
  add_gradient("mul_backward", {"poet_sum_of_products", "poet_fold.c", poet_sum_of_products},
               {"poet_mul", "poet_elements.c", poet_mul}, 2, 1.0F);
}

}  // namespace poet::firmware
