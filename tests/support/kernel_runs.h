#pragma once

// One kernel run on buffers between guards, at any address.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "poet/graph/graph.h"
#include "poet/runtime/kernels/kernel.h"

namespace poet::test {

inline constexpr unsigned char kGuard = 0xA5;
inline constexpr std::size_t kGuardBytes = 128;

/// Memory at `offset` bytes after a multiple of 64, guarded on both sides, at first full of NaNs.
class Guarded {
 public:
  Guarded(std::size_t bytes, std::size_t offset) : bytes_(bytes) {
    memory_.assign(bytes + 2 * kGuardBytes + 64 + offset, kGuard);
    const auto begin = reinterpret_cast<std::uintptr_t>(memory_.data()) + kGuardBytes;
    data_ = memory_.data() + ((begin + 63) / 64 * 64 - begin) + kGuardBytes + offset;
    std::fill_n(data_, bytes, static_cast<unsigned char>(0xFF));
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  Guarded(Guarded&&) = default;
  Guarded& operator=(Guarded&&) = default;
  ~Guarded() = default;

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::vector<unsigned char> contents() const { return {data_, data_ + bytes_}; }
  void fill(const std::vector<unsigned char>& contents) {
    ASSERT_EQ(contents.size(), bytes_);
    std::copy(contents.begin(), contents.end(), data_);
  }
  [[nodiscard]] bool guards_hold() const {
    const auto untouched = [](unsigned char c) { return c == kGuard; };
    return std::all_of(memory_.data(), static_cast<const unsigned char*>(data_), untouched) &&
           std::all_of(static_cast<const unsigned char*>(data_) + bytes_, memory_.data() + memory_.size(),
                       untouched);
  }

 private:
  std::vector<unsigned char> memory_;
  unsigned char* data_;
  std::size_t bytes_;
};

/// The place in storage of the value's element `i`, counted row-major.
inline std::int64_t place_of(const Value& value, std::int64_t i) {
  if (value.strides.empty()) return i;
  std::int64_t place = 0;
  for (std::size_t axis = value.shape.size(); axis-- > 0;) {
    place += i % value.shape[axis] * value.strides[axis];
    i /= value.shape[axis];
  }
  return place;
}

template <class T>
std::vector<unsigned char> stored_as(const Value& value, const std::vector<double>& dense) {
  std::vector<T> storage(dense.size());
  for (std::size_t i = 0; i < dense.size(); ++i) {
    storage[static_cast<std::size_t>(place_of(value, static_cast<std::int64_t>(i)))] =
        static_cast<T>(dense[i]);
  }
  std::vector<unsigned char> bytes(storage.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), storage.data(), bytes.size());
  return bytes;
}

inline std::vector<unsigned char> stored(const Value& value, const std::vector<double>& dense) {
  switch (value.dtype) {
    case DType::float32:
      return stored_as<float>(value, dense);
    case DType::int32:
      return stored_as<std::int32_t>(value, dense);
    default:
      return stored_as<std::uint8_t>(value, dense);
  }
}

inline std::vector<double> as_floats(const Value& value, const std::vector<unsigned char>& bytes) {
  std::vector<float> storage(bytes.size() / sizeof(float));
  std::memcpy(storage.data(), bytes.data(), bytes.size());
  std::vector<double> dense(storage.size());
  for (std::size_t i = 0; i < dense.size(); ++i) {
    dense[i] =
        static_cast<double>(storage[static_cast<std::size_t>(place_of(value, static_cast<std::int64_t>(i)))]);
  }
  return dense;
}

using Contents = std::vector<std::vector<unsigned char>>;  // of values

inline constexpr std::size_t kNowhere = ~std::size_t{0};

/// One run: operands `offset` bytes off a multiple of 64, output 0 over the input `over`. The outputs.
inline Contents run(runtime::Kernel& kernel, const Graph& graph, const Op& op, const Contents& inputs,
                    std::size_t offset, std::size_t over = kNowhere) {
  std::vector<Guarded> in;
  std::vector<Guarded> out;
  std::vector<void*> in_at;
  std::vector<void*> out_at;
  for (const auto& contents : inputs) {
    in.emplace_back(contents.size(), offset);
    in.back().fill(contents);
    in_at.push_back(in.back().data());
  }
  for (const ValueId v : op.outputs) {
    const Value& value = graph.values[v];
    out.emplace_back(static_cast<std::size_t>(byte_count(value.shape, value.dtype).value()), offset);
    out_at.push_back(out.back().data());
  }
  if (over != kNowhere) out_at.front() = in_at[over];
  const Guarded workspace(static_cast<std::size_t>(kernel.workspace().value()), 0);
  kernel.run({in_at, out_at, {}, workspace.data(), 1, 1});

  for (std::size_t i = 0; i < in.size(); ++i) {
    EXPECT_TRUE(in[i].guards_hold()) << "around input " << i;
    if (i != over) {
      EXPECT_EQ(in[i].contents(), inputs[i]) << "input " << i << " is written";
    }
  }
  for (const Guarded& o : out) EXPECT_TRUE(o.guards_hold()) << "around an output";
  EXPECT_TRUE(workspace.guards_hold()) << "around the workspace of " << kernel.workspace().value();
  Contents results;
  for (std::size_t i = 0; i < out.size(); ++i) {
    results.push_back(i == 0 && over != kNowhere ? in[over].contents() : out[i].contents());
  }
  return results;
}

}  // namespace poet::test
