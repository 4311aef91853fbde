#include "poet/frontend/onnx/read/read_tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <set>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/numbers.h"
#include "poet/frontend/onnx/read/protobuf.h"
#include "poet/frontend/onnx/read/read_model.h"

namespace poet::onnx {
namespace {

using Proto = ::onnx::TensorProto;

/// Reads elements of type T from `raw`, little-endian like ONNX and this machine.
template <class T, class To>
bool read_raw(const std::string& raw, std::size_t count, std::vector<To>& out) {
  if (raw.size() != count * sizeof(T)) return false;
  out.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, raw.data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<To>(element);  // NOLINT(bugprone-signed-char-misuse): int8_t is a number here
  }
  return true;
}

template <class Field, class To>
bool read_field(const Field& field, std::size_t count, std::vector<To>& out) {
  if (static_cast<std::size_t>(field.size()) != count) return false;
  out.assign(field.begin(), field.end());
  return true;
}

/// Reads the elements of a small tensor. Returns false if they are absent or of a type not used in shape
/// arithmetic.
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

/// Returns a function that reads element `i` of a tensor of real numbers, or null if its contents are absent.
std::function<double(std::size_t)> reader_of_reals(const Proto& proto, std::size_t count) {
  const auto raw = [&proto, count]<class T>(T, double (*convert)(T)) -> std::function<double(std::size_t)> {
    if (proto.raw_data().size() != count * sizeof(T)) return nullptr;
    return [data = proto.raw_data().data(), convert](std::size_t i) {
      T element;
      std::memcpy(&element, data + i * sizeof(T), sizeof(T));
      return convert(element);
    };
  };
  const bool is_raw = proto.has_raw_data();
  const auto fits = [count](int size) { return static_cast<std::size_t>(size) == count; };
  const auto at = [](std::size_t i) { return static_cast<int>(i); };
  switch (proto.data_type()) {
    case Proto::FLOAT:
      if (is_raw)
        return raw(
            0.0F, +[](float x) { return static_cast<double>(x); });
      if (!fits(proto.float_data_size())) return nullptr;
      return [&proto, at](std::size_t i) { return static_cast<double>(proto.float_data(at(i))); };
    case Proto::DOUBLE:
      if (is_raw)
        return raw(
            0.0, +[](double x) { return x; });
      if (!fits(proto.double_data_size())) return nullptr;
      return [&proto, at](std::size_t i) { return proto.double_data(at(i)); };
    case Proto::FLOAT16:
    case Proto::BFLOAT16: {
      const auto convert = proto.data_type() == Proto::FLOAT16 ? from_float16 : from_bfloat16;
      if (is_raw) return raw(std::uint16_t{0}, convert);
      if (!fits(proto.int32_data_size())) return nullptr;
      return [&proto, at, convert](std::size_t i) {
        return convert(static_cast<std::uint16_t>(proto.int32_data(at(i))));
      };
    }
    default:
      return nullptr;
  }
}

/// Computes Tensor::patterned: at least two different numbers, each eight times on average, or a number that
/// is not finite. Trained weights are recognised after some tens of elements.
bool is_patterned(const Proto& proto, std::size_t count) {
  const auto element = reader_of_reals(proto, count);
  if (!element) return false;
  // Exporters may store trained tables expanded, with repeated numbers, but with more different ones.
  constexpr std::size_t kMostDifferent = 64;
  constexpr std::size_t kRepeats = 8;
  const std::size_t most = std::min(kMostDifferent, count / kRepeats);
  std::set<double> different;
  double last = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = element(i);
    if (!std::isfinite(x)) return true;
    if (i > 0 && x == last) continue;
    last = x;
    // An infinity could still follow, but the other elements of a mask do not vary this much.
    if (different.insert(x).second && different.size() > std::max<std::size_t>(most, 8)) return false;
  }
  return different.size() > 1 && different.size() <= most;
}

/// Returns whether the file holds real numbers that are all 0. (Integers are used only if they are known.)
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
  tensor.external = proto.data_location() == Proto::EXTERNAL;
  if (tensor.type == Type::real && !tensor.external)
    tensor.patterned = is_patterned(proto, static_cast<std::size_t>(count));
  const bool small = count <= (tensor.type == Type::real && !tensor.patterned ? kMostReals : kMostIntegers);
  if (small && !tensor.external) {
    tensor.known = read_contents(proto, static_cast<std::size_t>(count), tensor);
  }
  tensor.zeros = all_zero(proto);
  return tensor;
}

}  // namespace poet::onnx
