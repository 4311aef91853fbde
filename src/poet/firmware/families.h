#pragma once

// How ops become shapes, a file per family of kernels.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "poet/firmware/lowered.h"
#include "poet/graph/operators/op_reader.h"

namespace poet::firmware {

using operators::Index;
using operators::OpReader;

struct LoweringRule {
  KernelFunction kernel;
  std::function<std::vector<std::byte>(const OpReader&)> shape;
  bool any_strides = false;  // else operands lie row by row
  KernelFunction simple{};   // in place of `kernel` for the ops that is_simple holds for
  bool (*is_simple)(const OpReader&) = nullptr;
};
using KernelTable = std::map<std::string, LoweringRule, std::less<>>;

void add_elements(KernelTable& table);
void add_copies(KernelTable& table);
void add_products(KernelTable& table);  // linear, convolutions
void add_norms(KernelTable& table);
void add_losses(KernelTable& table);  // and means over planes
void add_pools(KernelTable& table);
void add_sequences(KernelTable& table);  // softmax, layer norm, matmul, embeddings, dropout
void add_folds(KernelTable& table);      // sums along axes
void add_updates(KernelTable& table);    // and what is done to gradients before

/// Throws InputError for what is no 32-bit number.
[[nodiscard]] std::int32_t small(std::int64_t n);

/// Places among the operands: inputs, outputs, updates.
[[nodiscard]] std::int32_t first_output(const OpReader& op);
[[nodiscard]] std::int32_t output_or_none(const OpReader& op, int output);
[[nodiscard]] std::int32_t accumulator_of(const OpReader& op, int output);

/// The nest of these operands (up to 4), the first one's order of storage. Throws InputError where more than
/// POET_AXES axes are left.
[[nodiscard]] poet_nest nest_of(const Shape& whole, const std::vector<Shape>& strides);
/// Strides of an operand, spelled out; stretched to `whole` (aligned at the last axis), 0 where it is.
[[nodiscard]] Shape own_strides(const Value& value);
[[nodiscard]] Shape stretched(const Value& operand, const Shape& whole);

template <class T>
void append_bytes(std::vector<std::byte>& to, const T& shape) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::size_t at = to.size();
  to.resize(at + sizeof shape);
  std::memcpy(to.data() + at, &shape, sizeof shape);
}

template <class T>
[[nodiscard]] std::vector<std::byte> bytes_of(const T& shape) {
  std::vector<std::byte> bytes;
  append_bytes(bytes, shape);
  return bytes;
}

}  // namespace poet::firmware
