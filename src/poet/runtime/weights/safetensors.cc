#include "poet/runtime/weights/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/graph/parts.h"
#include "poet/runtime/kernels/bfloat16.h"
#include "poet/runtime/weights/safetensors_header.h"

namespace poet::runtime {
namespace {

constexpr std::int64_t kLengthBytes = 8;  // of the number before the header, little-endian

std::uint64_t from_little_endian(const std::array<std::byte, kLengthBytes>& bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    number = number << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return number;
}

void read_or_fail(const Descriptor& descriptor, std::int64_t offset, std::span<std::byte> to,
                  const std::string& place) {
  const IoOutcome outcome = read_at(descriptor.get(), offset, to);
  if (outcome.done < to.size()) throw InputError(place, "cannot be read: " + explain(outcome, to.size()));
}

/// IEEE 754's 16 bits.
float float_of_float16(std::uint16_t bits) {
  const float sign = (bits & 0x8000U) != 0 ? -1.0F : 1.0F;
  const int exponent = bits >> 10U & 0x1fU;
  const int fraction = bits & 0x3ffU;
  if (exponent == 0x1f)
    return fraction != 0 ? std::numeric_limits<float>::quiet_NaN()
                         : sign * std::numeric_limits<float>::infinity();
  const auto digits = static_cast<float>(exponent == 0 ? fraction : fraction + 1024);
  return sign * std::ldexp(digits, std::max(exponent, 1) - 25);
}

Shape without_single_axes(Shape shape) {
  std::erase(shape, 1);
  return shape;
}

std::int64_t size_of_regular_file(const Descriptor& descriptor, const std::string& file) {
  struct stat facts {};
  if (::fstat(descriptor.get(), &facts) != 0) throw InputError(file, "cannot be read: " + error_text(errno));
  if (!S_ISREG(facts.st_mode)) throw InputError(file, "is not a regular file");
  return facts.st_size;
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::filesystem::path& file) : file_(file.string()) {
  descriptor_ = Descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!descriptor_.valid()) throw InputError(file_, "cannot be opened: " + error_text(errno));
  const std::int64_t size = size_of_regular_file(descriptor_, file_);
  if (size < kLengthBytes) throw InputError(file_, "is too short for a safetensors file");
  std::array<std::byte, kLengthBytes> length{};
  read_or_fail(descriptor_, 0, length, file_);
  const std::uint64_t header_bytes = from_little_endian(length);
  if (header_bytes > static_cast<std::uint64_t>(kMostHeaderBytes))
    throw InputError(
        file_, fmt::format("is not a safetensors file, or has a header of more than {} bytes{}",
                           format_count(kMostHeaderBytes),
                           file.extension() == ".onnx" ? " (poet weights makes one of an ONNX file)" : ""));
  const std::int64_t data_begin = kLengthBytes + static_cast<std::int64_t>(header_bytes);
  if (data_begin > size) throw InputError(file_, "ends inside its header");
  std::string text(header_bytes, '\0');
  read_or_fail(descriptor_, kLengthBytes, std::as_writable_bytes(std::span(text)), file_);
  SafetensorsHeader header = parse_safetensors_header(text, size - data_begin, file_);
  tensors_ = std::move(header.tensors);
  metadata_ = std::move(header.metadata);
  if (const auto format = metadata_.find(kWeightsFormatKey);
      format != metadata_.end() && format->second != kWeightsFormat)
    throw InputError(file_,
                     fmt::format("its metadata have \"{}\": {}, and this version reads {}", kWeightsFormatKey,
                                 quoted_name(format->second), quoted_name(kWeightsFormat)));
  for (auto& [name, place] : tensors_) {
    place.begin += data_begin;
    place.end += data_begin;
  }
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> names;
  for (const auto& [name, place] : tensors_) names.push_back(name);
  return names;
}

const SafetensorsPlace& SafetensorsFile::check(const std::string& name, DType dtype,
                                               const Shape& shape) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw InputError(described(name), "must be present");
  const SafetensorsPlace& place = found->second;
  const bool is_half = dtype == DType::float32 && (place.type == "F16" || place.type == "BF16");
  if ((place.type != safetensors_type(dtype) && !is_half) ||
      without_single_axes(place.shape) != without_single_axes(shape))
    throw InputError(described(name),
                     fmt::format("is {}[{}], and {}[{}] is needed", place.type, fmt::join(place.shape, ","),
                                 safetensors_type(dtype), fmt::join(shape, ",")));
  if (is_half) widened_.insert(place.type);
  return place;
}

