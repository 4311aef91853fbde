#include "tests/support/onnx_mutations.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "poet/frontend/onnx/lower/operators.h"

namespace poet::test {
namespace {

using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;
using ::onnx::ValueInfoProto;
using Random = std::mt19937_64;

/// In [0, n); n > 0.
int below(int n, Random& random) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); }

/// Often small, else where arithmetic goes wrong.
std::int64_t integer(Random& random) {
  if (random() % 2 == 0) return below(12, random) - 3;
  return kExtremeIntegers[random() % kExtremeIntegers.size()];
}

float real(Random& random) { return kExtremeReals[random() % kExtremeReals.size()]; }

template <class Repeated>
void shuffle_two(Repeated& list, Random& random) {
  if (list.size() < 2) return;
  list.SwapElements(below(list.size(), random), below(list.size(), random));
}

template <class Repeated>
void erase(Repeated& list, int at) {
  list.erase(list.begin() + at);
}

/// A name that the graph has, mostly.
std::string some_name(const GraphProto& graph, Random& random) {
  const std::uint64_t sort = random() % 10;
  if (sort == 0) return "";
  if (sort == 1) return "nowhere";
  if (sort < 4 && graph.initializer_size() > 0)
    return graph.initializer(below(graph.initializer_size(), random)).name();
  if (sort < 6 && graph.input_size() > 0) return graph.input(below(graph.input_size(), random)).name();
  if (graph.node_size() == 0) return "";
  const NodeProto& node = graph.node(below(graph.node_size(), random));
  return node.output_size() == 0 ? "" : node.output(below(node.output_size(), random));
}

void change_dims(google::protobuf::RepeatedField<std::int64_t>& dims, Random& random) {
  switch (random() % 5) {
    case 0:
      dims.Add(integer(random));
      break;
    case 1:
      if (!dims.empty()) dims.RemoveLast();
      break;
    case 2:
      if (dims.size() > 1) dims.SwapElements(below(dims.size(), random), below(dims.size(), random));
      break;
    default:
      if (!dims.empty()) dims.Set(below(dims.size(), random), integer(random));
  }
}

