#include "poet/frontend/onnx/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/numbers.h"
#include "poet/frontend/onnx/lower/stored_tensors.h"
#include "poet/frontend/onnx/read/model_proto.h"
#include "poet/frontend/onnx/read/protobuf.h"
#include "poet/frontend/onnx/read/tensor_contents.h"
#include "poet/graph/parts.h"

namespace poet {
namespace {

template <class T>
void fill(const Value& value, std::byte* to, const onnx::Tensor& from) {
  const auto count = static_cast<std::size_t>(element_count(value.shape));
  for (std::size_t i = 0; i < count; ++i) {
    const T element = from.type != onnx::Type::real ? onnx::converted<T>(from.integers.at(i))
                      : from.known                  ? onnx::converted<T>(from.reals.at(i))
                                                    : onnx::converted<T>(*from.fill);
    std::memcpy(to + i * sizeof(T), &element, sizeof(T));
  }
}

/// Writes contents that the import has evaluated.
void write_contents(const Value& value, const onnx::Tensor& from, std::byte* to) {
  switch (value.dtype) {
    case DType::float32:
      return fill<float>(value, to, from);
    case DType::int32:
      return fill<std::int32_t>(value, to, from);
    case DType::int64:
      return fill<std::int64_t>(value, to, from);
    case DType::uint8:
      return fill<std::uint8_t>(value, to, from);
    case DType::bfloat16:
      break;
  }
  throw InternalError("a file's numbers are read as bfloat16");
}

}  // namespace

struct OnnxWeights::State {
  std::filesystem::path file;
  ::onnx::ModelProto model;
  onnx::StoredTensors tensors;
  std::map<std::string, onnx::Tensor> contents;
  std::map<std::string, NodeInput> placements;

  // The tensor whose parts are being read.
  std::string in_parts;
  std::vector<std::byte> whole;  // empty: not in the file

  /// Returns the file's tensor with a value's initial contents, or null.
  [[nodiscard]] const ::onnx::TensorProto* find(const std::string& name) const {
    const auto placed = placements.find(name);
    if (placed == placements.end()) return tensors.find(name);
    const auto index = static_cast<int>(placed->second.node);
    const auto input = static_cast<int>(placed->second.input);
    if (index >= model.graph().node_size()) return nullptr;  // the file has changed since the import
    const ::onnx::NodeProto& node = model.graph().node(index);
    return input < node.input_size() ? tensors.find(onnx::clean(node.input(input))) : nullptr;
  }
};

OnnxWeights::OnnxWeights(const std::filesystem::path& file, const ImportedModel& imported)
    : state_(std::make_unique<State>()) {
  const onnx::Silence silence;
  state_->file = file;
  state_->model = onnx::read_proto(file, imported.resolved);
  state_->tensors = onnx::StoredTensors(state_->model.graph());
  state_->contents = imported.contents;
  state_->placements = imported.placements;
}

OnnxWeights::~OnnxWeights() = default;

bool OnnxWeights::read(const Value& value, std::byte* to) const {
  if (value.part) return read_part(value, to);
  try {
    if (const auto known = state_->contents.find(value.name); known != state_->contents.end()) {
      write_contents(value, known->second, to);
      return true;
    }
    const ::onnx::TensorProto* tensor = state_->find(value.name);
    if (tensor == nullptr) return false;
    const std::optional<std::string> raw = onnx::raw_elements(*tensor, state_->file.parent_path());
    if (!raw) return false;
    const Shape shape(tensor->dims().begin(), tensor->dims().end());
    if (element_count(shape) != element_count(value.shape)) {
      throw InputError(
          fmt::format("has {} elements, but the network takes {}; it was imported from another file",
                      element_count(shape), element_count(value.shape)));
    }
    onnx::write_elements(tensor->data_type(), *raw, value, to);
    return true;
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: tensor '{}'", state_->file.string(), value.name), error.what());
  }
}

bool OnnxWeights::read_part(const Value& value, std::byte* to) const {
  if (state_->in_parts != value.part->tensor) {
    Value tensor = value;
    tensor.name = value.part->tensor;
    tensor.shape = value.part->shape;
    tensor.part.reset();
    state_->whole.resize(static_cast<std::size_t>(byte_count(tensor.shape, tensor.dtype).value()));
    if (!read(tensor, state_->whole.data())) state_->whole.clear();
    state_->in_parts = tensor.name;
  }
  if (state_->whole.empty()) return false;
  const std::int64_t size = size_of(value.dtype).value();
  for_each_run_of_part(value, [&](std::int64_t first, std::int64_t at, std::int64_t count) {
    std::copy_n(state_->whole.data() + first * size, count * size, to + at * size);
  });
  return true;
}

}  // namespace poet
