#include "poet/frontend/onnx/read/protobuf.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <map>

namespace poet::onnx {
namespace {

using Proto = ::onnx::TensorProto;

/// Returns the length in bytes of the UTF-8 character at `at`, or 0 if it is invalid.
std::size_t utf8_length(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  std::uint32_t code = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
    code = code << 6U | (byte(i) & 0x3fU);
  }
  const bool short_enough = length == 2 || (length == 3 ? code >= 0x800 : code >= 0x10000);
  return short_enough && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? length : 0;
}

const std::map<std::int32_t, std::string>& type_names() {
  static const std::map<std::int32_t, std::string> names = {
      {Proto::FLOAT, "float"},   {Proto::DOUBLE, "double"},     {Proto::FLOAT16, "float16"},
      {Proto::INT64, "int64"},   {Proto::INT32, "int32"},       {Proto::INT16, "int16"},
      {Proto::INT8, "int8"},     {Proto::UINT8, "uint8"},       {Proto::UINT16, "uint16"},
      {Proto::UINT32, "uint32"}, {Proto::UINT64, "uint64"},     {Proto::BOOL, "bool"},
      {Proto::STRING, "string"}, {Proto::BFLOAT16, "bfloat16"},
  };
  return names;
}

}  // namespace

std::string clean(const std::string& name) {
  std::string out;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t length = utf8_length(name, at);
    const auto first = static_cast<unsigned char>(name[at]);
    const bool control = first < 0x20 || first == 0x7f ||
                         (first == 0xc2 && length == 2 && static_cast<unsigned char>(name[at + 1]) < 0xa0);
    out += length == 0 || control ? "?" : name.substr(at, length);
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::vector<std::string> cleaned(const google::protobuf::RepeatedPtrField<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names) out.push_back(clean(name));
  return out;
}

Type type_of(std::int32_t element_type) {
  switch (element_type) {
    case Proto::FLOAT:
    case Proto::DOUBLE:
    case Proto::FLOAT16:
    case Proto::BFLOAT16:
      return Type::real;
    case Proto::INT8:
    case Proto::INT16:
    case Proto::INT32:
    case Proto::INT64:
    case Proto::UINT8:
    case Proto::UINT16:
    case Proto::UINT32:
    case Proto::UINT64:
      return Type::integer;
    case Proto::BOOL:
      return Type::boolean;
    default:
      return Type::other;
  }
}

std::string type_name(std::int32_t element_type) {
  const auto found = type_names().find(element_type);
  return found == type_names().end() ? fmt::format("element type {}", element_type) : found->second;
}

std::int32_t element_type(const Tensor& tensor) {
  for (const auto& [number, name] : type_names()) {
    if (name == tensor.type_name) return number;
  }
  if (tensor.type == Type::boolean) return Proto::BOOL;
  return tensor.type == Type::integer ? Proto::INT64 : Proto::FLOAT;
}

}  // namespace poet::onnx
