#include "poet/frontend/onnx/read/read_tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "poet/base/error.h"
#include "poet/frontend/onnx/read/protobuf.h"
#include "poet/frontend/onnx/read/read_model.h"
#include "poet/frontend/onnx/read/tensor_contents.h"

namespace poet::onnx {
namespace {

using Proto = ::onnx::TensorProto;

/// Returns the tensor's bytes, or nullopt where they are absent or damaged: what reads the weights says so.
std::optional<std::string> readable_elements(const Proto& proto, const std::filesystem::path& folder) {
  if (proto.data_location() == Proto::EXTERNAL && folder.empty()) return std::nullopt;
  try {
    return raw_elements(proto, folder);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

/// Goes over the real numbers of a tensor once.
class Survey {
 public:
  explicit Survey(const Shape& shape)
      : columns_(shape.size() == 2 ? static_cast<std::size_t>(shape[1]) : kNoMatrix),
        most_different_(std::min(kMostDifferent, static_cast<std::size_t>(element_count(shape)) / kRepeats)) {
  }

  void add(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t row = seen_ / columns_, column = seen_ % columns_;
    digest_.as_stored += hash(bits, row, column);
    if (columns_ != kNoMatrix) digest_.transposed += hash(bits, column, row);
    infinite_ = infinite_ || std::isinf(x);
    if (seen_++ == 0) {
      first_ = x;
    } else if (bits == last_) {
      return;
    } else {
      uniform_ = false;
    }
    last_ = bits;
    // An infinity could still follow, but the other elements of a mask do not vary this much.
    if (different_.size() <= std::max<std::size_t>(most_different_, 8)) different_.insert(x);
  }

  void report(Tensor& tensor) const {
    if (seen_ == 0) return;
    tensor.digest = digest_;
    if (uniform_) tensor.fill = first_;
    tensor.patterned = infinite_ || (different_.size() > 1 && different_.size() <= most_different_);
  }

 private:
  // At least two different numbers, each eight times on average. Trained weights differ from it after some
  // tens of elements; exporters may store trained tables expanded, but with more different numbers.
  static constexpr std::size_t kMostDifferent = 64;
  static constexpr std::size_t kRepeats = 8;
  static constexpr std::size_t kNoMatrix = std::numeric_limits<std::size_t>::max();

  static std::uint64_t hash(std::uint64_t bits, std::uint64_t row, std::uint64_t column) {
    return mixed(bits + row * 0x9e3779b97f4a7c15ULL + column * 0xc2b2ae3d27d4eb4fULL + 1);
  }

  std::size_t columns_;
  std::size_t most_different_;
  std::size_t seen_ = 0;
  double first_ = 0;
  std::uint64_t last_ = 0;
  bool uniform_ = true;
  bool infinite_ = false;
  std::set<double> different_;
  Digest digest_;
};

void read_reals(const Proto& proto, const std::string& raw, Tensor& tensor) {
  const auto count = static_cast<std::size_t>(element_count(tensor.shape));
  Survey survey(tensor.shape);
  for_each_element(proto.data_type(), raw, [&](auto x) { survey.add(static_cast<double>(x)); });
  survey.report(tensor);
  if (element_count(tensor.shape) > (tensor.patterned ? kMostIntegers : kMostReals)) return;
  tensor.known = true;
  tensor.reals.reserve(count);
  for_each_element(proto.data_type(), raw, [&](auto x) { tensor.reals.push_back(static_cast<double>(x)); });
}

}  // namespace

Tensor read_tensor(const Proto& proto, const std::filesystem::path& folder, const std::string& place) {
  Tensor tensor;
  tensor.type = type_of(proto.data_type());
  tensor.type_name = type_name(proto.data_type());
  tensor.shape.assign(proto.dims().begin(), proto.dims().end());
  try {
    (void)byte_count(tensor.shape, DType::int64);
  } catch (const InputError& error) {
    throw InputError(place, error.what());
  }
  tensor.external = proto.data_location() == Proto::EXTERNAL;
  const bool is_real = tensor.type == Type::real;
  const bool fits = proto.data_type() != Proto::UINT64;  // into the integers
  if (tensor.type == Type::other || (!is_real && (!fits || element_count(tensor.shape) > kMostIntegers)))
    return tensor;
  const std::optional<std::string> raw = readable_elements(proto, folder);
  if (!raw) return tensor;
  if (is_real) {
    read_reals(proto, *raw, tensor);
    return tensor;
  }
  tensor.known = true;
  for_each_element(proto.data_type(), *raw,
                   [&](auto x) { tensor.integers.push_back(static_cast<std::int64_t>(x)); });
  return tensor;
}

}  // namespace poet::onnx
