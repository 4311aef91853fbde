#include "poet/frontend/onnx/lower/inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/lowering.h"
#include "poet/frontend/onnx/read/read_model.h"

namespace poet::onnx {
namespace {

/// Returns the suggestion for an input of unknown or different size: a shape of the file's rank.
std::string remedy(const Declaration& input, std::optional<std::int64_t> batch) {
  std::string shape = "1x3x224x224";
  bool known = false;
  if (input.shape && !input.shape->empty()) {
    known = true;
    const bool image = input.shape->size() == 4;
    std::vector<std::int64_t> sizes;
    for (const Dimension& d : *input.shape) {
      const std::size_t axis = sizes.size();
      const bool is_batch = axis == 0 && (batch || !d.size);
      known = known && (d.size || is_batch);
      sizes.push_back(is_batch ? batch.value_or(1) : d.size ? *d.size : image ? (axis == 1 ? 3 : 224) : 128);
    }
    shape = fmt::format("{}", fmt::join(sizes, "x"));
  }
  return fmt::format("give its shape with `input_shapes` {}={}{}", input.name, shape,
                     known ? "" : " or the like");
}

/// Returns the shape of an input: the user's, or the file's with the user's batch size. Throws InputError.
Shape chosen_shape(const Declaration& input, const ImportOptions& options) {
  const std::string place = fmt::format("input '{}'", input.name);
  if (const auto found = options.input_shapes.find(input.name); found != options.input_shapes.end()) {
    if (input.shape && input.shape->size() != found->second.size()) {
      throw InputError(place,
                       fmt::format("has {} dimensions, not {}", input.shape->size(), found->second.size()));
    }
    return found->second;
  }
  if (!input.shape) throw InputError(place, "has no shape in the file; " + remedy(input, {}));
  Shape shape;
  for (std::size_t i = 0; i < input.shape->size(); ++i) {
    const Dimension& d = (*input.shape)[i];
    const bool batch = i == 0 && (!d.size || *d.size == 1);
    if (!d.size && !batch) {
      throw InputError(place, fmt::format("dimension {} ('{}') is open; {}", i, d.symbol, remedy(input, {})));
    }
    shape.push_back(batch ? options.batch_size.value_or(1) : *d.size);
    if (i == 0 && !batch && options.batch_size && *options.batch_size != *d.size) {
      throw InputError(place, fmt::format("is for batches of {}, not {}; {}", *d.size, *options.batch_size,
                                          remedy(input, options.batch_size)));
    }
  }
  return shape;
}

/// Checks that the model has the inputs that an option names.
template <class Map>
void check_names(const Model& model, const char* option, const Map& by_name) {
  std::vector<std::string> names;
  for (const Declaration& input : model.inputs) names.push_back(input.name);
  for (const auto& [name, value] : by_name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw InputError(option,
                       fmt::format("the model has no input '{}'; it has {}", name, fmt::join(names, ", ")));
    }
  }
}

/// An input that the user pins is a constant of one number.
void pin(Lowering& net, const Declaration& input, double number) {
  Tensor tensor;
  tensor.type = input.type;
  tensor.type_name = input.type_name;
  tensor.shape = chosen_shape(input, net.options);
  if (element_count(tensor.shape) > kMostIntegers)
    throw InputError("`input_values`", fmt::format("'{}' is {}, which is more than {} elements", input.name,
                                                   shown(tensor.shape), kMostIntegers));
  const auto count = static_cast<std::size_t>(element_count(tensor.shape));
  if (input.type == Type::real) {
    tensor.fill = number;
    tensor.known = true;
    tensor.reals.assign(count, number);
  } else {
    if (number != std::floor(number) || std::fabs(number) > 0x1p53)
      throw InputError("`input_values`",
                       fmt::format("'{}' holds integers, and {} is none", input.name, number));
    tensor.known = true;
    tensor.integers.assign(count, static_cast<std::int64_t>(number));
  }
  const Role role = {false, "an input that --input-value pins"};
  net.operands[input.name] = Fixed{input.name, std::move(tensor), false, role};
}

/// Notes inputs that are planned for but that no sample has.
void note_unfed(Lowering& net, const std::vector<std::pair<std::string, Shape>>& fed) {
  for (const auto& [name, shape] : fed) {
    if (!shape.empty() && shape.front() == net.sizes.batch_size) continue;
    net.notices.add(
        fmt::format("the input '{}' {} does not have the batch as its first axis, so that a run "
                    "cannot feed it; --input-value {}=0 makes it a constant",
                    name, shown(shape), name));
  }
}

}  // namespace

