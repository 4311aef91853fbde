#include "poet/frontend/onnx/walk.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <list>

#include "poet/base/error.h"
#include "poet/frontend/onnx/loss.h"
#include "poet/frontend/onnx/opaque.h"
#include "poet/frontend/onnx/operators.h"
#include "poet/frontend/onnx/zero_states.h"

namespace poet::onnx {
namespace {

constexpr std::int64_t kMostHeld = std::int64_t{1} << 26;

DType dtype_of(Type type) {
  return type == Type::real ? DType::float32 : type == Type::boolean ? DType::uint8 : DType::int32;
}

/// Real numbers that may train if they reach an operator as they are.
bool may_train(const Fixed& x) {
  return x.tensor.type == Type::real && element_count(x.tensor.shape) != 1 && !x.constant && !x.tensor.fill;
}

/// Operators that only change how a constant is seen: the walk's own rules keep its name.
bool only_views(const Node& node, std::size_t rank) {
  const std::int64_t to = integer(node, "to", 0);
  if (node.op_type == "Cast") return to == 1 || to == 10 || to == 11 || to == 16;
  for (const char* view : {"Reshape", "Squeeze", "Unsqueeze", "Transpose", "Identity", "Flatten"}) {
    if (node.op_type == view) return node.op_type != "Transpose" || rank == 2;
  }
  return false;
}

/// The file's shape of an input with the user's wishes.
Shape chosen_shape(const Declaration& input, const ImportOptions& options) {
  const std::string place = fmt::format("input '{}'", input.name);
  if (const auto found = options.input_shapes.find(input.name); found != options.input_shapes.end()) {
    if (input.shape && input.shape->size() != found->second.size()) {
      throw InputError(place,
                       fmt::format("has {} dimensions, not {}", input.shape->size(), found->second.size()));
    }
    return found->second;
  }
  const std::string remedy =
      fmt::format("give its shape with --input-shape {}=1x3x224x224 or the like", input.name);
  if (!input.shape) throw InputError(place, "has no shape in the file; " + remedy);
  Shape shape;
  for (std::size_t i = 0; i < input.shape->size(); ++i) {
    const Dimension& d = (*input.shape)[i];
    const bool batch = i == 0 && (!d.size || *d.size == 1);
    if (!d.size && !batch) {
      throw InputError(place, fmt::format("dimension {} ('{}') is open; {}", i, d.symbol, remedy));
    }
    shape.push_back(batch ? options.batch_size.value_or(1) : *d.size);
    if (i == 0 && !batch && options.batch_size && *options.batch_size != *d.size) {
      throw InputError(place,
                       fmt::format("is for batches of {}, not {}; {}", *d.size, *options.batch_size, remedy));
    }
  }
  return shape;
}

}  // namespace

Walk::Walk(const Model& model, const ImportOptions& options, const std::map<std::size_t, std::string>& opaque)
    : model_(model), options_(options), opaque_(opaque), graph_(model.name), zeros_(zero_values(model)) {
  for (const Node& node : model_.nodes) {
    for (const std::string& input : node.inputs) {
      if (!input.empty()) readers_[input].push_back(&node);
    }
  }
}

bool Walk::has(const Node& node, std::size_t i) const {
  return i < node.inputs.size() && !node.inputs[i].empty();
}

const Operand& Walk::operand(const Node& node, std::size_t i) const {
  if (!has(node, i)) throw InputError(fmt::format("input {} is missing", i));
  const auto found = operands_.find(node.inputs[i]);
  if (found == operands_.end() || std::holds_alternative<std::monostate>(found->second)) {
    throw InputError(fmt::format("reads '{}', a result that poet does not compute", node.inputs[i]));
  }
  return found->second;
}

bool Walk::is_runtime(const Node& node, std::size_t i) const {
  return has(node, i) && std::holds_alternative<Runtime>(operand(node, i));
}

bool Walk::is_data(const Node& node, std::size_t i) const {
  const Fixed* x = fixed(node, i);
  return x == nullptr ? is_runtime(node, i) : x->constant;
}

Type Walk::type(const Node& node, std::size_t i) const {
  const Operand& x = operand(node, i);
  if (const Fixed* known = std::get_if<Fixed>(&x)) return known->tensor.type;
  return std::get<Runtime>(x).type;
}

Runtime Walk::runtime(ValueId v) const {
  switch (graph_.dtype(v)) {
    case DType::uint8:
      return {v, 1.0, Type::boolean};
    case DType::float32:
      return {v, 1.0, Type::real};
    default:
      return {v, 1.0, Type::integer};
  }
}

const Fixed* Walk::fixed(const Node& node, std::size_t i) const {
  return has(node, i) ? std::get_if<Fixed>(&operand(node, i)) : nullptr;
}

Shape Walk::shape(const Node& node, std::size_t i) const {
  const Operand& x = operand(node, i);
  if (const Fixed* known = std::get_if<Fixed>(&x)) return known->tensor.shape;
  return graph_.shape(std::get<Runtime>(x).id);
}

std::optional<double> Walk::scalar(const Node& node, std::size_t i) const {
  const Fixed* x = fixed(node, i);
  if (x == nullptr || !x->tensor.known || x->tensor.reals.size() != 1) return std::nullopt;
  return x->tensor.reals.front();
}

std::optional<std::int64_t> Walk::whole_number(const Node& node, std::size_t i) const {
  const Fixed* x = fixed(node, i);
  if (x == nullptr || !x->tensor.known || x->tensor.integers.size() != 1) return std::nullopt;
  return x->tensor.integers.front();
}

const std::vector<std::int64_t>& Walk::known_integers(const Node& node, std::size_t i) const {
  const Fixed* x = std::get_if<Fixed>(&operand(node, i));
  if (x == nullptr || x->tensor.type == Type::real || !x->tensor.known) {
    if (x != nullptr && x->tensor.type != Type::real && x->tensor.external) {
      throw InputError(
          fmt::format("input {} ('{}') is kept in another file, which poet does not read; save small tensors "
                      "within the model (size_threshold)",
                      i, node.inputs[i]));
    }
    throw InputError(
        fmt::format("input {} ('{}') must be known while importing: poet plans fixed shapes; export with "
                    "constant shapes",
                    i, node.inputs[i]));
  }
  return x->tensor.integers;
}

ValueId Walk::value(const Node& node, std::size_t i) {
  const Operand& x = operand(node, i);
  if (const Runtime* runtime = std::get_if<Runtime>(&x)) {
    if (runtime->type != Type::real) {
      throw InputError(fmt::format("input {} ('{}') holds {}; this operator reads real numbers", i,
                                   node.inputs[i],
                                   runtime->type == Type::boolean ? "truth values" : "integers"));
    }
    if (runtime->scale == 1.0) return runtime->id;
    const std::string name = fmt::format("{}.{}.scaled", name_of(node), i);
    return graph_.scale(name, row_major(name, runtime->id), runtime->scale);
  }
  const Fixed& w = std::get<Fixed>(x);
  if (w.tensor.type != Type::real) {
    throw InputError(fmt::format("input {} ('{}') is a constant of type {}, which this operator cannot read",
                                 i, node.inputs[i], w.tensor.type_name));
  }
  // Numbers of one element are attributes elsewhere and no weights here either.
  const bool trains = !w.constant && (w.transposed || !scalar(node, i));
  if (!trains && !w.transposed) return constant(node, w);
  if (!trains) notice("constants of the file stay in RAM and do not train");
  const Persistence persistence = trains ? Persistence::parameter : Persistence::optimizer_state;
  if (!w.transposed) return parameter(node, w, w.tensor.shape, persistence, false);
  const ValueId stored = parameter(node, w, {w.tensor.shape[1], w.tensor.shape[0]}, persistence, false);
  return graph_.permute(w.name + ".T", stored, {1, 0});
}

ValueId Walk::row_major(const std::string& name, ValueId v) {
  const StridedShape layout = graph_.layout(v);
  if (layout.strides.empty()) return v;
  std::vector<std::int64_t> axes;
  for (std::size_t axis = 0; axis < layout.shape.size(); ++axis)
    axes.push_back(static_cast<std::int64_t>(axis));
  return graph_.transpose(name + ".contiguous", v, axes);
}

ValueId Walk::any(const Node& node, std::size_t i) {
  const Operand& x = operand(node, i);
  if (type(node, i) == Type::real) return row_major(node, i);
  if (const Runtime* known = std::get_if<Runtime>(&x))
    return row_major(fmt::format("{}.{}", name_of(node), i), known->id);
  const Fixed& w = std::get<Fixed>(x);
  if (w.tensor.type == Type::other || w.transposed) {
    throw InputError(
        fmt::format("input {} ('{}') is a constant of type {}{}, which this operator cannot read", i,
                    node.inputs[i], w.tensor.type_name, w.transposed ? ", transposed" : ""));
  }
  return constant(node, w);
}

/// A value for a constant of the file; where contents are known, equal ones share it.
ValueId Walk::constant(const Node& node, const Fixed& w) {
  notice("constants of the file stay in RAM and do not train");
  const Tensor& t = w.tensor;
  if (!t.known || t.type == Type::real || parameters_.contains(w.name))
    return parameter(node, w, t.shape, Persistence::optimizer_state, false);
  for (const auto& [like, id] : constants_) {
    if (like.type != t.type || like.integers != t.integers) continue;
    if (like.shape == t.shape) return id;
    return graph_.reshape(fmt::format("{}.{}", name_of(node), w.name), id, t.shape);
  }
  const ValueId id = parameter(node, w, t.shape, Persistence::optimizer_state, false);
  constants_.emplace_back(t, id);
  return id;
}

ValueId Walk::row_major(const Node& node, std::size_t i) {
  return row_major(fmt::format("{}.{}", name_of(node), i), value(node, i));
}

const Fixed& Walk::real_weight(const Node& node, std::size_t i) const {
  const Fixed* w = fixed(node, i);
  if (w == nullptr || w->tensor.type != Type::real) {
    const std::string name = has(node, i) ? node.inputs[i] : "";
    const bool is_input = std::any_of(model_.inputs.begin(), model_.inputs.end(),
                                      [&](const Declaration& input) { return input.name == name; });
    throw InputError(fmt::format(
        "input {} ('{}') must be a weight: an initialiser or constant of real numbers{}", i, name,
        is_input ? ", not an input of the model; export the weights as initialisers (export_params=True)"
                 : ""));
  }
  return *w;
}

ValueId Walk::weight(const Node& node, std::size_t i, const Shape& as_stored, Persistence persistence) {
  const Fixed& w = real_weight(node, i);
  if (w.transposed || element_count(w.tensor.shape) != element_count(as_stored)) {
    throw InputError(fmt::format("the weight '{}' is {}{}, but must be {}", w.name, shown(w.tensor.shape),
                                 w.transposed ? " (transposed)" : "", shown(as_stored)));
  }
  return row_major(fmt::format("{}.{}", name_of(node), w.name),
                   parameter(node, w, as_stored, persistence, false));
}

ValueId Walk::moving_state(const Node& node, std::size_t i, std::int64_t size) {
  const Fixed& w = real_weight(node, i);
  const std::vector<const Node*> all = readers(w.name);
  const auto shared =
      std::count_if(all.begin(), all.end(), [](const Node* n) { return n->op_type != "Identity"; });
  if (shared < 2) return weight(node, i, {size}, Persistence::optimizer_state);
  notice("running statistics that the file shares are kept once for each BatchNormalization");
  Fixed own = w;
  own.name = fmt::format("{}.{}", name_of(node), w.name);
  if (own.transposed || element_count(own.tensor.shape) != size) return weight(node, i, {size});  // complains
  return parameter(node, own, {size}, Persistence::optimizer_state, false);
}

bool Walk::stored_as_out_in(const Node& node, std::size_t i, bool read_as_out_in) const {
  const Fixed& w = real_weight(node, i);
  const auto found = parameters_.find(w.name);
  return found == parameters_.end() || found->second.turned == (read_as_out_in == w.transposed);
}

ValueId Walk::linear_weight(const Node& node, std::size_t i, bool read_as_out_in) {
  const Fixed& w = real_weight(node, i);
  if (w.tensor.shape.size() != 2) throw InputError(fmt::format("the weight '{}' must be a matrix", w.name));
  Shape stored = w.tensor.shape;
  if (!read_as_out_in) std::swap(stored[0], stored[1]);
  const bool turned = read_as_out_in == w.transposed;
  if (turned) notice("weights of linear layers that the file stores as (in, out) are stored as (out, in)");
  return parameter(node, w, stored, Persistence::parameter, turned);
}

ValueId Walk::parameter(const Node& node, const Fixed& w, const Shape& stored, Persistence persistence,
                        bool turned) {
  const auto found = parameters_.find(w.name);
  if (found != parameters_.end()) {
    if (found->second.turned != turned) {
      const std::string name = fmt::format("{}.{}.T", name_of(node), w.name);
      const ValueId seen = graph_.permute(name, found->second.id, {1, 0});  // only matrices are turned
      if (graph_.shape(seen) == stored) return seen;
      return graph_.reshape(name + ".shape", row_major(name, seen), stored);
    }
    if (found->second.shape == stored) return found->second.id;
    return graph_.reshape(fmt::format("{}.{}", name_of(node), w.name), found->second.id, stored);
  }
  for (const std::int64_t d : stored) {
    if (d < 1) throw InputError(fmt::format("the weight '{}' is {}", w.name, shown(stored)));
  }
  const Type type = w.tensor.type;
  const ValueId id = type == Type::real ? graph_.parameter(w.name, stored, persistence)
                                        : graph_.constant(w.name, stored, dtype_of(type));
  parameters_[w.name] = {id, stored, turned};
  return id;
}

bool Walk::is_zero_state(const Node& node, std::size_t i) {
  if (zeros_.contains(node.inputs[i])) return true;
  const auto stored = model_.initializers.find(node.inputs[i]);
  if (stored == model_.initializers.end() || !stored->second.zeros) return false;
  notice("initial states of zeros that recurrent layers read from the file do not train");
  return true;
}

void Walk::set(const Node& node, Operand result) {
  if (node.outputs.empty()) throw InputError("has no output");
  set_output(node.outputs.front(), std::move(result));
}

void Walk::set_output(const std::string& name, Operand result) { operands_[name] = std::move(result); }

std::string Walk::place_of(const Node& node) {
  return fmt::format("node {} '{}' ({})", node.index, node.name, node.op_type);
}

std::string Walk::name_of(const Node& node) {
  return node.name.empty() ? fmt::format("{}_{}", node.op_type, node.index) : node.name;
}

std::optional<Tensor> Walk::declared(const std::string& result) const {
  const auto found = model_.declared.find(result);
  if (found == model_.declared.end() || !found->second.shape) return std::nullopt;
  Tensor tensor;
  tensor.type = found->second.type;
  tensor.type_name = found->second.type_name;
  for (const Dimension& d : *found->second.shape) {
    const auto symbol = symbols_.find(d.symbol);
    if (!d.size && symbol == symbols_.end()) return std::nullopt;
    tensor.shape.push_back(d.size ? *d.size : symbol->second);
  }
  if (rescaled_batch_ && !tensor.shape.empty() &&
      found->second.shape->front().size == rescaled_batch_->second)
    tensor.shape.front() *= rescaled_batch_->first;
  return tensor;
}

const Node* Walk::only_reader(const Node& node) const {
  const std::string& output = node.outputs.at(0);
  if (output == logits_) return nullptr;
  const std::vector<const Node*> all = readers(output);
  return all.size() == 1 && all.front()->domain.empty() ? all.front() : nullptr;
}

std::size_t Walk::reader_count(const std::string& value) const {
  const auto found = readers_.find(value);
  return found == readers_.end() ? 0 : found->second.size();
}

bool Walk::is_read(const Node& node, std::size_t output) const {
  if (output >= node.outputs.size() || node.outputs[output].empty()) return false;
  const std::string& name = node.outputs[output];
  return name == logits_ || !readers(name).empty();
}

std::vector<const Node*> Walk::readers(const std::string& value) const {
  std::vector<const Node*> out;
  const auto found = readers_.find(value);
  if (found == readers_.end()) return out;
  for (const Node* node : found->second) {
    if (needed_.contains(node->index)) out.push_back(node);
  }
  return out;
}

void Walk::notice(const std::string& text) {
  for (auto& [known, count] : notices_) {
    if (known != text) continue;
    ++count;
    return;
  }
  notices_.emplace_back(text, 1);
}

void Walk::mark_needed() {
  logits_ = model_.outputs.front();
  if (model_.outputs.size() > 1) {
    notice(fmt::format("of {} outputs only the first, '{}', gets a loss", model_.outputs.size(), logits_));
  }
  std::set<std::string> wanted;
  for (std::size_t i = model_.nodes.size(); i-- > 0;) {
    const Node& node = model_.nodes[i];
    const bool provides = std::find(node.outputs.begin(), node.outputs.end(), logits_) != node.outputs.end();
    // The loss has a softmax of its own.
    if (provides && options_.loss == Loss::cross_entropy && final_softmax_ == nullptr &&
        node.domain.empty() && (node.op_type == "Softmax" || node.op_type == "LogSoftmax") &&
        node.inputs.size() == 1) {
      final_softmax_ = &node;
      notice(fmt::format("the final {} was taken off: the cross-entropy loss has its own", node.op_type));
      logits_ = node.inputs.front();
      continue;
    }
    const bool used = std::any_of(node.outputs.begin(), node.outputs.end(),
                                  [&](const std::string& output) { return wanted.contains(output); });
    if (!provides && !used) continue;
    needed_.insert(node.index);
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      // What only makes zeros for a layer to start with is not computed.
      const bool is_none = is_initial_state(node, k) && zeros_.contains(node.inputs[k]);
      if (!is_none || opaque_.contains(node.index)) wanted.insert(node.inputs[k]);
    }
    wanted.erase("");
  }
}

