#include "tests/support/onnx_node_cases.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

namespace poet::test {
namespace {

namespace fs = std::filesystem;
using Proto = ::onnx::TensorProto;

template <class Message>
bool read(const fs::path& file, Message& message) {
  std::ifstream stream(file, std::ios::binary);
  return stream && message.ParseFromIstream(&stream);
}

/// input_0.pb, input_1.pb...: as many as the graph has, or none at all when one is no tensor.
template <class Declared>
std::vector<Proto> read_all(const fs::path& folder, const std::string& what, const Declared& declared) {
  std::vector<Proto> tensors;
  for (int i = 0; i < declared.size(); ++i) {
    Proto tensor;
    if (!declared[i].type().has_tensor_type() ||
        !read(folder / (what + "_" + std::to_string(i) + ".pb"), tensor))
      return {};
    tensor.set_name(declared[i].name());
    // bfloat16 is filed as the integers of its bits.
    tensor.set_data_type(declared[i].type().tensor_type().elem_type());
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

template <class Element>
std::vector<double> raw(const std::string& bytes) {
  std::vector<double> out(bytes.size() / sizeof(Element));
  for (std::size_t i = 0; i < out.size(); ++i) {
    Element element;
    std::memcpy(&element, bytes.data() + i * sizeof(Element), sizeof(Element));
    out[i] = static_cast<double>(element);
  }
  return out;
}

template <class Element, class Field>
std::vector<double> elements(const Proto& tensor, const Field& field) {
  if (tensor.has_raw_data()) return raw<Element>(tensor.raw_data());
  return {field.begin(), field.end()};
}

double half(double bits) {
  const auto all = static_cast<std::uint32_t>(bits);
  const double sign = (all & 0x8000U) != 0 ? -1.0 : 1.0;
  const int exponent = static_cast<int>(all >> 10U & 0x1fU);
  const int fraction = static_cast<int>(all & 0x3ffU);
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  return sign * std::ldexp(exponent == 0 ? fraction : fraction + 1024, exponent == 0 ? -24 : exponent - 25);
}

double brain(double bits) {
  const std::uint32_t all = static_cast<std::uint32_t>(bits) << 16U;
  float number = 0;
  std::memcpy(&number, &all, sizeof(number));
  return number;
}

}  // namespace

std::optional<reference::Array> array_of(const Proto& tensor) {
  reference::Array out{{tensor.dims().begin(), tensor.dims().end()}, {}};
  switch (tensor.data_type()) {
    case Proto::FLOAT:
      out.data = elements<float>(tensor, tensor.float_data());
      break;
    case Proto::DOUBLE:
      out.data = elements<double>(tensor, tensor.double_data());
      break;
    case Proto::FLOAT16:
    case Proto::BFLOAT16:
      out.data = elements<std::uint16_t>(tensor, tensor.int32_data());
      std::transform(out.data.begin(), out.data.end(), out.data.begin(),
                     tensor.data_type() == Proto::FLOAT16 ? half : brain);
      break;
    case Proto::INT64:
      out.data = elements<std::int64_t>(tensor, tensor.int64_data());
      break;
    case Proto::UINT64:
      out.data = elements<std::uint64_t>(tensor, tensor.uint64_data());
      break;
    case Proto::UINT32:
      out.data = elements<std::uint32_t>(tensor, tensor.uint64_data());
      break;
    case Proto::INT32:
      out.data = elements<std::int32_t>(tensor, tensor.int32_data());
      break;
    case Proto::INT16:
      out.data = elements<std::int16_t>(tensor, tensor.int32_data());
      break;
    case Proto::UINT16:
      out.data = elements<std::uint16_t>(tensor, tensor.int32_data());
      break;
    case Proto::INT8:
      out.data = elements<std::int8_t>(tensor, tensor.int32_data());
      break;
    case Proto::UINT8:
    case Proto::BOOL:
      out.data = elements<std::uint8_t>(tensor, tensor.int32_data());
      break;
    default:
      return std::nullopt;
  }
  return out;
}

std::vector<OnnxNodeCase> onnx_node_cases() {
  std::vector<OnnxNodeCase> cases;
  std::error_code absent;
  for (const fs::directory_entry& entry : fs::directory_iterator(onnx_node_folder(), absent)) {
    OnnxNodeCase one;
    one.name = entry.path().filename().string();
    if (!read(entry.path() / "model.onnx", one.model)) continue;
    const fs::path data = entry.path() / "test_data_set_0";
    one.inputs = read_all(data, "input", one.model.graph().input());
    one.outputs = read_all(data, "output", one.model.graph().output());
    cases.push_back(std::move(one));
  }
  std::sort(cases.begin(), cases.end(),
            [](const OnnxNodeCase& a, const OnnxNodeCase& b) { return a.name < b.name; });
  return cases;
}

}  // namespace poet::test
