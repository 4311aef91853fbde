#include "poet/frontend/onnx/read/tensor_contents.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>

#include "poet/base/error.h"
#include "poet/base/open_beneath.h"
#include "poet/frontend/onnx/lower/numbers.h"
#include "poet/frontend/onnx/read/protobuf.h"

namespace poet::onnx {
namespace {

namespace fs = std::filesystem;
using Proto = ::onnx::TensorProto;

/// Returns the size of an element in bytes, or 0 for types other than numbers.
std::int64_t element_size(std::int32_t type) {
  switch (type) {
    case Proto::DOUBLE:
    case Proto::INT64:
    case Proto::UINT64:
      return 8;
    case Proto::FLOAT:
    case Proto::INT32:
    case Proto::UINT32:
      return 4;
    case Proto::FLOAT16:
    case Proto::BFLOAT16:
    case Proto::INT16:
    case Proto::UINT16:
      return 2;
    case Proto::INT8:
    case Proto::UINT8:
    case Proto::BOOL:
      return 1;
    default:
      return 0;
  }
}

std::int64_t byte_size(const Proto& tensor) {
  const Shape shape(tensor.dims().begin(), tensor.dims().end());
  (void)byte_count(shape, DType::int64);  // so that no product below overflows
  return element_count(shape) * element_size(tensor.data_type());
}

/// Packs a field's elements into `width` bytes each, as fields hold narrow types in wide numbers.
template <class Field>
std::string packed(const Field& field, std::int64_t width) {
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(field.size() * width));
  for (const auto element : field)  // little-endian, like this machine
    bytes.append(reinterpret_cast<const char*>(&element), static_cast<std::size_t>(width));
  return bytes;
}

/// Returns a number from the description of external data, or `otherwise` if it is absent.
std::int64_t external_number(const std::string& text, const char* what, std::int64_t otherwise) {
  if (text.empty()) return otherwise;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    throw InputError(fmt::format("external data: the {} '{}' is no number of bytes", what, clean(text)));
  return number;
}

/// Opens a file of external data. Locations outside of the model's folder are refused, and links, which may
/// lead there: with the model comes whatever else is in its archive.
Descriptor open_external(const std::string& location, const fs::path& folder) {
  // A pipe would be waited for.
  Descriptor file = open_beneath(folder, location, O_RDONLY | O_NONBLOCK);
  if (file.valid()) return file;
  const int error = errno;
  if (error == EXDEV)
    throw InputError(fmt::format("external data: '{}' is not in the model's folder", clean(location)));
  if (error == ELOOP)
    throw InputError(fmt::format("external data: '{}' {}, which is not followed; put the file itself there",
                                 clean(location), rule_beneath(error)));
  throw InputError(
      fmt::format("external data: {}: {}", clean((folder / location).string()), rule_beneath(error)));
}

std::string external_elements(const Proto& tensor, const fs::path& folder) {
  std::string location;
  std::string offset;
  std::string length;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = entry.value();
    if (entry.key() == "length") length = entry.value();
  }
  const Descriptor file = open_external(location, folder);
  const std::string name = clean((folder / location).string());
  const std::int64_t size = byte_size(tensor);
  const std::int64_t begin = external_number(offset, "offset", 0);
  if (external_number(length, "length", size) != size) {
    throw InputError(
        fmt::format("external data: has {} bytes, but its elements are {}", clean(length), size));
  }
  struct stat there {};
  if (::fstat(file.get(), &there) != 0 || !S_ISREG(there.st_mode))
    throw InputError(fmt::format("external data: {} is no regular file", name));
  // Checked before memory of that size is allocated.
  const auto present = static_cast<std::int64_t>(there.st_size);
  if (begin > present || size > present - begin) {
    throw InputError(fmt::format("external data: {} has {} bytes, but the elements are {} from {} on", name,
                                 present, size, begin));
  }
  std::string bytes(static_cast<std::size_t>(size), '\0');
  for (std::int64_t done = 0; done < size;) {
    const ssize_t count = ::pread(file.get(), bytes.data() + done, static_cast<std::size_t>(size - done),
                                  static_cast<off_t>(begin + done));
    if (count == 0 || (count < 0 && errno != EINTR))
      throw InputError(fmt::format("external data: {} cannot be read", name));
    if (count > 0) done += count;
  }
  return bytes;
}

std::string elements_of_fields(const Proto& tensor) {
  const std::int64_t width = element_size(tensor.data_type());
  switch (tensor.data_type()) {
    case Proto::FLOAT:
      return packed(tensor.float_data(), width);
    case Proto::DOUBLE:
      return packed(tensor.double_data(), width);
    case Proto::INT64:
      return packed(tensor.int64_data(), width);
    case Proto::UINT32:
    case Proto::UINT64:
      return packed(tensor.uint64_data(), width);
    default:
      return packed(tensor.int32_data(), width);
  }
}

/// Maps element i of the file's tensor to its place in memory; `rows` is 1 where they are in the same order.
struct Order {
  std::size_t rows;
  std::size_t columns;
  [[nodiscard]] std::size_t to(std::size_t i) const { return i % columns * rows + i / columns; }
};

template <class To>
void write_as(std::int32_t type, const std::string& raw, const Order& order, std::byte* to) {
  std::size_t i = 0;
  for_each_element(type, raw, [&](auto x) {
    const To element = converted<To>(x);
    std::memcpy(to + order.to(i++) * sizeof(To), &element, sizeof(To));
  });
}

}  // namespace

std::optional<std::string> raw_elements(const Proto& tensor, const fs::path& folder) {
  if (element_size(tensor.data_type()) == 0)
    throw InputError(fmt::format("holds {}, no numbers", type_name(tensor.data_type())));
  if (tensor.data_location() == Proto::EXTERNAL) return external_elements(tensor, folder);
  const std::int64_t size = byte_size(tensor);
  std::string bytes = tensor.has_raw_data() ? tensor.raw_data() : elements_of_fields(tensor);
  if (bytes.empty() && size > 0) return std::nullopt;
  if (static_cast<std::int64_t>(bytes.size()) != size)
    throw InputError(fmt::format("has {} bytes, but its elements are {}", bytes.size(), size));
  return bytes;
}

void write_elements(std::int32_t type, const std::string& raw, const Value& value, std::byte* to) {
  Order order{1, std::numeric_limits<std::size_t>::max()};
  // In files the matrix is the other way round, whatever shape they give its elements.
  if (value.in_file && value.in_file->transposed)
    order = {static_cast<std::size_t>(value.shape.at(1)), static_cast<std::size_t>(value.shape.at(0))};
  switch (value.dtype) {
    case DType::float32:
      return write_as<float>(type, raw, order, to);
    case DType::int32:
      return write_as<std::int32_t>(type, raw, order, to);
    case DType::int64:
      return write_as<std::int64_t>(type, raw, order, to);
    case DType::uint8:
      return write_as<std::uint8_t>(type, raw, order, to);
    case DType::bfloat16:
      break;
  }
  throw InternalError("a file's numbers are read as bfloat16");
}

}  // namespace poet::onnx