void Walk::add_inputs() {
  for (const auto& [name, shape] : options_.input_shapes) {
    std::vector<std::string> names;
    for (const Declaration& input : model_.inputs) names.push_back(input.name);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw InputError("--input-shape",
                       fmt::format("the model has no input '{}'; it has {}", name, fmt::join(names, ", ")));
    }
  }
  bool first = true;
  for (const Declaration& input : model_.inputs) {
    if (readers(input.name).empty() && input.name != logits_) continue;
    const Shape shape = chosen_shape(input, options_);
    if (input.type == Type::other) {
      throw InputError(fmt::format("input '{}'", input.name),
                       fmt::format("is of type {}; poet feeds float32, int32 and booleans", input.type_name));
    }
    if (input.type == Type::real && input.type_name != "float") {
      notice(fmt::format("{} inputs are taken as float32", input.type_name));
    }
    if (input.type == Type::integer && input.type_name != "int32") {
      notice(fmt::format("{} inputs are fed as int32", input.type_name));
    }
    if (input.shape) {
      for (std::size_t i = 0; i < shape.size(); ++i) {
        const Dimension& d = (*input.shape)[i];
        if (!d.size && !d.symbol.empty()) symbols_.emplace(d.symbol, shape[i]);
      }
    }
    operands_[input.name] = runtime(graph_.input(input.name, shape, dtype_of(input.type)));
    if (!first || shape.empty()) continue;
    first = false;
    batch_size_ = shape.front();
    if (input.shape && !input.shape->empty() && input.shape->front().size &&
        *input.shape->front().size != batch_size_ && batch_size_ % *input.shape->front().size == 0) {
      rescaled_batch_ = {batch_size_ / *input.shape->front().size, *input.shape->front().size};
    }
  }
}

