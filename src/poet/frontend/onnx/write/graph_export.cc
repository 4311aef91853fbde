#include "poet/frontend/onnx/write/graph_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "poet/base/error.h"
#include "poet/frontend/onnx/write/weight_tensor.h"
#include "poet/graph/strides.h"

namespace poet::onnx {
namespace {

using Proto = ::onnx::TensorProto;

constexpr std::int64_t kIrVersion = 8;  // of ONNX 1.10 to 1.13, with opsets 15 to 18
constexpr const char* kBatch = "batch";

/// Returns the axes in order of storage, slowest first.
Integers storage_order(const Value& value) {
  const Shape strides = value.strides.empty() ? row_major_strides(value.shape) : value.strides;
  Integers axes(value.shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  std::stable_sort(axes.begin(), axes.end(), [&](std::int64_t a, std::int64_t b) {
    return strides[static_cast<std::size_t>(a)] > strides[static_cast<std::size_t>(b)];
  });
  return axes;
}

Shape in_order(const Shape& shape, const Integers& axes) {
  Shape out;
  for (const std::int64_t axis : axes) out.push_back(shape[static_cast<std::size_t>(axis)]);
  return out;
}

Integers inverse(const Integers& order) {
  Integers back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  return back;
}

::onnx::AttributeProto& attribute(::onnx::NodeProto& to, const char* name,
                                  ::onnx::AttributeProto::AttributeType type) {
  ::onnx::AttributeProto& added = *to.add_attribute();
  added.set_name(name);
  added.set_type(type);
  return added;
}

}  // namespace

void set(::onnx::NodeProto& to, const char* name, std::int64_t number) {
  attribute(to, name, ::onnx::AttributeProto::INT).set_i(number);
}
void set(::onnx::NodeProto& to, const char* name, double number) {
  attribute(to, name, ::onnx::AttributeProto::FLOAT).set_f(static_cast<float>(number));
}
void set(::onnx::NodeProto& to, const char* name, const Integers& list) {
  ::onnx::AttributeProto& added = attribute(to, name, ::onnx::AttributeProto::INTS);
  for (const std::int64_t number : list) added.add_ints(number);
}

GraphExport::GraphExport(const Graph& forward, const WeightLookup& weights, const OnnxOptions& options)
    : forward_(forward), weights_(weights), options_(options) {
  model_.set_ir_version(kIrVersion);
  model_.set_producer_name("poet");
  model_.add_opset_import()->set_version(options.opset);
  graph().set_name(forward.name);
}

void GraphExport::describe(::onnx::ValueInfoProto& to, ValueId v, const std::string& name) const {
  to.set_name(name);
  ::onnx::TypeProto_Tensor& type = *to.mutable_type()->mutable_tensor_type();
  type.set_elem_type(element_type(value(v).dtype));
  type.mutable_shape()->add_dim()->set_dim_param(kBatch);
  for (std::size_t i = 1; i < value(v).shape.size(); ++i)
    type.mutable_shape()->add_dim()->set_dim_value(value(v).shape[i]);
}

void GraphExport::add_input(ValueId v) { describe(*graph().add_input(), v, value(v).name); }

void GraphExport::add_output(ValueId v) {
  const std::string name = read(v);
  describe(*graph().add_output(), v, name);
}

::onnx::NodeProto& GraphExport::node(const std::string& name, const char* op_type, const Names& inputs,
                                     const Names& outputs) {
  ::onnx::NodeProto& added = *graph().add_node();
  added.set_name(name);
  added.set_op_type(op_type);
  for (const std::string& input : inputs) added.add_input(input);
  for (const std::string& output : outputs) added.add_output(output);
  return added;
}

std::string GraphExport::number(const std::string& name, double real) {
  Proto& tensor = *graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(Proto::FLOAT);
  tensor.add_float_data(static_cast<float>(real));
  return name;
}

std::string GraphExport::integer(const std::string& name, std::int64_t number) {
  Proto& tensor = *graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(Proto::INT64);
  tensor.add_int64_data(number);
  return name;
}

std::string GraphExport::integers(const std::string& name, const Integers& list) {
  Proto& tensor = *graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(Proto::INT64);
  tensor.add_dims(static_cast<std::int64_t>(list.size()));
  for (const std::int64_t i : list) tensor.add_int64_data(i);
  return name;
}

std::string GraphExport::truth(const std::string& name, bool holds) {
  Proto& tensor = *graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(Proto::BOOL);
  tensor.add_int32_data(holds ? 1 : 0);
  return name;
}

std::string GraphExport::weight(ValueId v, bool transposed) {
  const Value& stored = value(v);
  if (!written_.insert(v).second) return stored.name;
  Proto& tensor = *graph().add_initializer();
  tensor.set_name(stored.name);
  tensor.set_data_type(element_type(stored.dtype));
  Shape shape = stored.shape;
  if (transposed) std::swap(shape.at(0), shape.at(1));
  for (const std::int64_t d : shape) tensor.add_dims(d);
  std::string contents(static_cast<std::size_t>(stored.bytes.value()), '\0');
  if (!weights_(stored, reinterpret_cast<std::byte*>(contents.data()))) return stored.name;
  if (transposed) contents = transposed_elements(contents, stored.shape, size_of(stored.dtype));
  *tensor.mutable_raw_data() = std::move(contents);
  return stored.name;
}

/// Reshapes `from` to the shape `to`. Returns the result's name, which is the view's if that is row-major.
std::string GraphExport::reshaped(ValueId v, const std::string& from_name, const Shape& from,
                                  const Shape& to) {
  const Value& view = value(v);
  std::string name = view.strides.empty() ? view.name : view.name + ".split";
  const bool has_batch = !is_persistent(view.persistence);
  if (has_batch && to.size() == 2 && to[0] == from[0]) {
    set(node(name, "Flatten", {from_name}, {name}), "axis", std::int64_t{1});
    return name;
  }
  Integers target = to;
  if (has_batch) {
    // A first axis that joins the batch with rows of samples must be a multiple of the batch.
    if (to.front() % from.front() != 0) throw InputError(view.name, "is a view across the batch");
    target.front() = to.front() == from.front() ? 0 : -1;
  }
  node(name, "Reshape", {from_name, integers(view.name + ".shape", target)}, {name});
  return name;
}

std::string GraphExport::read(ValueId v) {
  const Value& view = value(v);
  const ValueId base = storage(forward_, v);
  if (is_persistent(value(base).persistence)) (void)weight(base);
  if (!view.alias_of.valid() || !written_.insert(v).second) return view.name;
  const Integers base_order = storage_order(value(base));
  const Integers view_order = storage_order(view);
  std::string now = value(base).name;
  if (!value(base).strides.empty()) {
    const std::string next = view.name + ".stored";
    set(node(next, "Transpose", {now}, {next}), "perm", base_order);
    now = next;
  }
  now = reshaped(v, now, in_order(value(base).shape, base_order), in_order(view.shape, view_order));
  if (!view.strides.empty())
    set(node(view.name, "Transpose", {now}, {view.name}), "perm", inverse(view_order));
  return view.name;
}

std::string GraphExport::bytes() const {
  if (model_.ByteSizeLong() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw InputError(forward_.name, "is larger than the 2 GiB that an ONNX model can have");
  return model_.SerializeAsString();
}

}  // namespace poet::onnx