void add_inputs(Lowering& net) {
  const ImportOptions& options = net.options;
  InputSizes& sizes = net.sizes;
  check_names(net.model, "`input_shapes`", options.input_shapes);
  check_names(net.model, "`input_values`", options.input_values);
  std::vector<std::pair<std::string, Shape>> fed_inputs;
  bool first = true;
  bool batch_is_used = false;
  bool is_read = false;
  for (const Declaration& input : net.model.inputs) {
    if (readers(net.uses, input.name).empty() && !net.uses.outputs.contains(input.name)) continue;
    if (const auto pinned = options.input_values.find(input.name); pinned != options.input_values.end()) {
      pin(net, input, pinned->second);
      continue;
    }
    const Shape shape = chosen_shape(input, options);
    is_read = true;
    fed_inputs.emplace_back(input.name, shape);
    // Any axis counts, since sequences may have the batch second.
    batch_is_used = batch_is_used || !options.batch_size || !options.input_shapes.contains(input.name) ||
                    std::find(shape.begin(), shape.end(), *options.batch_size) != shape.end();
    if (input.type == Type::other) {
      throw InputError(fmt::format("input '{}'", input.name),
                       fmt::format("is of type {}; poet feeds float32, int32 and booleans", input.type_name));
    }
    if (input.type == Type::real && input.type_name != "float") {
      net.notices.add(fmt::format("{} inputs are taken as float32", input.type_name));
    }
    if (input.type == Type::integer && input.type_name != "int32") {
      net.notices.add(fmt::format("{} inputs are fed as int32", input.type_name));
    }
    if (input.shape) {
      for (std::size_t i = 0; i < shape.size(); ++i) {
        const Dimension& d = (*input.shape)[i];
        if (!d.size && !d.symbol.empty()) sizes.symbols.emplace(d.symbol, shape[i]);
      }
    }
    const ValueId fed = net.builder.input(input.name, shape, dtype_of(input.type));
    net.operands[input.name] = runtime_of(net.builder, fed);
    if (!first || shape.empty()) continue;
    first = false;
    sizes.batch_size = shape.front();
    if (!input.shape || input.shape->empty() || !input.shape->front().size) continue;
    const std::int64_t in_file = *input.shape->front().size;
    if (in_file != sizes.batch_size && options.loss == Loss::none)
      net.notices.add(
          fmt::format("the file is for batches of {}: a loss that divides by that number is no mean over {} "
                      "samples; export with dynamic_shapes",
                      in_file, sizes.batch_size));
    if (in_file != sizes.batch_size && sizes.batch_size % in_file == 0)
      sizes.rescaled_batch = {sizes.batch_size / in_file, in_file};
  }
  note_unfed(net, fed_inputs);
  if (is_read && !batch_is_used) {
    throw InputError("`batch_size`",
                     fmt::format("{} is no size of any input: `input_shapes` sets them all; leave "
                                 "one of the two out",
                                 *options.batch_size));
  }
}

std::optional<Tensor> declared(const Model& model, const InputSizes& sizes, const std::string& result) {
  const auto found = model.declared.find(result);
  if (found == model.declared.end() || !found->second.shape) return std::nullopt;
  Tensor tensor;
  tensor.type = found->second.type;
  tensor.type_name = found->second.type_name;
  for (const Dimension& d : *found->second.shape) {
    const auto symbol = sizes.symbols.find(d.symbol);
    if (!d.size && symbol == sizes.symbols.end()) return std::nullopt;
    tensor.shape.push_back(d.size ? *d.size : symbol->second);
  }
  if (sizes.rescaled_batch && !tensor.shape.empty() &&
      found->second.shape->front().size == sizes.rescaled_batch->in_file)
    tensor.shape.front() *= sizes.rescaled_batch->times;
  return tensor;
}

}  // namespace poet::onnx