void Walk::add_constants() {
  for (const auto& [name, tensor] : model_.initializers)
    operands_[name] = Fixed{name, tensor, false, tensor.patterned};
  // First of all, so that rules that look ahead know them.
  for (const Node& node : model_.nodes) {
    if (!needed_.contains(node.index) || !node.domain.empty()) continue;
    static const std::set<std::string> kinds = {"Cast",    "Constant", "ConstantOfShape", "Identity",
                                                "Reshape", "Squeeze",  "Unsqueeze"};
    if (!kinds.contains(node.op_type)) continue;
    const bool early = std::all_of(node.inputs.begin(), node.inputs.end(), [&](const std::string& input) {
      const auto found = operands_.find(input);
      return found != operands_.end() && std::holds_alternative<Fixed>(found->second);
    });
    if (early) visit(node);
  }
}

bool Walk::evaluated(const Node& node) {
  if (node.outputs.empty()) return false;
  if (node.op_type == "Shape" || node.op_type == "Size") {
    const Shape whole = shape(node, 0);
    if (node.op_type == "Size") {
      Tensor count = integer_list({element_count(whole)});
      count.shape = {};
      set(node, Fixed{node.outputs.front(), std::move(count), false, false});
      return true;
    }
    const std::int64_t rank = static_cast<std::int64_t>(whole.size());
    const std::int64_t start = integer(node, "start", 0);
    const std::int64_t end = integer(node, "end", rank);
    const std::int64_t from = std::clamp<std::int64_t>(start < 0 ? start + rank : start, 0, rank);
    const std::int64_t to = std::clamp<std::int64_t>(end < 0 ? end + rank : end, from, rank);
    set(node, Fixed{node.outputs.front(), integer_list(Shape(whole.begin() + from, whole.begin() + to)),
                    false, false});
    return true;
  }
  if (!is_evaluated(node.op_type)) return false;
  Operands inputs;
  std::list<Tensor> filled;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Fixed* x = fixed(node, i);
    inputs.push_back(x == nullptr ? nullptr : &x->tensor);
    if (x == nullptr || x->tensor.type != Type::real) continue;
    // Weights keep their names, however small they are.
    if (may_train(*x) || x->transposed) return false;
    if (element_count(x->tensor.shape) != 1 && only_views(node, x->tensor.shape.size())) return false;
    if (x->tensor.known || !x->tensor.fill || !is_evaluated(node.op_type)) continue;
    filled.push_back(with_contents(x->tensor));
    inputs.back() = &filled.back();
  }
  std::optional<Tensor> result = evaluate(node, inputs, opset());
  if (!result) return false;
  // Each is bounded, and so are all together.
  held_ += result->known ? element_count(result->shape) : 0;
  if (held_ > kMostHeld) {
    throw InputError(
        fmt::format("the constants that nodes make have more than {} elements together; store them as "
                    "initialisers",
                    kMostHeld));
  }
  const bool constant = node.op_type != "ConstantOfShape";  // which also stands for weights
  set(node, Fixed{node.outputs.front(), std::move(*result), false, constant});
  return true;
}

