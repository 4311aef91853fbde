#pragma once

// What the files that know protobuf and libonnx share. Private to poet/frontend/onnx.

#include <google/protobuf/repeated_ptr_field.h>
#include <google/protobuf/stubs/logging.h>

#include <cstdint>
#include <string>
#include <vector>

#include "poet/frontend/onnx/model.h"

namespace poet::onnx {

inline constexpr int kNewestOpset = 17;  // that this libonnx knows

/// Names go into messages and reports, which are lines, and into JSON, which is UTF-8. Control characters
/// and bytes that are no UTF-8 become question marks.
[[nodiscard]] std::string clean(const std::string& name);
[[nodiscard]] std::vector<std::string> cleaned(const google::protobuf::RepeatedPtrField<std::string>& names);

/// Of ONNX's numbers for element types.
[[nodiscard]] Type type_of(std::int32_t element_type);
[[nodiscard]] std::string type_name(std::int32_t element_type);
/// The inverse of type_name(), for the types that it has names for; else the usual one of the tensor's type.
[[nodiscard]] std::int32_t element_type(const Tensor& tensor);

/// Keeps protobuf's own diagnostics off stderr: what is wrong arrives as an exception.
class Silence {
 public:
  Silence() : before_(google::protobuf::SetLogHandler(nullptr)) {}
  ~Silence() { google::protobuf::SetLogHandler(before_); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  google::protobuf::LogHandler* before_;
};

}  // namespace poet::onnx
