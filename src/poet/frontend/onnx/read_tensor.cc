#include "poet/frontend/onnx/read_tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "poet/base/error.h"
#include "poet/frontend/onnx/protobuf.h"
#include "poet/frontend/onnx/read_model.h"

namespace poet::onnx {
namespace {

using Proto = ::onnx::TensorProto;

/// Elements of type T in `raw`, little-endian as ONNX and this machine store them.
template <class T, class To>
bool read_raw(const std::string& raw, std::size_t count, std::vector<To>& out) {
  if (raw.size() != count * sizeof(T)) return false;
  out.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, raw.data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<To>(element);
  }
  return true;
}

template <class Field, class To>
bool read_field(const Field& field, std::size_t count, std::vector<To>& out) {
  if (static_cast<std::size_t>(field.size()) != count) return false;
  out.assign(field.begin(), field.end());
  return true;
}

double from_float16(std::uint16_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const int exponent = bits >> 10U & 0x1fU;
  const int fraction = bits & 0x3ffU;
  if (exponent == 0x1f) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

double from_bfloat16(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16U;
  float number = 0;
  std::memcpy(&number, &wide, sizeof(number));
  return number;
}

/// The elements of a small tensor; false when they are absent or of a type that no shape is computed from.
bool read_contents(const Proto& proto, std::size_t count, Tensor& tensor) {
  const bool raw = proto.has_raw_data();
  const std::string& bytes = proto.raw_data();
  switch (proto.data_type()) {
    case Proto::INT64:
      return raw ? read_raw<std::int64_t>(bytes, count, tensor.integers)
                 : read_field(proto.int64_data(), count, tensor.integers);
    case Proto::INT32:
      return raw ? read_raw<std::int32_t>(bytes, count, tensor.integers)
                 : read_field(proto.int32_data(), count, tensor.integers);
    case Proto::UINT8:
    case Proto::BOOL:
      return raw ? read_raw<std::uint8_t>(bytes, count, tensor.integers)
                 : read_field(proto.int32_data(), count, tensor.integers);
    case Proto::INT8:
      return raw ? read_raw<std::int8_t>(bytes, count, tensor.integers)
                 : read_field(proto.int32_data(), count, tensor.integers);
    case Proto::FLOAT:
      return raw ? read_raw<float>(bytes, count, tensor.reals)
                 : read_field(proto.float_data(), count, tensor.reals);
    case Proto::DOUBLE:
      return raw ? read_raw<double>(bytes, count, tensor.reals)
                 : read_field(proto.double_data(), count, tensor.reals);
    case Proto::FLOAT16:
    case Proto::BFLOAT16: {
      std::vector<std::uint16_t> bits;
      if (!(raw ? read_raw<std::uint16_t>(bytes, count, bits) : read_field(proto.int32_data(), count, bits)))
        return false;
      const auto convert = proto.data_type() == Proto::FLOAT16 ? from_float16 : from_bfloat16;
      for (const std::uint16_t element : bits) tensor.reals.push_back(convert(element));
      return true;
    }
    default:
      return false;
  }
}

/// Real numbers that are in the file and all 0. (Integers are only taken where they are known.)
bool all_zero(const Proto& proto) {
  if (proto.data_location() == Proto::EXTERNAL || type_of(proto.data_type()) != Type::real) return false;
  const auto zero = [](auto element) { return element == 0; };
  const auto all = [&](const auto& list) { return std::all_of(list.begin(), list.end(), zero); };
  const int present = static_cast<int>(!proto.raw_data().empty()) + proto.float_data_size() +
                      proto.double_data_size() + proto.int32_data_size();
  return present > 0 && all(proto.raw_data()) && all(proto.float_data()) && all(proto.double_data()) &&
         all(proto.int32_data());
}

}  // namespace

Tensor read_tensor(const Proto& proto, const std::string& place) {
  Tensor tensor;
  tensor.type = type_of(proto.data_type());
  tensor.type_name = type_name(proto.data_type());
  tensor.shape.assign(proto.dims().begin(), proto.dims().end());
  std::int64_t count = 0;
  try {
    count = element_count(tensor.shape);
    (void)byte_count(tensor.shape, DType::int64);
  } catch (const InputError& error) {
    throw InputError(place, error.what());
  }
  const bool small = count <= (tensor.type == Type::real ? kMostReals : kMostIntegers);
  if (small && proto.data_location() != Proto::EXTERNAL) {
    tensor.known = read_contents(proto, static_cast<std::size_t>(count), tensor);
  }
  tensor.zeros = all_zero(proto);
  return tensor;
}

}  // namespace poet::onnx