void change_contents(TensorProto& tensor, Random& random) {
  std::string& raw = *tensor.mutable_raw_data();
  switch (random() % 7) {
    case 0:
      raw.resize(raw.size() / 2);
      break;
    case 1:
      tensor.clear_raw_data();
      tensor.clear_int64_data();
      tensor.clear_float_data();
      break;
    case 2: {
      constexpr std::array kTypes = {TensorProto::FLOAT, TensorProto::INT64,  TensorProto::INT32,
                                     TensorProto::BOOL,  TensorProto::DOUBLE, TensorProto::FLOAT16,
                                     TensorProto::UINT8, TensorProto::STRING, TensorProto::UNDEFINED};
      tensor.set_data_type(kTypes[random() % kTypes.size()]);
      break;
    }
    case 3:
      if (!tensor.int64_data().empty())
        tensor.set_int64_data(below(tensor.int64_data_size(), random), integer(random));
      if (!tensor.float_data().empty())
        tensor.set_float_data(below(tensor.float_data_size(), random), real(random));
      [[fallthrough]];
    case 4: {
      const bool reals = tensor.data_type() == TensorProto::FLOAT;
      const std::int64_t i = integer(random);
      const float r = real(random);
      const std::size_t size = reals ? sizeof(r) : sizeof(i);
      if (raw.size() < size) break;
      const std::size_t at = random() % (raw.size() / size) * size;
      std::copy_n(reals ? reinterpret_cast<const char*>(&r) : reinterpret_cast<const char*>(&i), size,
                  raw.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    }
    case 5:  // the same, but as long as the shape
      if (tensor.dims_size() == 1) {
        tensor.set_dims(0, below(6, random));
        const bool reals = tensor.data_type() == TensorProto::FLOAT;
        raw.resize(static_cast<std::size_t>(tensor.dims(0)) * (reals ? 4 : 8));
        tensor.clear_int64_data();
        tensor.clear_float_data();
      }
      break;
    default:
      change_dims(*tensor.mutable_dims(), random);
  }
  if (raw.empty()) tensor.clear_raw_data();
}

/// Another value of the same type, or another type.
void change_attribute(AttributeProto& attribute, Random& random) {
  switch (attribute.type()) {
    case AttributeProto::INT:
      attribute.set_i(integer(random));
      break;
    case AttributeProto::FLOAT:
      attribute.set_f(real(random));
      break;
    case AttributeProto::STRING: {
      constexpr std::array kTexts = {"",         "SAME_UPPER", "SAME_LOWER", "VALID",  "NOTSET",
                                     "constant", "edge",       "reflect",    "linear", "nearest",
                                     "cubic",    "forward",    "reverse",    "tanh",   "bidirectional",
                                     "a\nb\xff", "none",       "ij,jk->ik"};
      attribute.set_s(kTexts[random() % kTexts.size()]);
      break;
    }
    case AttributeProto::INTS:
      change_dims(*attribute.mutable_ints(), random);
      break;
    case AttributeProto::FLOATS:
      if (attribute.floats_size() == 0 || random() % 4 == 0)
        attribute.add_floats(real(random));
      else
        attribute.set_floats(below(attribute.floats_size(), random), real(random));
      break;
    case AttributeProto::TENSOR:
      change_contents(*attribute.mutable_t(), random);
      break;
    default:
      attribute.set_type(AttributeProto::INT);
  }
}

std::string mutate_attributes(NodeProto& node, const NodeProto& other, Random& random) {
  auto& list = *node.mutable_attribute();
  if (list.empty() || random() % 8 == 0) {
    if (other.attribute_size() > 0) *list.Add() = other.attribute(below(other.attribute_size(), random));
    return "an attribute of another node";
  }
  const int at = below(list.size(), random);
  switch (random() % 8) {
    case 0:
      erase(list, at);
      return "no attribute";
    case 1:
      *list.Add() = AttributeProto(list[at]);
      return "an attribute twice";
    case 2: {
      constexpr std::array kTypes = {AttributeProto::INT,   AttributeProto::FLOAT,  AttributeProto::STRING,
                                     AttributeProto::INTS,  AttributeProto::FLOATS, AttributeProto::TENSOR,
                                     AttributeProto::GRAPH, AttributeProto::STRINGS};
      list[at].set_type(kTypes[random() % kTypes.size()]);
      return "an attribute's type";
    }
    default:
      change_attribute(list[at], random);
      return "an attribute's value";
  }
}

template <class Names>
void change_names(Names& names, const std::string& name, Random& random) {
  switch (random() % 5) {
    case 0:
      *names.Add() = name;
      break;
    case 1:
      if (!names.empty()) erase(names, below(names.size(), random));
      break;
    case 2:
      shuffle_two(names, random);
      break;
    default:
      if (!names.empty()) names[below(names.size(), random)] = name;
  }
}

std::string change_operator(NodeProto& node, const NodeProto& other, Random& random) {
  static const std::vector<std::string> known = onnx::imported_operators();
  const std::string before = node.op_type();
  switch (random() % 8) {
    case 0:
      node.set_op_type(other.op_type());
      break;
    case 1:
      node.set_op_type("Unheard");
      break;
    case 2:
      node.set_domain("com.acme");
      break;
    default:
      node.set_op_type(known[random() % known.size()]);
  }
  return before + " is " + node.op_type();
}

std::string change_input(ValueInfoProto& input, Random& random) {
  auto& type = *input.mutable_type()->mutable_tensor_type();
  if (random() % 6 == 0) {
    type.set_elem_type(below(18, random));
    return "an input's type";
  }
  auto& dims = *type.mutable_shape()->mutable_dim();
  if (random() % 12 == 0) {
    type.clear_shape();
    return "an input without shape";
  }
  if (dims.empty() || random() % 6 == 0) {
    dims.Add()->set_dim_value(integer(random));
  } else if (random() % 6 == 0) {
    erase(dims, below(dims.size(), random));
  } else if (random() % 6 == 0) {
    dims[below(dims.size(), random)].set_dim_param("N");
  } else {
    dims[below(dims.size(), random)].set_dim_value(integer(random));
  }
  return "an input's shape";
}

std::string change_initializers(GraphProto& graph, Random& random) {
  auto& list = *graph.mutable_initializer();
  if (list.empty()) return "nothing";
  const int at = below(list.size(), random);
  switch (random() % 8) {
    case 0:
      erase(list, at);
      return "an initialiser missing";
    case 1:
      *list.Add() = TensorProto(list[at]);
      return "an initialiser twice";
    case 2:
      list[at].mutable_dims()->Swap(list[below(list.size(), random)].mutable_dims());
      return "two initialisers' shapes swapped";
    case 3: {  // computed at run time instead
      ValueInfoProto& input = *graph.add_input();
      input.set_name(list[at].name());
      auto& type = *input.mutable_type()->mutable_tensor_type();
      type.set_elem_type(list[at].data_type());
      for (const std::int64_t d : list[at].dims()) type.mutable_shape()->add_dim()->set_dim_value(d);
      erase(list, at);
      return "an initialiser as input";
    }
    case 4:
    case 5:
      change_dims(*list[at].mutable_dims(), random);
      return "an initialiser's shape";
    default:
      change_contents(list[at], random);
      return "an initialiser's contents";
  }
}

/// An input becomes a weight.
std::string fix_input(GraphProto& graph, Random& random) {
  if (graph.input_size() == 0) return "nothing";
  const ValueInfoProto& input = graph.input(below(graph.input_size(), random));
  TensorProto& weight = *graph.add_initializer();
  weight.set_name(input.name());
  weight.set_data_type(input.type().tensor_type().elem_type());
  for (const auto& d : input.type().tensor_type().shape().dim())
    weight.add_dims(d.has_dim_value() ? d.dim_value() : 1);
  return "an input as initialiser";
}

std::string change_nodes(GraphProto& graph, const GraphProto& other, Random& random) {
  auto& list = *graph.mutable_node();
  const int at = below(list.size(), random);
  switch (random() % 6) {
    case 0:
      erase(list, at);
      return "a node missing";
    case 1:
      *list.Add() = NodeProto(list[at]);
      return "a node twice";
    case 2:
      shuffle_two(list, random);
      return "two nodes swapped";
    default: {  // another model's node between two of this one
      if (other.node_size() == 0) return "nothing";
      NodeProto inserted = other.node(below(other.node_size(), random));
      NodeProto& reader = list[at];
      if (reader.input_size() == 0) return "nothing";
      for (std::string& input : *inserted.mutable_input()) {
        if (!input.empty()) input = random() % 3 == 0 ? some_name(graph, random) : reader.input(0);
      }
      for (int i = 0; i < inserted.output_size(); ++i)
        inserted.set_output(i, fmt::format("inserted{}_{}", list.size(), i));
      if (inserted.output_size() > 0) reader.set_input(0, inserted.output(0));
      std::string what = "inserted " + inserted.op_type();
      *list.Add() = std::move(inserted);
      for (int i = list.size() - 1; i > at; --i) list.SwapElements(i, i - 1);
      return what;
    }
  }
}

std::string change_outputs(GraphProto& graph, Random& random) {
  if (graph.output_size() == 0 || random() % 8 == 0) {
    graph.clear_output();
    return "no output";
  }
  graph.mutable_output(0)->set_name(some_name(graph, random));
  return "another output";
}

}  // namespace