void Walk::visit(const Node& node) {
  if (!needed_.contains(node.index) || !skipped_.insert(node.index).second) return;
  const auto reason = opaque_.find(node.index);
  const bool evaluable = node.domain.empty() && is_evaluated(node.op_type);
  bool opaque = reason != opaque_.end();
  try {
    if (!opaque && evaluated(node)) {
      ++counts_.evaluated;
      return;
    }
    const bool integers = has(node, 0) && type(node, 0) != Type::real;
    const OperatorRule rule = node.domain.empty() ? find_operator(node.op_type, integers) : nullptr;
    if (rule == nullptr && !evaluable) opaque = options_.allow_opaque;
    if (opaque) return add_opaque(*this, node, reason == opaque_.end() ? "" : reason->second);
    if (rule == nullptr && evaluable) {
      throw InputError(
          "poet evaluates this operator while importing, so all its inputs must be known then; export with "
          "fixed shapes");
    }
    if (rule == nullptr) {
      throw InputError(
          fmt::format("poet cannot import the operator {}; replace it in the model, cut the model "
                      "before it, or plan around it with --allow-opaque",
                      operator_name(node)));
    }
    rule(*this, node);
  } catch (const InputError& error) {
    if (opaque) throw InputError(place_of(node), error.what());
    throw NodeError(node.index, place_of(node), error.what());
  }
}

