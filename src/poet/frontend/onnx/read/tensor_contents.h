#pragma once

// The elements of a tensor of a file, as a graph's value holds them. Private to poet/frontend/onnx.

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>

#include "poet/frontend/onnx/lower/numbers.h"
#include "poet/graph/graph.h"

namespace poet::onnx {

/// The bytes of all elements, little-endian, wherever the tensor keeps them: in one of its fields, or in
/// another file, which lies in `folder` or below, behind no symbolic link. Nothing when they are absent.
/// Throws InputError when they are not as many as the shape has, when the other file cannot be read, or when
/// it would lie outside.
[[nodiscard]] std::optional<std::string> raw_elements(const ::onnx::TensorProto& tensor,
                                                      const std::filesystem::path& folder);

/// Writes them as a persistent value holds them (its dtype, and Value::in_file); it has as many elements.
/// Throws InputError when a number does not fit. O(elements).
void write_elements(std::int32_t type, const std::string& raw, const Value& value, std::byte* to);

/// Calls f(number) for all elements in `raw`, of an element type of numbers. O(elements).
template <class F>
void for_each_element(std::int32_t type, const std::string& raw, const F& f) {
  using Proto = ::onnx::TensorProto;
  const auto each = [&]<class Stored, class Decode>(Stored stored, Decode decode) {
    for (std::size_t at = 0; at + sizeof(Stored) <= raw.size(); at += sizeof(Stored)) {
      std::memcpy(&stored, raw.data() + at, sizeof(Stored));
      f(decode(stored));
    }
  };
  const auto same = [](auto x) { return x; };
  switch (type) {
    case Proto::FLOAT:
      return each(float{}, same);
    case Proto::DOUBLE:
      return each(double{}, same);
    case Proto::FLOAT16:
      return each(std::uint16_t{}, from_float16);
    case Proto::BFLOAT16:
      return each(std::uint16_t{}, from_bfloat16);
    case Proto::INT64:
      return each(std::int64_t{}, same);
    case Proto::UINT64:
      return each(std::uint64_t{}, same);
    case Proto::INT32:
      return each(std::int32_t{}, same);
    case Proto::UINT32:
      return each(std::uint32_t{}, same);
    case Proto::INT16:
      return each(std::int16_t{}, same);
    case Proto::UINT16:
      return each(std::uint16_t{}, same);
    case Proto::INT8:
      return each(std::int8_t{}, same);
    default:
      return each(std::uint8_t{}, same);
  }
}

}  // namespace poet::onnx
