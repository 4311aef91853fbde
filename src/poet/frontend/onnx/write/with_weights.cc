// The model of a file with new contents of parameters and running statistics.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "poet/base/error.h"
#include "poet/base/write_file.h"
#include "poet/frontend/onnx/export.h"
#include "poet/frontend/onnx/lower/stored_tensors.h"
#include "poet/frontend/onnx/read/model_proto.h"
#include "poet/frontend/onnx/read/protobuf.h"
#include "poet/frontend/onnx/read/tensor_contents.h"
#include "poet/frontend/onnx/write/weight_tensor.h"

namespace poet {
namespace {

using Proto = ::onnx::TensorProto;

/// Before this version, initialisers had to be inputs as well.
constexpr std::int64_t kFirstIrWithFreeInitializers = 4;

/// Returns the parameters and the running statistics; constants are not replaced.
std::set<ValueId> changing(const Graph& forward) {
  std::set<ValueId> values;
  for (const ValueId v : ids<ValueId>(forward.values.size())) {
    const Value& value = forward.values[v];
    if (value.persistence == Persistence::parameter && !value.alias_of.valid()) values.insert(v);
  }
  for (const Op& op : forward.ops) values.insert(op.updates.begin(), op.updates.end());
  return values;
}

class NewContents {
 public:
  NewContents(::onnx::ModelProto& model, const ImportedModel& imported, std::filesystem::path folder)
      : model_(model),
        folder_(std::move(folder)),
        graph_(*model.mutable_graph()),
        imported_(imported),
        stored_(graph_) {
    for (Proto& tensor : *graph_.mutable_initializer()) initializers_[onnx::clean(tensor.name())] = &tensor;
  }

  /// Throws InputError naming the value.
  void set(const Value& value, std::string contents) {
    try {
      set_value(value, std::move(contents));
    } catch (const InputError& error) {
      throw InputError(fmt::format("tensor '{}'", value.name), error.what());
    }
  }

  /// Whether what was set differs from what the file had.
  [[nodiscard]] bool has_changed() const { return has_changed_; }

  /// Removes nodes whose results are now stored. Call after the last set(), which uses nodes' positions.
  void drop_replaced_nodes() {
    auto& nodes = *graph_.mutable_node();
    const auto kept =
        std::stable_partition(nodes.pointer_begin(), nodes.pointer_end(),
                              [&](const ::onnx::NodeProto* node) { return !replaced_.contains(node); });
    nodes.DeleteSubrange(static_cast<int>(kept - nodes.pointer_begin()), static_cast<int>(replaced_.size()));
  }

 private:
  void set_value(const Value& value, std::string contents) {
    if (value.in_file && value.in_file->transposed)
      contents = onnx::transposed_elements(contents, value.shape, size_of(value.dtype));
    const Shape& shape = shape_in_file(value);
    for (const TiedCopy& copy : imported_.copies) {
      if (copy.of == value.name) set_copy(copy, shape, contents);
    }
    if (const auto own = initializers_.find(value.name); own != initializers_.end()) {
      replace(*own->second, shape, contents);
    } else if (const auto at = imported_.placements.find(value.name); at != imported_.placements.end()) {
      read_there(at->second, add(value.name, shape, contents));
    } else {
      instead_of_node(value.name, shape, contents);
    }
  }

  void set_copy(const TiedCopy& copy, const Shape& shape, const std::string& contents) {
    const auto tensor = initializers_.find(copy.name);
    if (tensor == initializers_.end())
      throw InputError(fmt::format("its copy '{}' is not in the file", copy.name));
    const Bytes width = size_of(DType::float32);
    replace(*tensor->second, shape,
            copy.transposed ? onnx::transposed_elements(contents, shape, width) : contents);
  }

  static void check_size(const Shape& stored, const Shape& shape) {
    if (element_count(stored) == element_count(shape)) return;
    throw InputError(fmt::format("has {} elements, but the network has {}; it was imported from another file",
                                 element_count(stored), element_count(shape)));
  }

  void replace(Proto& tensor, const Shape& shape, const std::string& contents) {
    const std::int32_t type = tensor.data_type();
    if (type != Proto::FLOAT && type != Proto::DOUBLE) {
      throw InputError(
          fmt::format("is of type {}, which holds no trained float32; convert the model to float",
                      onnx::type_name(type)));
    }
    check_size(Shape(tensor.dims().begin(), tensor.dims().end()), shape);
    std::string stored = type == Proto::FLOAT ? contents : as_doubles(contents);
    if (has_elements(tensor, stored)) return;
    has_changed_ = true;
    tensor.clear_float_data();
    tensor.clear_double_data();
    tensor.clear_external_data();
    tensor.clear_data_location();
    tensor.set_raw_data(std::move(stored));
  }

  [[nodiscard]] bool has_elements(const Proto& tensor, const std::string& elements) const {
    try {
      return onnx::raw_elements(tensor, folder_) == elements;
    } catch (const InputError&) {  // absent or damaged ones are replaced
      return false;
    }
  }

  static std::string as_doubles(const std::string& floats) {
    std::string doubles(floats.size() * 2, '\0');
    for (std::size_t i = 0; i < floats.size() / sizeof(float); ++i) {
      float element = 0;
      std::memcpy(&element, floats.data() + i * sizeof(float), sizeof(float));
      const double wide = element;
      std::memcpy(doubles.data() + i * sizeof(double), &wide, sizeof(double));
    }
    return doubles;
  }