void Walk::add_loss() {
  const auto found = operands_.find(logits_);
  if (found == operands_.end() || !std::holds_alternative<Runtime>(found->second) ||
      std::get<Runtime>(found->second).type != Type::real) {
    throw InputError(fmt::format("the output '{}' does not depend on the inputs", logits_));
  }
  const ValueId output = row_major("logits", std::get<Runtime>(found->second).id);
  if (options_.loss == Loss::mean_squared_error) return add_mean_squared_error(*this, output);
  const bool convolved = std::any_of(model_.nodes.begin(), model_.nodes.end(), [&](const Node& node) {
    return (node.op_type == "Conv" || node.op_type == "ConvTranspose") && !node.outputs.empty() &&
           node.outputs.front() == logits_;
  });
  add_cross_entropy(*this, output, convolved, final_softmax_);
}

ImportedModel Walk::run() {
  if (options_.batch_size && *options_.batch_size < 1) throw InputError("batch size", "must be >= 1");
  mark_needed();
  add_inputs();
  add_constants();
  for (const Node& node : model_.nodes) visit(node);
  add_loss();
  ImportedModel imported;
  imported.forward = graph_.finish();
  imported.nodes = counts_;
  imported.nodes.all = static_cast<std::int64_t>(model_.nodes.size());
  imported.nodes.unneeded = imported.nodes.all - static_cast<std::int64_t>(needed_.size());
  imported.batch_size = batch_size_;
  for (const auto& [name, parameter] : parameters_) {
    if (parameter.turned) imported.turned.push_back(name);
  }
  for (const auto& [text, count] : notices_) {
    imported.notices.push_back(count == 1 ? text : fmt::format("{} ({} times)", text, count));
  }
  return imported;
}

}  // namespace poet::onnx
