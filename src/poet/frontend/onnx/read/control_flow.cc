#include "poet/frontend/onnx/read/control_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "poet/base/error.h"
#include "poet/frontend/onnx/read/protobuf.h"
#include "poet/frontend/onnx/read/splice.h"

namespace poet::onnx {
namespace {

using GraphProto = ::onnx::GraphProto;
using NodeProto = ::onnx::NodeProto;
using TensorProto = ::onnx::TensorProto;

constexpr std::int64_t kAxesAreInputs = 13;  // first opset with axes as an input

const GraphProto* subgraph(const NodeProto& node, const char* name) {
  for (const ::onnx::AttributeProto& attribute : node.attribute())
    if (attribute.name() == name && attribute.has_g()) return &attribute.g();
  return nullptr;
}

NodeProto& add_plain_node(GraphProto& to, const char* op_type, std::vector<std::string> inputs,
                          const std::string& output) {
  NodeProto& node = *to.add_node();
  node.set_op_type(op_type);
  node.set_name(output);
  for (std::string& input : inputs) node.add_input(std::move(input));
  node.add_output(output);
  return node;
}

::onnx::AttributeProto& add_attribute(NodeProto& node, const char* name,
                                      ::onnx::AttributeProto::AttributeType type) {
  ::onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

/// Adds a Constant of one number, or of a list of one.
void add_number(GraphProto& to, const std::string& output, TensorProto::DataType type, std::int64_t number,
                bool list = false) {
  TensorProto& tensor =
      *add_attribute(add_plain_node(to, "Constant", {}, output), "value", ::onnx::AttributeProto::TENSOR)
           .mutable_t();
  tensor.set_data_type(type);
  if (list) tensor.add_dims(1);
  if (type == TensorProto::INT64)
    tensor.add_int64_data(number);
  else
    tensor.add_int32_data(static_cast<std::int32_t>(number));
}

/// Returns whether a truth value, or an integer to be cast to one, is true.
bool is_true(const TensorProto& tensor) {
  const std::int32_t type = tensor.data_type();
  if (type != TensorProto::BOOL && type != TensorProto::INT32 && type != TensorProto::INT64) return false;
  if (tensor.has_raw_data()) {
    const std::string& bytes = tensor.raw_data();
    return std::any_of(bytes.begin(), bytes.end(), [](char byte) { return byte != '\0'; });
  }
  if (type == TensorProto::INT64) return tensor.int64_data_size() > 0 && tensor.int64_data(0) != 0;
  return tensor.int32_data_size() > 0 && tensor.int32_data(0) != 0;
}

/// Returns whether a value of a graph is always true. Sets `name` to the value of which it is a copy.
bool is_true(const GraphProto& graph, std::string& name) {
  for (int i = graph.node_size() - 1; i >= 0; --i) {  // writers precede readers
    const NodeProto& node = graph.node(i);
    if (node.output_size() == 0 || node.output(0) != name) continue;
    if (node.op_type() == "Constant")
      return node.attribute_size() > 0 && node.attribute(0).has_t() && is_true(node.attribute(0).t());
    if ((node.op_type() != "Identity" && node.op_type() != "Cast") || node.input_size() != 1) return false;
    name = node.input(0);
  }
  return std::any_of(graph.initializer().begin(), graph.initializer().end(),
                     [&](const TensorProto& tensor) { return tensor.name() == name && is_true(tensor); });
}

/// Returns whether the body never ends the loop: its condition is passed through, or always true, inside or
/// outside of the body.
bool goes_on(const GraphProto& body, const GraphProto& outside) {
  std::string name = body.output(0).name();
  return is_true(body, name) || name == body.input(1).name() || is_true(outside, name);
}

class Resolver {
 public:
  Resolver(::onnx::ModelProto& model, const ResolvedControl& known, const std::string& place)
      : graph_(*model.mutable_graph()),
        node_(graph_.node(static_cast<int>(known.node))),  // a copy: the node is replaced
        names_(graph_),
        scope_(scope_of(node_)),
        place_(fmt::format("{}node {} '{}' ({})", place.empty() ? "" : place + ": ", known.node,
                           clean(node_.name()), clean(node_.op_type()))) {
    for (const ::onnx::OperatorSetIdProto& one : model.opset_import())
      if (one.domain().empty() || one.domain() == "ai.onnx") opset_ = one.version();
    GraphProto inner;
    if (node_.op_type() == "If")
      take_branch(inner, known.known != 0);
    else if (known.known == ResolvedControl::kOnceMore)
      peel(inner);
    else
      unroll(inner, known.known);
    put_in_place(inner, static_cast<int>(known.node));
  }

 private:
  [[noreturn]] void fail(const std::string& rule) const { throw InputError(place_, rule); }

  void take_branch(GraphProto& to, bool condition) {
    const GraphProto* branch = subgraph(node_, condition ? "then_branch" : "else_branch");
    if (branch == nullptr) fail("has no branch for its condition");
    if (branch->output_size() != node_.output_size()) fail("has other outputs than its branch");
    add_scope(to, *branch, scope_, {}, {node_.output().begin(), node_.output().end()});
  }

  /// Returns the body of a loop, whose inputs and outputs are those of the node.
  const GraphProto& checked_body() const {
    const GraphProto* body = subgraph(node_, "body");
    const int carried = node_.input_size() - 2;
    if (body == nullptr || carried < 0 || body->input_size() != carried + 2 ||
        body->output_size() - 1 != node_.output_size() || node_.output_size() < carried)
      fail("has other inputs or outputs than its body");
    return *body;
  }

  /// Adds one iteration, and the loop again for what its condition says then.
  void peel(GraphProto& to) {
    const GraphProto& body = checked_body();
    const int carried = node_.input_size() - 2;
    if (goes_on(body, graph_))
      fail("never ends: it has no number of iterations, and its condition stays true");
    if (node_.output_size() > carried || reads(body, body.input(0).name()))
      fail(
          "decides in its body whether it goes on, and has results or numbers of iterations; poet unrolls "
          "such loops of known length");
    if (graph_.node_size() > kMostNodes) fail(fmt::format("unrolls to more than {} nodes", kMostNodes));
    Renaming inputs = {{body.input(1).name(), node_.input(1)}};
    for (int i = 0; i < carried; ++i) inputs[body.input(i + 2).name()] = node_.input(i + 2);
    std::vector<std::string> outputs;
    for (const ::onnx::ValueInfoProto& output : body.output())
      outputs.push_back(names_.fresh(scope_, output.name()));
    add_scope(to, body, scope_, std::move(inputs), outputs);
    NodeProto& rest = *to.add_node();
    rest = node_;
    for (int i = 0; i <= carried; ++i) rest.set_input(i + 1, outputs[static_cast<std::size_t>(i)]);
  }

  /// Returns whether a node of the graph, or of one within it, reads the value.
  static bool reads(const GraphProto& graph, const std::string& value) {
    return std::any_of(graph.node().begin(), graph.node().end(), [&](const NodeProto& node) {
      return std::find(node.input().begin(), node.input().end(), value) != node.input().end() ||
             std::any_of(node.attribute().begin(), node.attribute().end(), [&](const auto& attribute) {
               return attribute.has_g() && reads(attribute.g(), value);
             });
    });
  }

  void unroll(GraphProto& to, std::int64_t trips) {
    const GraphProto* body = &checked_body();
    const int carried = node_.input_size() - 2;
    if (trips > 0 && !goes_on(*body, graph_))
      fail("decides in its body whether it goes on; poet unrolls loops of known length");
    const int scanned = node_.output_size() - carried;
    if (trips == 0 && scanned > 0) fail("never runs, and its results are empty");
    if (trips > kMostNodes)
      fail(fmt::format("runs {} times, and may unroll to {} nodes at most", trips, kMostNodes));
    std::vector<std::string> now(node_.input().begin() + 2, node_.input().end());
    std::vector<std::vector<std::string>> lists(static_cast<std::size_t>(scanned));
    for (std::int64_t trip = 0; trip < trips; ++trip) {
      if (graph_.node_size() + to.node_size() > kMostNodes)
        fail(fmt::format("unrolls to more than {} nodes", kMostNodes));
      const std::string scope = fmt::format("{}/{}", scope_, trip);
      Renaming inputs = {{body->input(0).name(), names_.fresh(scope, "iteration")},
                         {body->input(1).name(), names_.fresh(scope, "condition")}};
      add_number(to, inputs[body->input(0).name()], TensorProto::INT64, trip);
      add_number(to, inputs[body->input(1).name()], TensorProto::BOOL, 1);
      for (int i = 0; i < carried; ++i) inputs[body->input(i + 2).name()] = now[static_cast<std::size_t>(i)];
      std::vector<std::string> outputs;
      for (const ::onnx::ValueInfoProto& output : body->output())
        outputs.push_back(names_.fresh(scope, output.name()));
      add_scope(to, *body, scope, std::move(inputs), outputs);
      now.assign(outputs.begin() + 1, outputs.begin() + 1 + carried);
      for (int i = 0; i < scanned; ++i)
        lists[static_cast<std::size_t>(i)].push_back(outputs[static_cast<std::size_t>(1 + carried + i)]);
    }
    for (int i = 0; i < carried; ++i)
      if (!node_.output(i).empty())
        add_plain_node(to, "Identity", {now[static_cast<std::size_t>(i)]}, node_.output(i));
    for (int i = 0; i < scanned; ++i)
      if (!node_.output(carried + i).empty())
        stack(to, lists[static_cast<std::size_t>(i)], node_.output(carried + i));
  }

  /// Stacks the values of all iterations along a new first axis.
  void stack(GraphProto& to, std::vector<std::string> values, const std::string& output) {
    std::string axes;
    if (opset_ >= kAxesAreInputs)
      add_number(to, axes = names_.fresh(scope_, "axes"), TensorProto::INT64, 0, true);
    for (std::string& value : values) {
      const std::string row = names_.fresh(value, "row");
      NodeProto& node = add_plain_node(to, "Unsqueeze", {value}, row);
      if (!axes.empty())
        node.add_input(axes);
      else
        add_attribute(node, "axes", ::onnx::AttributeProto::INTS).add_ints(0);
      value = row;
    }
    add_attribute(add_plain_node(to, "Concat", std::move(values), output), "axis",
                  ::onnx::AttributeProto::INT)
        .set_i(0);
  }

  /// Adds a subgraph's initialisers and nodes; its outputs get the names in `outputs` that are not empty.
  void add_scope(GraphProto& to, const GraphProto& inner, const std::string& scope, Renaming renaming,
                 const std::vector<std::string>& outputs) {
    std::set<std::string> written;
    for (const NodeProto& node : inner.node()) written.insert(node.output().begin(), node.output().end());
    std::vector<std::pair<std::string, std::string>> copies;  // values passed through, and their output names
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::string& name = inner.output(static_cast<int>(i)).name();
      if (outputs[i].empty()) continue;
      if (!written.contains(name) || !renaming.emplace(name, outputs[i]).second)
        copies.emplace_back(name, outputs[i]);
    }
    for (const TensorProto& tensor : inner.initializer()) {
      TensorProto& copy = *to.add_initializer();
      copy = tensor;
      copy.set_name(renaming[tensor.name()] = names_.fresh(scope, tensor.name()));
    }
    for (const std::string& name : written)
      if (!name.empty() && !renaming.contains(name)) renaming[name] = names_.fresh(scope, name);
    for (const NodeProto& node : inner.node()) add_copy(to, node, scope, renaming);
    for (const auto& [name, output] : copies) {
      const auto renamed = renaming.find(name);
      add_plain_node(to, "Identity", {renamed == renaming.end() ? name : renamed->second}, output);
    }
  }

  void put_in_place(GraphProto& inner, int index) {
    GraphProto all;
    const auto move = [&all](NodeProto& node) { *all.add_node() = std::move(node); };
    for (int i = 0; i < index; ++i) move(*graph_.mutable_node(i));
    for (NodeProto& node : *inner.mutable_node()) move(node);
    for (int i = index + 1; i < graph_.node_size(); ++i) move(*graph_.mutable_node(i));
    graph_.mutable_node()->Swap(all.mutable_node());
    for (TensorProto& tensor : *inner.mutable_initializer()) *graph_.add_initializer() = std::move(tensor);
  }

  GraphProto& graph_;
  const NodeProto node_;
  ValueNames names_;
  std::string scope_;
  std::string place_;
  std::int64_t opset_ = 0;
};

}  // namespace

void resolve(::onnx::ModelProto& model, const ResolvedControl& known, const std::string& place) {
  if (known.node >= static_cast<std::size_t>(model.graph().node_size()))
    throw InputError(place, "is not the file any more that was imported");
  (void)Resolver(model, known, place);
}

}  // namespace poet::onnx