std::string mutate(ModelProto& model, const ModelProto& other, Random& random) {
  GraphProto& graph = *model.mutable_graph();
  if (graph.node_size() == 0) return "nothing";
  NodeProto& node = *graph.mutable_node(below(graph.node_size(), random));
  static const NodeProto none;
  const GraphProto& others = other.graph();
  const NodeProto& stranger = others.node_size() == 0 ? none : others.node(below(others.node_size(), random));
  switch (random() % 20) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
      return node.op_type() + ": " + mutate_attributes(node, stranger, random);
    case 5:
    case 6:
    case 7:
      change_names(*node.mutable_input(), some_name(graph, random), random);
      return node.op_type() + ": inputs";
    case 8:
      change_names(*node.mutable_output(), some_name(graph, random), random);
      return node.op_type() + ": outputs";
    case 9:
    case 10:
      return change_operator(node, stranger, random);
    case 11:
    case 12:
      if (graph.input_size() == 0) return "nothing";
      return change_input(*graph.mutable_input(below(graph.input_size(), random)), random);
    case 13:
    case 14:
    case 15:
      return change_initializers(graph, random);
    case 16:
      if (random() % 3 == 0) return fix_input(graph, random);
      if (model.opset_import_size() > 0)
        model.mutable_opset_import(0)->set_version(random() % 8 == 0 ? integer(random)
                                                                     : 6 + below(16, random));
      return "opset";
    case 17:
    case 18:
      return change_nodes(graph, others, random);
    default:
      return change_outputs(graph, random);
  }
}

void damage(std::string& bytes, Random& random) {
  if (bytes.empty()) return;
  const std::uint64_t flips = 1 + random() % 4;
  for (std::uint64_t i = 0; i < flips; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
  if (random() % 5 == 0) bytes.resize(random() % bytes.size());
}

}  // namespace poet::test
