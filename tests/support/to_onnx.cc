#include "tests/support/to_onnx.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "poet/base/error.h"
#include "poet/graph/strides.h"

namespace poet::test {
namespace {

using Names = std::vector<std::string>;
using List = std::vector<std::int64_t>;

constexpr Bytes kMostContents = Bytes(32'000'000);

/// The axes of a layout in the order in which they lie in storage, slowest first.
List storage_order(const Value& value) {
  const Shape strides = value.strides.empty() ? row_major_strides(value.shape) : value.strides;
  List axes(value.shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  std::stable_sort(axes.begin(), axes.end(), [&](std::int64_t a, std::int64_t b) {
    return strides[static_cast<std::size_t>(a)] > strides[static_cast<std::size_t>(b)];
  });
  return axes;
}

Shape in_order(const Shape& shape, const List& axes) {
  Shape out;
  for (const std::int64_t axis : axes) out.push_back(shape[static_cast<std::size_t>(axis)]);
  return out;
}

class Exporter {
 public:
  Exporter(const Graph& forward, std::int64_t opset) : forward_(forward), opset_(opset) {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(opset);
    graph().set_name(forward.name);
    Bytes weights{};
    for (const Value& value : forward_.values) {
      if (is_persistent(value.persistence)) weights += value.bytes;
    }
    contents_ = weights < kMostContents;
  }

  std::string run() {
    std::set<ValueId> targets;
    for (const Op& op : forward_.ops) {
      if (op.kind == "softmax_cross_entropy") targets.insert(op.inputs[1]);
    }
    for (const Op& op : forward_.ops) {
      if (op.kind == "input") {
        if (!targets.contains(op.outputs[0])) describe(*graph().add_input(), op.outputs[0]);
      } else if (op.kind == "softmax_cross_entropy") {
        const std::string logits = read(op.inputs[0]);
        describe(*graph().add_output(), op.inputs[0]);
        graph().mutable_output(0)->set_name(logits);
      } else {
        add(op);
      }
    }
    return model_.SerializeAsString();
  }

 private:
  ::onnx::GraphProto& graph() { return *model_.mutable_graph(); }
  const Value& value(ValueId v) const { return forward_.values[v]; }

  ::onnx::NodeProto& node(const std::string& name, const char* op_type, const Names& inputs,
                          const Names& outputs) {
    ::onnx::NodeProto& added = *graph().add_node();
    added.set_name(name);
    added.set_op_type(op_type);
    for (const std::string& input : inputs) added.add_input(input);
    for (const std::string& output : outputs) added.add_output(output);
    return added;
  }

  static ::onnx::AttributeProto& attribute(::onnx::NodeProto& to, const char* name,
                                           ::onnx::AttributeProto::AttributeType type) {
    ::onnx::AttributeProto& added = *to.add_attribute();
    added.set_name(name);
    added.set_type(type);
    return added;
  }
  static void set(::onnx::NodeProto& to, const char* name, std::int64_t number) {
    attribute(to, name, ::onnx::AttributeProto::INT).set_i(number);
  }
  static void set(::onnx::NodeProto& to, const char* name, double number) {
    attribute(to, name, ::onnx::AttributeProto::FLOAT).set_f(static_cast<float>(number));
  }
  static void set(::onnx::NodeProto& to, const char* name, const List& list) {
    ::onnx::AttributeProto& added = attribute(to, name, ::onnx::AttributeProto::INTS);
    for (const std::int64_t number : list) added.add_ints(number);
  }

  void describe(::onnx::ValueInfoProto& to, ValueId v) const {
    to.set_name(value(v).name);
    ::onnx::TypeProto_Tensor& type = *to.mutable_type()->mutable_tensor_type();
    type.set_elem_type(value(v).dtype == DType::float32 ? ::onnx::TensorProto::FLOAT
                                                        : ::onnx::TensorProto::INT32);
    type.mutable_shape()->add_dim()->set_dim_param("batch");
    for (std::size_t i = 1; i < value(v).shape.size(); ++i) {
      type.mutable_shape()->add_dim()->set_dim_value(value(v).shape[i]);
    }
  }

  std::string number(const std::string& name, double real) {
    ::onnx::TensorProto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(::onnx::TensorProto::FLOAT);
    tensor.add_float_data(static_cast<float>(real));
    return name;
  }

  std::string integers(const std::string& name, const List& list) {
    ::onnx::TensorProto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(::onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<std::int64_t>(list.size()));
    for (const std::int64_t i : list) tensor.add_int64_data(i);
    return name;
  }

  std::string weight(ValueId v, bool turned = false) {
    if (!written_.insert(v).second) return value(v).name;
    Shape shape = value(v).shape;
    if (turned) std::swap(shape[0], shape[1]);
    ::onnx::TensorProto& tensor = *graph().add_initializer();
    tensor.set_name(value(v).name);
    tensor.set_data_type(::onnx::TensorProto::FLOAT);
    for (const std::int64_t d : shape) tensor.add_dims(d);
    if (contents_) tensor.set_raw_data(std::string(static_cast<std::size_t>(element_count(shape)) * 4, '\0'));
    return value(v).name;
  }

  /// The name of what an operator reads. A view becomes nodes where it is read first: its storage in
  /// row-major order, that in the view's shape in storage order, that with the view's order of axes.
  std::string read(ValueId v) {
    if (!value(v).alias_of.valid() || !written_.insert(v).second) return value(v).name;
    const Value& view = value(v);
    const ValueId base = storage(forward_, v);
    const List base_order = storage_order(value(base));
    const List view_order = storage_order(view);
    const Shape from = in_order(value(base).shape, base_order);
    const Shape to = in_order(view.shape, view_order);
    std::string now = value(base).name;
    if (!value(base).strides.empty()) {
      const std::string next = view.name + ".stored";
      set(node(next, "Transpose", {now}, {next}), "perm", base_order);
      now = next;
    }
    const std::string shaped = view.strides.empty() ? view.name : view.name + ".split";
    if (to.size() == 2 && to[0] == from[0]) {
      set(node(shaped, "Flatten", {now}, {shaped}), "axis", std::int64_t{1});
    } else {
      if (to.front() != from.front()) throw InputError(view.name, "is a view across the batch");
      List target = to;
      target.front() = 0;  // as it is: the batch
      node(shaped, "Reshape", {now, integers(view.name + ".shape", target)}, {shaped});
    }
    if (!view.strides.empty()) {
      List back(view_order.size());
      for (std::size_t i = 0; i < back.size(); ++i) {
        back[static_cast<std::size_t>(view_order[i])] = static_cast<std::int64_t>(i);
      }
      set(node(view.name, "Transpose", {shaped}, {view.name}), "perm", back);
    }
    return view.name;
  }

  static const List& list(const Op& op, const char* name) { return std::get<List>(op.attributes.at(name)); }
  static double real(const Op& op, const char* name) { return std::get<double>(op.attributes.at(name)); }

  void set_windows(::onnx::NodeProto& to, const Op& op, const List& kernel) {
    const List& padding = list(op, "padding");
    set(to, "kernel_shape", kernel);
    set(to, "strides", list(op, "stride"));
    set(to, "pads", List{padding[0], padding[1], padding[0], padding[1]});
  }

  void linear(const Op& op, const std::string& x, const std::string& y) {
    const bool bias = op.inputs.size() > 2;
    if (value(op.inputs[0]).shape.size() == 2) {
      Names inputs = {x, weight(op.inputs[1])};
      if (bias) inputs.push_back(weight(op.inputs[2]));
      set(node(op.name, "Gemm", inputs, {y}), "transB", std::int64_t{1});
      return;
    }
    const std::string product = bias ? y + ".product" : y;
    node(op.name, "MatMul", {x, weight(op.inputs[1], true)}, {product});
    if (bias) node(op.name + ".add", "Add", {weight(op.inputs[2]), product}, {y});
  }

  void batch_norm(const Op& op, const std::string& x, const std::string& y) {
    const auto stats = std::find_if(forward_.ops.begin(), forward_.ops.end(), [&](const Op& other) {
      return other.kind == "batch_norm_stats" && other.inputs[0] == op.outputs[1];
    });
    Names outputs = {y, y + ".new_mean", y + ".new_var"};
    if (opset_ < 14) outputs.insert(outputs.end(), {y + ".saved_mean", y + ".saved_var"});
    ::onnx::NodeProto& added = node(
        op.name, "BatchNormalization",
        {x, weight(op.inputs[1]), weight(op.inputs[2]), weight(stats->inputs[2]), weight(stats->inputs[3])},
        outputs);
    set(added, "epsilon", real(op, "eps"));
    set(added, "momentum", 1.0 - real(*stats, "momentum"));
    if (opset_ >= 14) set(added, "training_mode", std::int64_t{1});
  }

  void layer_norm(const Op& op, const std::string& x, const std::string& y) {
    const std::string scale = weight(op.inputs[1]);
    const std::string shift = weight(op.inputs[2]);
    if (opset_ >= 17) {
      set(node(op.name, "LayerNormalization", {x, scale, shift}, {y}), "epsilon", real(op, "eps"));
      return;
    }
    const auto part = [&](const char* name) { return op.name + "." + name; };
    set(node(op.name, "ReduceMean", {x}, {part("average")}), "axes", List{-1});
    node(part("sub"), "Sub", {x, part("average")}, {part("centred")});
    node(part("pow"), "Pow", {part("centred"), number(part("two"), 2.0)}, {part("square")});
    set(node(part("reduce"), "ReduceMean", {part("square")}, {part("variance")}), "axes", List{-1});
    node(part("plus"), "Add", {part("variance"), number(part("eps"), real(op, "eps"))}, {part("sum")});
    node(part("sqrt"), "Sqrt", {part("sum")}, {part("root")});
    node(part("div"), "Div", {part("centred"), part("root")}, {part("ratio")});
    node(part("mul"), "Mul", {part("ratio"), scale}, {part("scaled")});
    node(part("add"), "Add", {part("scaled"), shift}, {y});
  }

  void gelu(const Op& op, const std::string& x, const std::string& y) {
    const auto part = [&](const char* name) { return op.name + "." + name; };
    node(part("div"), "Div", {x, number(part("root_of_two"), std::sqrt(2.0))}, {part("ratio")});
    node(op.name, "Erf", {part("ratio")}, {part("erf")});
    node(part("add"), "Add", {part("erf"), number(part("one"), 1.0)}, {part("plus")});
    node(part("mul"), "Mul", {x, part("plus")}, {part("twice")});
    node(part("half"), "Mul", {part("twice"), number(part("a_half"), 0.5)}, {y});
  }

  void matmul(const Op& op, const std::string& y) {
    const double alpha = real(op, "alpha");
    const std::string product = alpha == 1.0 ? y : y + ".product";
    const std::string a = read(op.inputs[0]);
    const std::string b = read(op.inputs[1]);
    node(op.name, "MatMul", {a, b}, {product});
    if (alpha != 1.0) {
      node(op.name + ".div", "Div", {product, number(op.name + ".divisor", 1.0 / alpha)}, {y});
    }
  }

  void add(const Op& op) {
    if (op.kind == "batch_norm_stats") return;  // part of BatchNormalization
    const std::string& y = value(op.outputs.at(0)).name;
    if (op.kind == "matmul") return matmul(op, y);
    if (op.kind == "embedding") {
      node(op.name, "Gather", {weight(op.inputs[1]), read(op.inputs[0])}, {y});
      return;
    }
    const std::string x = read(op.inputs.at(0));
    if (op.kind == "linear") return linear(op, x, y);
    if (op.kind == "batch_norm") return batch_norm(op, x, y);
    if (op.kind == "layer_norm") return layer_norm(op, x, y);
    if (op.kind == "gelu") return gelu(op, x, y);
    if (op.kind == "conv2d") {
      Names inputs = {x, weight(op.inputs[1])};
      if (op.inputs.size() > 2) inputs.push_back(weight(op.inputs[2]));
      const Shape& kernel = value(op.inputs[1]).shape;
      ::onnx::NodeProto& added = node(op.name, "Conv", inputs, {y});
      set_windows(added, op, {kernel[2], kernel[3]});
      set(added, "dilations", list(op, "dilation"));
      set(added, "group", std::get<std::int64_t>(op.attributes.at("groups")));
    } else if (op.kind == "max_pool2d") {
      set_windows(node(op.name, "MaxPool", {x}, {y}), op, list(op, "kernel"));
    } else if (op.kind == "add") {
      node(op.name, "Add", {x, read(op.inputs[1])}, {y});
    } else if (op.kind == "dropout") {
      ::onnx::TensorProto& training = *graph().add_initializer();
      training.set_name(op.name + ".training");
      training.set_data_type(::onnx::TensorProto::BOOL);
      training.add_int32_data(1);
      node(op.name, "Dropout", {x, number(op.name + ".ratio", real(op, "p")), training.name()}, {y});
    } else if (op.kind == "select") {
      ::onnx::TensorProto& index = *graph().add_initializer();
      index.set_name(op.name + ".index");
      index.set_data_type(::onnx::TensorProto::INT64);
      index.add_int64_data(std::get<std::int64_t>(op.attributes.at("index")));
      set(node(op.name, "Gather", {x, index.name()}, {y}), "axis", std::int64_t{1});
    } else if (op.kind == "softmax") {
      set(node(op.name, "Softmax", {x}, {y}), "axis", std::int64_t{-1});
    } else {
      static const std::map<std::string, const char*> same = {
          {"relu", "Relu"}, {"tanh", "Tanh"}, {"global_avg_pool", "GlobalAveragePool"}};
      const auto found = same.find(op.kind);
      if (found == same.end()) throw InputError(op.name, "to_onnx() does not know the kind " + op.kind);
      node(op.name, found->second, {x}, {y});
    }
  }

  const Graph& forward_;
  std::int64_t opset_;
  bool contents_ = false;
  ::onnx::ModelProto model_;
  std::set<ValueId> written_;  // weights and views
};

}  // namespace

std::string to_onnx(const Graph& forward, std::int64_t opset) { return Exporter(forward, opset).run(); }

}  // namespace poet::test
