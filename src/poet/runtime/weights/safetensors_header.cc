#include "poet/runtime/weights/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "poet/base/amounts.h"
#include "poet/base/error.h"

namespace poet::runtime {
namespace {

using Json = nlohmann::json;

constexpr const char* kMetadata = "__metadata__";

struct ElementType {
  const char* name;
  std::int64_t bits;
};

/// Everything that the format has, so that a file may hold tensors that nobody here asks for.
constexpr ElementType kElementTypes[] = {
    {"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},   {"I8", 8},    {"F8_E5M2", 8},
    {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16}, {"BF16", 16}, {"I32", 32},
    {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},    {"I64", 64}, {"U64", 64},
};

class HeaderReader {
 public:
  HeaderReader(std::int64_t data, std::string file) : data_(data), file_(std::move(file)) {}

  SafetensorsHeader read(const std::string& text) {
    SafetensorsHeader header;
    const Json json = parse(text);
    for (const auto& [name, entry] : json.items()) {
      if (name == kMetadata)
        header.metadata = metadata(entry);
      else
        header.tensors.emplace(name, tensor(name, entry));
    }
    check_places(header);
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& rule) const { throw InputError(file_, rule); }
  [[noreturn]] void fail(const std::string& tensor, const std::string& rule) const {
    throw InputError(fmt::format("{}: tensor {}", file_, quoted_name(tensor)), rule);
  }

  /// The header as a JSON object, in which no name occurs twice at the same place.
  Json parse(const std::string& text) const {
    if (text.empty() || text.front() != '{') fail("the header must begin with {");
    // The parser would take it for the end, and what comes behind for nothing.
    if (text.find('\0') != std::string::npos) fail("the header must be JSON in UTF-8");
    std::vector<std::set<std::string>> names;  // of the objects that are open
    // Refused while it is being read: a header of brackets only would take hundreds of times its size.
    const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
      if (depth > 3) fail("the header must not be nested this deeply");
      if (event == Json::parse_event_t::object_start) names.emplace_back();
      if (event == Json::parse_event_t::object_end) names.pop_back();
      if (event == Json::parse_event_t::key && !names.back().insert(parsed.get<std::string>()).second)
        fail(fmt::format("the header names {} twice", quoted_name(parsed.get<std::string>())));
      return true;
    };
    try {
      return Json::parse(text, watch);
    } catch (const Json::exception&) {
      fail("the header must be JSON in UTF-8");
    }
  }

  std::map<std::string, std::string> metadata(const Json& entry) const {
    if (!entry.is_object()) fail("__metadata__ must be an object");
    std::map<std::string, std::string> metadata;
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) fail(fmt::format("__metadata__ must give {} a text", quoted_name(key)));
      metadata.emplace(key, value.get<std::string>());
    }
    return metadata;
  }

  SafetensorsPlace tensor(const std::string& name, const Json& entry) const {
    if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype") || !entry.contains("shape") ||
        !entry.contains("data_offsets"))
      fail(name, "must have a dtype, a shape and data_offsets, and nothing else");
    const ElementType& type = element_type(name, entry.at("dtype"));
    const Shape shape = counts(name, "shape", entry.at("shape"));
    const std::vector<std::int64_t> offsets = counts(name, "data_offsets", entry.at("data_offsets"));
    if (offsets.size() != 2 || offsets[0] > offsets[1]) fail(name, "data_offsets must be a begin and an end");
    if (offsets[1] > data_)
      fail(name,
           fmt::format("ends at byte {} of {} bytes of data", format_count(offsets[1]), format_count(data_)));
    if (offsets[1] - offsets[0] != bytes(name, type, shape))
      fail(name, fmt::format("has {} bytes, and its dtype and shape say {}",
                             format_count(offsets[1] - offsets[0]), format_count(bytes(name, type, shape))));
    return {type.name, shape, offsets[0], offsets[1]};
  }

  const ElementType& element_type(const std::string& name, const Json& dtype) const {
    if (!dtype.is_string()) fail(name, "dtype must be a text");
    const auto& text = dtype.get_ref<const std::string&>();
    for (const ElementType& type : kElementTypes)
      if (text == type.name) return type;
    fail(name, fmt::format("dtype {} is not one of the format's", quoted_name(text)));
  }

  std::vector<std::int64_t> counts(const std::string& name, const char* field, const Json& json) const {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    std::vector<std::int64_t> numbers;
    if (!json.is_array()) fail(name, fmt::format("{} must be an array", field));
    for (const Json& number : json) {
      if (!number.is_number_unsigned() || number.get<std::uint64_t>() > kMost)
        fail(name, fmt::format("{} must be whole numbers from 0 to {}", field, kMost));
      numbers.push_back(number.get<std::int64_t>());
    }
    return numbers;
  }

  std::int64_t bytes(const std::string& name, const ElementType& type, const Shape& shape) const {
    std::int64_t bits = type.bits;
    for (const std::int64_t size : shape)
      if (__builtin_mul_overflow(bits, size, &bits)) fail(name, "the shape has too many elements");
    if (bits % 8 != 0) fail(name, "the elements must fill whole bytes");
    return bits / 8;
  }

  void check_places(const SafetensorsHeader& header) const {
    using Tensor = std::map<std::string, SafetensorsPlace>::value_type;
    std::vector<const Tensor*> in_order;
    for (const Tensor& tensor : header.tensors) in_order.push_back(&tensor);
    std::sort(in_order.begin(), in_order.end(), [](const Tensor* a, const Tensor* b) {
      return std::pair(a->second.begin, a->second.end) < std::pair(b->second.begin, b->second.end);
    });
    std::int64_t end = 0;
    for (const Tensor* tensor : in_order) {
      if (tensor->second.begin != end)
        fail(tensor->first, fmt::format("begins at byte {}, and the one before ends at {}",
                                        format_count(tensor->second.begin), format_count(end)));
      end = tensor->second.end;
    }
    if (end != data_)
      fail(fmt::format("has {} bytes of data, and its tensors {}", format_count(data_), format_count(end)));
  }

  const std::int64_t data_;
  const std::string file_;
};

}  // namespace

std::string quoted_name(const std::string& name) {
  constexpr std::size_t kMost = 100;
  std::string text = Json(name.substr(0, kMost)).dump(-1, ' ', true, Json::error_handler_t::replace);
  if (name.size() > kMost) text.insert(text.size() - 1, "...");
  return text;
}

SafetensorsHeader parse_safetensors_header(const std::string& text, std::int64_t data,
                                           const std::string& file) {
  return HeaderReader(data, file).read(text);
}

const char* safetensors_type(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return "F32";
    case DType::int32:
      return "I32";
    case DType::int64:
      return "I64";
    case DType::uint8:
      return "U8";
    case DType::bfloat16:
      return "BF16";
  }
  throw InternalError("every element type has a word in safetensors");
}

}  // namespace poet::runtime
