#include "poet/frontend/onnx/read/read_model.h"

#include <fmt/format.h>

#include <set>

#include "poet/base/error.h"
#include "poet/frontend/onnx/read/check_by_libonnx.h"
#include "poet/frontend/onnx/read/control_flow.h"
#include "poet/frontend/onnx/read/model_proto.h"
#include "poet/frontend/onnx/read/origin.h"
#include "poet/frontend/onnx/read/protobuf.h"
#include "poet/frontend/onnx/read/read_tensor.h"

namespace poet::onnx {
namespace {

/// Where messages say that a model is, and where its external data are.
struct Place {
  std::string name;
  std::filesystem::path folder = {};  // empty: nowhere
};

AttributeValue read_attribute(const ::onnx::AttributeProto& proto, const std::filesystem::path& folder,
                              const std::string& place) {
  using Attribute = ::onnx::AttributeProto;
  switch (proto.type()) {
    case Attribute::INT:
      return proto.i();
    case Attribute::FLOAT:
      return static_cast<double>(proto.f());
    case Attribute::STRING:
      return clean(proto.s());
    case Attribute::INTS:
      return std::vector<std::int64_t>(proto.ints().begin(), proto.ints().end());
    case Attribute::FLOATS:
      return std::vector<double>(proto.floats().begin(), proto.floats().end());
    case Attribute::STRINGS:
      return cleaned(proto.strings());
    case Attribute::TENSOR:
      return read_tensor(proto.t(), folder, place);
    default:
      return OtherAttribute{};
  }
}

Node read_node(const ::onnx::NodeProto& proto, std::size_t index, const Place& place) {
  Node node;
  node.index = index;
  node.name = clean(proto.name());
  node.op_type = clean(proto.op_type());
  node.domain = proto.domain() == "ai.onnx" ? "" : clean(proto.domain());
  node.inputs = cleaned(proto.input());
  node.outputs = cleaned(proto.output());
  for (const ::onnx::AttributeProto& attribute : proto.attribute()) {
    const std::string name = clean(attribute.name());
    node.attributes[name] = read_attribute(attribute, place.folder,
                                           fmt::format("{}: node {} '{}' ({}), attribute '{}'", place.name,
                                                       index, node.name, node.op_type, name));
  }
  return node;
}

Declaration read_declaration(const ::onnx::ValueInfoProto& proto) {
  Declaration input;
  input.name = clean(proto.name());
  input.type = Type::other;
  input.type_name = "no tensor";
  if (!proto.type().has_tensor_type()) return input;
  const ::onnx::TypeProto_Tensor& type = proto.type().tensor_type();
  input.type = type_of(type.elem_type());
  input.type_name = type_name(type.elem_type());
  if (!type.has_shape()) return input;
  input.shape.emplace();
  for (const ::onnx::TensorShapeProto_Dimension& dim : type.shape().dim()) {
    Dimension dimension;
    // Exporters also write 0 or -1 for "unknown".
    if (dim.has_dim_value() && dim.dim_value() > 0) dimension.size = dim.dim_value();
    if (dim.has_dim_param()) dimension.symbol = clean(dim.dim_param());
    input.shape->push_back(std::move(dimension));
  }
  return input;
}

/// Checks that every input is defined before it is read and every output is new, which also excludes cycles.
void check_order(const Model& model, const std::string& place) {
  std::set<std::string> known;
  for (const Declaration& input : model.inputs) known.insert(input.name);
  for (const auto& [name, tensor] : model.initializers) known.insert(name);
  for (const Node& node : model.nodes) {
    const auto fail = [&](const std::string& rule) {
      throw InputError(fmt::format("{}: node {} '{}' ({})", place, node.index, node.name, node.op_type),
                       rule);
    };
    for (const std::string& input : node.inputs) {
      if (!input.empty() && !known.contains(input)) {
        fail(fmt::format("reads '{}', which no input, initialiser or earlier node provides", input));
      }
    }
    for (const std::string& output : node.outputs) {
      if (!output.empty() && !known.insert(output).second) {
        fail(fmt::format("writes '{}', which something else has provided already", output));
      }
    }
  }
  for (const std::string& output : model.outputs) {
    if (!known.contains(output)) {
      throw InputError(place, fmt::format("nothing provides the output '{}'", output));
    }
  }
}

/// Adds the graph's initialisers that the model does not have yet.
void add_initializers(Model& model, const ::onnx::GraphProto& graph, const Place& place) {
  for (int i = static_cast<int>(model.initializers.size()); i < graph.initializer_size(); ++i) {
    const ::onnx::TensorProto& tensor = graph.initializer(i);
    const std::string name = clean(tensor.name());
    if (model.initializers.contains(name))
      throw InputError(place.name, fmt::format("has two initialisers '{}'", name));
    model.initializers[name] =
        read_tensor(tensor, place.folder, fmt::format("{}: initialiser '{}'", place.name, name));
  }
}

void take_nodes(Model& model, const ::onnx::GraphProto& graph, const Place& place) {
  model.nodes.clear();
  for (const ::onnx::NodeProto& node : graph.node()) {
    model.nodes.push_back(read_node(node, model.nodes.size(), place));
    for (const std::string& name : model.nodes.back().outputs)
      model.has_scoped_names = model.has_scoped_names || name.starts_with("/") || name.starts_with("onnx::");
  }
  check_order(model, place.name);
}

Model model_from(const ::onnx::ModelProto& proto, const Place& at) {
  const std::string& place = at.name;
  Model model;
  model.name = clean(proto.graph().name());
  model.producer = clean(proto.producer_name());
  for (const ::onnx::OperatorSetIdProto& opset : proto.opset_import()) {
    if (opset.domain().empty() || opset.domain() == "ai.onnx") model.opset = opset.version();
  }
  if (model.opset < 1)
    throw InputError(place, "says for no version of ONNX's operators what it was made (opset_import)");
  if (proto.graph().sparse_initializer_size() > 0) {
    throw InputError(place, "has sparse initialisers; export it with dense ones");
  }
  add_initializers(model, proto.graph(), at);
  for (const ::onnx::ValueInfoProto& input : proto.graph().input()) {
    if (!model.initializers.contains(clean(input.name()))) model.inputs.push_back(read_declaration(input));
  }
  for (const ::onnx::ValueInfoProto& output : proto.graph().output())
    model.outputs.push_back(clean(output.name()));
  for (const auto* infos : {&proto.graph().value_info(), &proto.graph().output()}) {
    for (const ::onnx::ValueInfoProto& info : *infos) {
      Declaration stated = read_declaration(info);
      if (stated.shape) model.declared.insert_or_assign(clean(info.name()), std::move(stated));
    }
  }
  Origins origins = origins_of(proto.graph());
  model.origins = std::move(origins.of);
  model.sources = std::move(origins.sources);
  model.missing_parameters = std::move(origins.missing_parameters);
  model.missing_buffers = std::move(origins.missing_buffers);
  if (model.outputs.empty()) throw InputError(place, "has no output to attach a loss to");
  take_nodes(model, proto.graph(), at);
  check_by_libonnx(proto, place);
  return model;
}

}  // namespace

Model parse_model(std::string_view bytes, const std::string& place) {
  const Silence silence;
  ListedNodes listed;
  Model model = model_from(parse_proto(bytes, place, &listed), {place});
  model.listed = listed;
  return model;
}

Model read_model(const std::filesystem::path& file) { return OpenedModel(file).model(); }

struct OpenedModel::State {
  Place place;
  ::onnx::ModelProto proto;
  Model model;
};

OpenedModel::OpenedModel(const std::filesystem::path& file) : state_(std::make_unique<State>()) {
  const Silence silence;
  state_->place = {file.string(), file.has_parent_path() ? file.parent_path() : "."};
  ListedNodes listed;
  state_->proto = read_proto(file, {}, &listed);
  state_->model = model_from(state_->proto, state_->place);
  state_->model.listed = listed;
}

OpenedModel::~OpenedModel() = default;

const Model& OpenedModel::model() const { return state_->model; }

void OpenedModel::resolve(const ResolvedControl& known) {
  const Silence silence;
  onnx::resolve(state_->proto, known, "");
  add_initializers(state_->model, state_->proto.graph(), state_->place);
  take_nodes(state_->model, state_->proto.graph(), state_->place);
}

}  // namespace poet::onnx