void SafetensorsFile::read(const std::string& name, DType dtype, const Shape& shape, std::byte* to) const {
  const SafetensorsPlace& place = check(name, dtype, shape);
  read_elements(name, place, 0, element_count(shape), to);
}

void SafetensorsFile::check(const Value& value) const {
  const auto found = tensors_.find(tensor_name(value));
  const bool is_transposed = value.in_file && value.in_file->transposed;
  // Elements of tensors that are not transposed are in the same order in both shapes.
  const bool has_tensor_shape = found != tensors_.end() && without_single_axes(found->second.shape) ==
                                                               without_single_axes(tensor_shape(value));
  const bool is_of_tensor = is_transposed ? is_as_in_memory() : has_tensor_shape;
  check(tensor_name(value), value.dtype, is_of_tensor ? tensor_shape(value) : shape_in_file(value));
  const Shape& shape = tensor_shape(value);
  if (is_transposed && metadata_.empty() && shape.size() == 2 && shape[0] == shape[1] && shape[0] > 1)
    ambiguous_.insert(tensor_name(value));
}

void SafetensorsFile::read(const Value& value, std::byte* to) const {
  check(value);
  const std::string& name = tensor_name(value);
  const SafetensorsPlace& place = tensors_.at(name);
  const std::int64_t size = size_of(value.dtype).value();
  if (is_as_in_memory() || !value.in_file || !value.in_file->transposed) {
    for_each_run_of_part(value, [&](std::int64_t first, std::int64_t at, std::int64_t count) {
      read_elements(name, place, first, count, to + at * size);
    });
    return;
  }
  std::vector<std::byte> run;  // at most a column of the value
  for_each_run_in_file(value,
                       [&](std::int64_t first, std::int64_t at, std::int64_t count, std::int64_t step) {
                         run.resize(static_cast<std::size_t>(count * size));
                         read_elements(name, place, first, count, run.data());
                         for (std::int64_t i = 0; i < count; ++i)
                           std::copy_n(run.data() + i * size, size, to + (at + i * step) * size);
                       });
}

bool SafetensorsFile::is_as_in_memory() const {
  const auto format = metadata_.find("format");
  return format != metadata_.end() && format->second == kCheckpointInMemory;
}

std::vector<std::string> SafetensorsFile::notes() const {
  std::vector<std::string> notes;
  for (std::string note : {widened_note(), orientation_note()})
    if (!note.empty()) notes.push_back(std::move(note));
  return notes;
}

std::string SafetensorsFile::widened_note() const {
  if (widened_.empty()) return "";
  return fmt::format("{} weights are taken as float32", fmt::join(widened_, " and "));
}

std::string SafetensorsFile::orientation_note() const {
  if (ambiguous_.empty()) return "";
  const std::size_t others = ambiguous_.size() - 1;
  return fmt::format(
      "{} has no \"{}\" in its metadata: square matrices ({}{}) are read as the ONNX file has them, "
      "and if an older poet weights wrote the file, they are transposed: write it again",
      file_, kWeightsFormatKey, quoted_name(*ambiguous_.begin()),
      others > 0 ? fmt::format(" and {} more", others) : "");
}

void SafetensorsFile::read_elements(const std::string& name, const SafetensorsPlace& place,
                                    std::int64_t first, std::int64_t count, std::byte* to) const {
  const bool is_half = place.type == "F16" || place.type == "BF16";
  const std::int64_t all = element_count(place.shape);
  const std::int64_t size = all == 0 ? 0 : (place.end - place.begin) / all;
  std::int64_t offset = place.begin + first * size;
  if (!is_half)
    return read_or_fail(descriptor_, offset, {to, static_cast<std::size_t>(count * size)}, described(name));
  const auto widen = place.type == "F16" ? float_of_float16 : poet::runtime::widened;
  std::array<std::uint16_t, 2048> halves{};
  while (count > 0) {
    const auto piece = std::min<std::size_t>(halves.size(), static_cast<std::size_t>(count));
    const std::span<std::uint16_t> here = std::span(halves).first(piece);
    read_or_fail(descriptor_, offset, std::as_writable_bytes(here), described(name));
    for (const std::uint16_t half : here) {
      const float number = widen(half);
      std::memcpy(to, &number, sizeof(number));
      to += sizeof(number);
    }
    offset += static_cast<std::int64_t>(here.size_bytes());
    count -= static_cast<std::int64_t>(piece);
  }
}

std::string SafetensorsFile::described(const std::string& name) const {
  return fmt::format("{}: tensor {}", file_, quoted_name(name));
}

}  // namespace poet::runtime
