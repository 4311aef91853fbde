#include "python/src/weights.h"

#include <fmt/format.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "poet/base/error.h"
#include "poet/base/nearest.h"
#include "poet/graph/parts.h"
#include "poet/weights/convert.h"
#include "python/src/problem.h"

namespace poet::python {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBatches = "num_batches_tracked";  // of PyTorch's batch normalisation: not used

std::vector<std::string> names_of(const Graph& training, bool parameters_only) {
  std::vector<std::string> names;
  for (const Tensor& tensor : persistent_tensors(training)) {
    const Value& value = training.values[tensor.values.front()];
    if (!parameters_only || value.persistence == Persistence::parameter) names.push_back(tensor.name);
  }
  return names;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// "weight.velocity" of a parameter "weight": the state of another optimiser than the plan's.
bool is_state_of(const std::vector<std::string>& parameters, const std::string& name) {
  return contains(parameters, std::string_view(name).substr(0, name.rfind('.')));
}

/// Names of wrapped modules have a prefix: "module.weight" of DataParallel is "weight" of the network.
std::string suggestion(const std::string& name, const std::vector<std::string>& known) {
  for (const std::string& other : known)
    if (name.ends_with("." + other) || other.ends_with("." + name)) return "; did you mean " + other + "?";
  return did_you_mean(name, known);
}

std::string and_more(std::size_t count) {
  return count > 1 ? fmt::format(" (and {} more)", count - 1) : std::string();
}

py::dict convert(const py::kwargs& given) {
  Arguments arguments(given);
  WeightConversion asked;
  asked.from = arguments.take<std::string>("file").value_or("");
  asked.out = arguments.take<std::string>("out").value_or("");
  asked.onnx = arguments.take<std::string>("onnx");
  asked.model = arguments.take<std::string>("model");
  arguments.finish();
  ConvertedWeights done;
  {
    const py::gil_scoped_release unlocked;
    done = convert_weights(asked);
  }
  py::dict answer;
  answer["file"] = asked.out;
  answer["tensors"] = done.tensors;
  answer["bytes"] = done.bytes.value();
  answer["notices"] = done.notices;
  return answer;
}

}  // namespace

std::optional<OnnxNetwork> take_onnx_network(Arguments& arguments, const Instance& instance) {
  const auto file = arguments.take<fs::path>("onnx");
  if (!file) return std::nullopt;
  const OnnxFile onnx = take_onnx(arguments, *file);
  ImportOptions options = onnx.reading;
  options.trained = parameter_names(instance.graph);
  const std::int64_t batch = arguments.count("batch_size").value_or(instance.batch_size);
  const bool is_chosen = arguments.flag("onnx_is_weights", false);
  return OnnxNetwork{*file, [file = *file, options, batch] { return import_at_batch(file, options, batch); },
                     is_chosen};
}

void check_names(const fs::path& file, const Graph& training, bool has_rest) {
  const runtime::SafetensorsFile opened(file);
  const std::vector<std::string> known = names_of(training, false);
  const std::vector<std::string> parameters = names_of(training, true);
  std::vector<std::string> unknown, missing;
  for (const std::string& name : opened.names())
    if (!contains(known, name) && !name.ends_with(kBatches) && !is_state_of(parameters, name))
      unknown.push_back(name);
  for (const std::string& name : parameters)
    if (!opened.has(name)) missing.push_back(name);
  if (!unknown.empty()) {
    const std::vector<std::string>& wanted = missing.empty() ? known : missing;
    throw InputError(
        file.string(),
        fmt::format("'{}'{} is no tensor of the network{}; strict=False ignores such tensors",
                    unknown.front(), and_more(unknown.size()), suggestion(unknown.front(), wanted)));
  }
  if (!missing.empty() && !has_rest)
    throw InputError(file.string(),
                     fmt::format("lacks '{}'{}, a parameter of the network; strict=False begins such "
                                 "parameters at random, by `seed`",
                                 missing.front(), and_more(missing.size())));
}

OnnxStart::OnnxStart(const OnnxNetwork& network, const Graph& training, bool strict,
                     const std::optional<fs::path>& first)
    : training_(training) {
  const ImportedModel imported = network.import();
  const std::string other = other_parameter(imported.forward, training);
  if (!other.empty() && (strict || !network.is_chosen)) throw InputError(network.file.string(), other);
  weights_ = std::make_unique<OnnxWeights>(network.file, imported);
  if (network.is_chosen) check_any(*weights_, training, network.file);
  if (first) first_ = std::make_unique<runtime::SafetensorsFile>(*first);
}

runtime::WeightSource OnnxStart::source() const {
  return [this](ValueId v, std::byte* to) {
    const Value value = at_home(training_.values[v]);
    if (first_ && first_->has(tensor_name(value))) return false;
    return weights_->read(value, to);
  };
}

void add_weights(py::module_& module) { module.def("convert_weights", &convert); }

}  // namespace poet::python