  const std::string& add(const std::string& name, const Shape& shape, const std::string& contents) {
    has_changed_ = true;
    Proto& tensor = *graph_.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(Proto::FLOAT);
    for (const std::int64_t d : shape) tensor.add_dims(d);
    tensor.set_raw_data(contents);
    if (model_.ir_version() < kFirstIrWithFreeInitializers) {
      ::onnx::ValueInfoProto& input = *graph_.add_input();
      input.set_name(name);
      ::onnx::TypeProto_Tensor& type = *input.mutable_type()->mutable_tensor_type();
      type.set_elem_type(Proto::FLOAT);
      for (const std::int64_t d : shape) type.mutable_shape()->add_dim()->set_dim_value(d);
    }
    return tensor.name();
  }

  void read_there(const NodeInput& place, const std::string& name) {
    if (place.node >= static_cast<std::size_t>(graph_.node_size()))
      throw InputError("is read by no node; the network was imported from another file");
    ::onnx::NodeProto& node = *graph_.mutable_node(static_cast<int>(place.node));
    while (static_cast<std::size_t>(node.input_size()) <= place.input) node.add_input("");
    node.set_input(static_cast<int>(place.input), name);
  }

  /// Replaces a Constant, or an Identity of a weight with other readers, by a tensor, since it trains
  /// separately.
  void instead_of_node(const std::string& name, const Shape& shape, const std::string& contents) {
    const ::onnx::NodeProto* node = stored_.writer(name);
    if (node == nullptr || node->output_size() != 1)
      throw InputError("is in no tensor of the file; the network was imported from another one");
    const Proto* source = stored_.find(name);
    if (source != nullptr && source->data_type() != Proto::FLOAT) {
      throw InputError(
          fmt::format("is made of {}, which holds no trained float32; convert the model to float",
                      onnx::type_name(source->data_type())));
    }
    replaced_.insert(node);
    (void)add(node->output(0), shape, contents);
  }

  ::onnx::ModelProto& model_;
  std::filesystem::path folder_;  // of external data
  bool has_changed_ = false;
  ::onnx::GraphProto& graph_;
  const ImportedModel& imported_;
  onnx::StoredTensors stored_;
  std::map<std::string, Proto*> initializers_;
  std::set<const ::onnx::NodeProto*> replaced_;
};

/// Embeds external data, whose file would not be found from another folder.
void embed(Proto& tensor, const std::filesystem::path& folder) {
  if (tensor.data_location() != Proto::EXTERNAL) return;
  try {
    tensor.set_raw_data(onnx::raw_elements(tensor, folder).value());
  } catch (const InputError& error) {
    throw InputError(fmt::format("tensor '{}'", onnx::clean(tensor.name())), error.what());
  }
  tensor.clear_external_data();
  tensor.clear_data_location();
}

bool has_external_data(const ::onnx::GraphProto& graph) {
  const auto is_external = [](const Proto& tensor) { return tensor.data_location() == Proto::EXTERNAL; };
  return std::any_of(graph.initializer().begin(), graph.initializer().end(), is_external) ||
         std::any_of(graph.node().begin(), graph.node().end(), [&](const ::onnx::NodeProto& node) {
           return std::any_of(node.attribute().begin(), node.attribute().end(), [&](const auto& attribute) {
             return attribute.has_t() && is_external(attribute.t());
           });
         });
}

void embed_all(::onnx::GraphProto& graph, const std::filesystem::path& folder) {
  for (Proto& tensor : *graph.mutable_initializer()) embed(tensor, folder);
  for (::onnx::NodeProto& node : *graph.mutable_node()) {
    for (::onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) embed(*attribute.mutable_t(), folder);
    }
  }
}

std::string serialised(const ::onnx::ModelProto& model, const std::filesystem::path& file) {
  if (model.ByteSizeLong() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw InputError(file.string(),
                     "with all its weights is larger than the 2 GiB that an ONNX model can have");
  return model.SerializeAsString();
}

}  // namespace

std::string onnx_model_with_weights(const std::filesystem::path& original, const ImportedModel& imported,
                                    const WeightLookup& weights) {
  const onnx::Silence silence;
  ::onnx::ModelProto model = onnx::read_proto(original, imported.resolved);
  NewContents contents(model, imported, original.parent_path());
  try {
    for (const ValueId v : changing(imported.forward)) {
      const Value& value = imported.forward.values[v];
      std::string elements(static_cast<std::size_t>(value.bytes.value()), '\0');
      if (weights(value, reinterpret_cast<std::byte*>(elements.data())))
        contents.set(value, std::move(elements));
    }
    // Without a change it is the file, bit for bit.
    if (!contents.has_changed() && !has_external_data(model.graph())) return onnx::read_bytes(original);
    contents.drop_replaced_nodes();
    embed_all(*model.mutable_graph(), original.parent_path());
  } catch (const InputError& error) {
    throw InputError(original.string(), error.what());
  }
  return serialised(model, original);
}

void write_onnx_with_weights(const std::filesystem::path& original, const ImportedModel& imported,
                             const std::filesystem::path& file, const WeightLookup& weights) {
  write_file(file, onnx_model_with_weights(original, imported, weights));
}

}  // namespace poet
