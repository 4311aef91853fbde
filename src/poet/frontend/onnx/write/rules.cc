#include "poet/frontend/onnx/write/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "poet/base/error.h"
#include "poet/frontend/onnx/functions.h"

namespace poet::onnx {
namespace {

std::string part(const Op& op, const char* name) { return op.name + "." + name; }

const std::string& written(const GraphExport& to, const Op& op) { return to.value(op.outputs.at(0)).name; }

std::string operand(GraphExport& to, const Op& op, std::size_t i = 0) { return to.read(op.inputs.at(i)); }

template <class T>
const T& get(const Op& op, const char* name) {
  return std::get<T>(op.attributes.at(name));
}

Integers list_or(const Op& op, const char* name, const Integers& otherwise) {
  const auto found = op.attributes.find(name);
  return found == op.attributes.end() ? otherwise : std::get<Integers>(found->second);
}

/// Adds a node with the op's operands and result; the caller adds attributes.
::onnx::NodeProto& same(GraphExport& to, const Op& op, const char* op_type) {
  Names inputs;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) inputs.push_back(operand(to, op, i));
  return to.node(op.name, op_type, inputs, {written(to, op)});
}

void linear(GraphExport& to, const Op& op) {
  const std::string x = operand(to, op);
  const bool bias = op.inputs.size() > 2;
  const std::string& y = written(to, op);
  if (to.value(op.inputs[0]).shape.size() == 2) {
    Names inputs = {x, to.weight(op.inputs[1])};
    if (bias) inputs.push_back(to.weight(op.inputs[2]));
    set(to.node(op.name, "Gemm", inputs, {y}), "transB", std::int64_t{1});
    return;
  }
  const std::string product = bias ? y + ".product" : y;
  to.node(op.name, "MatMul", {x, to.weight(op.inputs[1], true)}, {product});
  if (bias) to.node(part(op, "add"), "Add", {to.weight(op.inputs[2]), product}, {y});
}

void matmul(GraphExport& to, const Op& op) {
  const double alpha = get<double>(op, "alpha");
  const std::string& y = written(to, op);
  const std::string product = alpha == 1.0 ? y : y + ".product";
  const std::string a = operand(to, op, 0);
  const std::string b = operand(to, op, 1);
  to.node(op.name, "MatMul", {a, b}, {product});
  if (alpha != 1.0)
    to.node(part(op, "div"), "Div", {product, to.number(part(op, "divisor"), 1.0 / alpha)}, {y});
}

void batch_norm(GraphExport& to, const Op& op) {
  const IdVector<OpId, Op>& ops = to.forward().ops;
  const auto stats = std::find_if(ops.begin(), ops.end(), [&](const Op& other) {
    return other.kind == "batch_norm_stats" && other.inputs.at(0) == op.outputs.at(1);
  });
  if (stats == ops.end()) throw InputError(op.name, "has no running statistics, which ONNX's has");
  const bool training = to.options().training;
  const bool is_named_training = to.options().opset >= 14;  // earlier opsets: implied by several outputs
  const std::string& y = written(to, op);
  Names outputs = {y};
  if (training) outputs.insert(outputs.end(), {y + ".new_mean", y + ".new_var"});
  if (training && !is_named_training) outputs.insert(outputs.end(), {y + ".saved_mean", y + ".saved_var"});
  ::onnx::NodeProto& added = to.node(op.name, "BatchNormalization",
                                     {operand(to, op), to.weight(op.inputs[1]), to.weight(op.inputs[2]),
                                      to.weight(stats->inputs[2]), to.weight(stats->inputs[3])},
                                     outputs);
  set(added, "epsilon", get<double>(op, "eps"));
  set(added, "momentum", 1.0 - get<double>(*stats, "momentum"));
  if (training && is_named_training) set(added, "training_mode", std::int64_t{1});
}

void layer_norm(GraphExport& to, const Op& op) {
  const std::string x = operand(to, op);
  const std::string scale = to.weight(op.inputs[1]);
  const std::string shift = to.weight(op.inputs[2]);
  const std::string& y = written(to, op);
  const double eps = get<double>(op, "eps");
  if (to.options().opset >= 17) {
    set(to.node(op.name, "LayerNormalization", {x, scale, shift}, {y}), "epsilon", eps);
    return;
  }
  const auto name = [&](const char* what) { return part(op, what); };
  set(to.node(op.name, "ReduceMean", {x}, {name("average")}), "axes", Integers{-1});
  to.node(name("sub"), "Sub", {x, name("average")}, {name("centred")});
  to.node(name("pow"), "Pow", {name("centred"), to.number(name("two"), 2.0)}, {name("square")});
  set(to.node(name("reduce"), "ReduceMean", {name("square")}, {name("variance")}), "axes", Integers{-1});
  to.node(name("plus"), "Add", {name("variance"), to.number(name("eps"), eps)}, {name("sum")});
  to.node(name("sqrt"), "Sqrt", {name("sum")}, {name("root")});
  to.node(name("div"), "Div", {name("centred"), name("root")}, {name("ratio")});
  to.node(name("mul"), "Mul", {name("ratio"), scale}, {name("scaled")});
  to.node(name("add"), "Add", {name("scaled"), shift}, {y});
}

void gelu(GraphExport& to, const Op& op) {
  const std::string x = operand(to, op);
  const auto name = [&](const char* what) { return part(op, what); };
  to.node(name("div"), "Div", {x, to.number(name("root_of_two"), std::sqrt(2.0))}, {name("ratio")});
  to.node(op.name, "Erf", {name("ratio")}, {name("erf")});
  to.node(name("add"), "Add", {name("erf"), to.number(name("one"), 1.0)}, {name("plus")});
  to.node(name("mul"), "Mul", {x, name("plus")}, {name("twice")});
  to.node(name("half"), "Mul", {name("twice"), to.number(name("a_half"), 0.5)}, {written(to, op)});
}

void silu(GraphExport& to, const Op& op) {
  const std::string x = operand(to, op);
  to.node(op.name, "Sigmoid", {x}, {part(op, "sigmoid")});
  to.node(part(op, "mul"), "Mul", {x, part(op, "sigmoid")}, {written(to, op)});
}

/// Sets the window's attributes. `pads` holds all begins, then all ends.
void set_windows(::onnx::NodeProto& to, const Op& op, const Integers& kernel) {
  Integers pads = get<Integers>(op, "padding");
  const Integers end = list_or(op, "padding_end", pads);
  pads.insert(pads.end(), end.begin(), end.end());
  set(to, "kernel_shape", kernel);
  set(to, "strides", get<Integers>(op, "stride"));
  set(to, "pads", pads);
}

void conv(GraphExport& to, const Op& op) {
  ::onnx::NodeProto& added = same(to, op, "Conv");
  const Shape& weight = to.value(op.inputs[1]).shape;
  set_windows(added, op, Integers(weight.begin() + 2, weight.end()));
  set(added, "dilations", get<Integers>(op, "dilation"));
  set(added, "group", get<std::int64_t>(op, "groups"));
}

/// Returns the number of whole windows along spatial axis `axis`, counted from 0.
std::int64_t whole_windows(const GraphExport& to, const Op& op, std::size_t axis) {
  const Integers& kernel = get<Integers>(op, "kernel");
  const Integers& padding = get<Integers>(op, "padding");
  const std::int64_t dilation = list_or(op, "dilation", Integers(kernel.size(), 1))[axis];
  const std::int64_t all =
      to.value(op.inputs[0]).shape[axis + 2] + padding[axis] + list_or(op, "padding_end", padding)[axis];
  return (all - dilation * (kernel[axis] - 1) - 1) / get<Integers>(op, "stride")[axis] + 1;
}

::onnx::NodeProto& pool(GraphExport& to, const Op& op, const char* op_type) {
  ::onnx::NodeProto& added = to.node(op.name, op_type, {operand(to, op)}, {written(to, op)});
  const Integers& kernel = get<Integers>(op, "kernel");
  set_windows(added, op, kernel);
  if (op.attributes.contains("dilation")) set(added, "dilations", get<Integers>(op, "dilation"));
  bool rounds_up = false;
  for (std::size_t axis = 0; axis < kernel.size(); ++axis) {
    const std::int64_t windows = to.value(op.outputs[0]).shape[axis + 2];
    rounds_up = rounds_up || windows > whole_windows(to, op, axis);
  }
  if (rounds_up) set(added, "ceil_mode", std::int64_t{1});
  return added;
}

void max_pool(GraphExport& to, const Op& op) { (void)pool(to, op, "MaxPool"); }

void avg_pool(GraphExport& to, const Op& op) {
  if (op.attributes.contains("dilation"))
    throw InputError(op.name, "has a dilation, which ONNX's AveragePool does not have before opset 19");
  ::onnx::NodeProto& added = pool(to, op, "AveragePool");
  if (!op.attributes.contains("count_include_pad")) set(added, "count_include_pad", std::int64_t{1});
}

void dropout(GraphExport& to, const Op& op) {
  Names inputs = {operand(to, op), to.number(part(op, "ratio"), get<double>(op, "p"))};
  if (to.options().training) inputs.push_back(to.truth(part(op, "training"), true));
  to.node(op.name, "Dropout", inputs, {written(to, op)});
}

void embedding(GraphExport& to, const Op& op) {
  to.node(op.name, "Gather", {to.weight(op.inputs.at(1)), operand(to, op)}, {written(to, op)});
}

void select(GraphExport& to, const Op& op) {
  const std::string index = to.integer(part(op, "index"), get<std::int64_t>(op, "index"));
  set(to.node(op.name, "Gather", {operand(to, op), index}, {written(to, op)}), "axis", std::int64_t{1});
}

void scale(GraphExport& to, const Op& op) {
  const double alpha = op.kind == "scale" ? get<double>(op, "alpha") : 1.0;
  const double beta = get<double>(op, "beta");
  const std::string& y = written(to, op);
  std::string now = operand(to, op);
  if (alpha != 1.0) {
    const std::string product = beta == 0.0 ? y : part(op, "product");
    to.node(op.name, "Mul", {now, to.number(part(op, "alpha"), alpha)}, {product});
    now = product;
  }
  if (alpha == 1.0 || beta != 0.0) {
    to.node(part(op, "shift"), "Add", {now, to.number(part(op, "beta"), beta)}, {y});
  }
}

void pow(GraphExport& to, const Op& op) {
  const std::string exponent = to.number(part(op, "exponent"), get<double>(op, "exponent"));
  to.node(op.name, "Pow", {operand(to, op), exponent}, {written(to, op)});
}

void clip(GraphExport& to, const Op& op) {
  Names inputs = {operand(to, op)};
  for (const char* bound : {"min", "max"})
    inputs.push_back(op.attributes.contains(bound) ? to.number(part(op, bound), get<double>(op, bound)) : "");
  to.node(op.name, "Clip", inputs, {written(to, op)});
}

void last_axis(GraphExport& to, const Op& op) {
  set(same(to, op, op.kind == "softmax" ? "Softmax" : "LogSoftmax"), "axis", std::int64_t{-1});
}

void concat(GraphExport& to, const Op& op) {
  set(same(to, op, "Concat"), "axis", get<std::int64_t>(op, "axis"));
}

void transpose(GraphExport& to, const Op& op) {
  set(same(to, op, "Transpose"), "perm", get<Integers>(op, "axes"));
}

/// Names of operators without attributes, by kind.
const std::map<std::string, const char*>& new_names() {
  static const std::map<std::string, const char*> names = {
      {"add", "Add"},
      {"div", "Div"},
      {"global_avg_pool", "GlobalAveragePool"},
      {"global_max_pool", "GlobalMaxPool"},
      {"mul", "Mul"},
      {"prelu", "PRelu"},
      {"sub", "Sub"},
  };
  return names;
}

void renamed(GraphExport& to, const Op& op) { (void)same(to, op, new_names().at(op.kind)); }

void function(GraphExport& to, const Op& op) {
  const FunctionName& name = *find_function_of(op.kind);
  if (to.options().opset < name.since) {
    throw InputError(op.name,
                     fmt::format("is a {}, which ONNX has from opset {} on; it is written with opset {}",
                                 name.op_type, name.since, to.options().opset));
  }
  ::onnx::NodeProto& added = same(to, op, name.op_type);
  for (const auto& attribute : name.attributes) set(added, attribute.first, get<double>(op, attribute.first));
}

}  // namespace

ExportRule find_export_rule(const std::string& kind) {
  static const std::map<std::string, ExportRule> rules = {
      {"avg_pool2d", avg_pool},
      {"avg_pool3d", avg_pool},
      {"batch_norm", batch_norm},
      {"clip", clip},
      {"concat", concat},
      {"conv2d", conv},
      {"conv3d", conv},
      {"dropout", dropout},
      {"embedding", embedding},
      {"gelu", gelu},
      {"layer_norm", layer_norm},
      {"linear", linear},
      {"log_softmax", last_axis},
      {"matmul", matmul},
      {"max_pool2d", max_pool},
      {"max_pool3d", max_pool},
      {"pow", pow},
      {"scale", scale},
      {"select", select},
      {"shift", scale},
      {"silu", silu},
      {"softmax", last_axis},
      {"transpose", transpose},
  };
  if (new_names().contains(kind)) return renamed;
  if (find_function_of(kind) != nullptr) return function;
  const auto found = rules.find(kind);
  return found == rules.end() ? nullptr : found->second;
}

}  // namespace poet::onnx
