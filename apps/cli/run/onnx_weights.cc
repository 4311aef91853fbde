#include "apps/cli/run/onnx_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

#include "apps/shared/errors.h"
#include "apps/shared/training/session.h"
#include "poet/autodiff/forward_part.h"
#include "poet/base/error.h"
#include "poet/frontend/onnx/export.h"
#include "poet/frontend/onnx/weights.h"
#include "poet/graph/parts.h"
#include "poet/runtime/training/checkpoint.h"
#include "poet/split/indexed.h"

namespace poet::cli {
namespace {

using Contents = std::vector<std::byte>;

/// Reads a value's contents, and says whether the file has them.
bool read(const OnnxWeights& weights, const Value& value, Contents& contents) {
  contents.resize(static_cast<std::size_t>(value.bytes.value()));
  return weights.read(value, contents.data());
}

void check_any(const OnnxWeights& weights, const Graph& graph, const std::filesystem::path& file) {
  Contents contents;
  for (const ValueId v : runtime::persistent_values(graph))
    if (read(weights, at_home(graph.values[v]), contents)) return;
  throw InputError(file.string(), "holds no tensor with the name of one of the network's parameters");
}

// Contents travel in pieces, so that neither side holds them twice.
constexpr std::size_t kPiece = std::size_t{1} << 20U;

/// For each persistent value in order: "" where it is not known, else its bytes in pieces.
int deliver(const OnnxNetwork& network, const Graph& graph, Parent& parent) {
  const OnnxWeights weights(network.file, network.import());
  if (network.is_chosen) check_any(weights, graph, network.file);
  Contents contents;
  for (const ValueId v : runtime::persistent_values(graph)) {
    if (!read(weights, at_home(graph.values[v]), contents)) contents.clear();
    std::string_view left(reinterpret_cast<const char*>(contents.data()), contents.size());
    do {
      parent.send(left.substr(0, kPiece));
      left.remove_prefix(std::min(left.size(), kPiece));
    } while (!left.empty());
  }
  return 0;
}

/// Shapes of parameters by name.
std::map<std::string, Shape> parameters_of(const Graph& graph) {
  std::map<std::string, Shape> shapes;
  for (const Value& stored : graph.values) {
    if (stored.persistence != Persistence::parameter || stored.alias_of.valid()) continue;
    const Value value = at_home(stored);
    shapes.emplace(tensor_name(value), tensor_shape(value));
  }
  return shapes;
}

/// Why a graph was not made of this import: a parameter that only one of them has. Empty if it may have been.
std::string other_parameter(const Graph& imported, const Graph& training) {
  const std::map<std::string, Shape> ours = parameters_of(training);
  const std::map<std::string, Shape> theirs = parameters_of(imported);
  for (const auto& [name, shape] : ours)
    if (const auto found = theirs.find(name); found == theirs.end() || found->second != shape)
      return fmt::format("is not the file that the plan was made for: the plan has a parameter '{}'", name);
  for (const auto& [name, shape] : theirs)
    if (!ours.contains(name))
      return fmt::format("is not the file that the plan was made for: only the file has a parameter '{}'",
                         name);
  return "";
}

/// Ends as the process did if it failed: what went wrong there was said there.
void check(Forked& process, const std::string& what) {
  const int code = process.wait(what);
  if (code != 0) throw SaidElsewhere{code};
}

}  // namespace

std::optional<OnnxNetwork> onnx_source(const RunChoice& training, const std::optional<OnnxNetwork>& network) {
  if (training.trainer.resume) return std::nullopt;
  if (!training.weights) return network;
  if (!is_onnx(*training.weights)) return network;  // what safetensors lack
  return OnnxNetwork{*training.weights, [file = *training.weights] { return import_onnx(file); }, true};
}

std::optional<OnnxNetwork> origin_of(const Graph& training, const RunChoice& choice,
                                     const std::optional<OnnxNetwork>& named, bool exports) {
  std::optional<OnnxNetwork> candidate = named;
  if (!candidate && choice.weights && is_onnx(*choice.weights))
    candidate = OnnxNetwork{*choice.weights, [file = *choice.weights] { return import_onnx(file); }};
  if (!candidate) {
    if (exports) check_exportable(training, {});
    return std::nullopt;
  }
  constexpr const char* kSame = "same";
  Forked looker([&](Parent& parent) {
    const std::string other = other_parameter(candidate->import().forward, training);
    if (named && !other.empty()) throw InputError(named->file.string(), other);
    if (exports) check_exportable(training, other.empty() ? candidate : std::nullopt);
    if (other.empty()) parent.send(kSame);
    return 0;
  });
  const bool same = looker.receive() == kSame;
  check(looker, "what reads the ONNX file");
  return same ? candidate : std::nullopt;
}

OnnxWeightsApart::OnnxWeightsApart(const Graph& graph, const OnnxNetwork& network)
    : values_(graph.values), reader_([&](Parent& parent) { return deliver(network, graph, parent); }) {}

runtime::WeightSource OnnxWeightsApart::source() {
  return [this](ValueId v, std::byte* to) {
    auto left = static_cast<std::size_t>(at_home(values_[v]).bytes.value());
    do {
      const std::optional<std::string> piece = reader_.receive();
      if (!piece) check(reader_, "what reads the ONNX file's weights");
      if (!piece || piece->empty()) return false;
      std::memcpy(to, piece->data(), piece->size());
      to += piece->size();
      left -= piece->size();
    } while (left > 0);
    return true;
  };
}

void check_run(const Graph& graph, const RunChoice& training, const std::optional<OnnxNetwork>& source) {
  check_steps(training);
  runtime::TrainerOptions options = training.trainer;
  std::optional<OnnxWeights> weights;
  if (source) {
    weights.emplace(source->file, source->import());
    if (source->is_chosen) check_any(*weights, graph, source->file);
    options.weights = [&](ValueId v, std::byte* to) { return weights->read(at_home(graph.values[v]), to); };
    options.weights_origin = source->file;
  }
  runtime::check_trainable(graph, options);
}

void check_exportable(const Graph& training, const std::optional<OnnxNetwork>& network) {
  const WeightLookup zeros = [](const Value& value, std::byte* to) {
    std::fill_n(to, value.bytes.value(), std::byte{0});
    return true;
  };
  if (network)
    static_cast<void>(onnx_model_with_weights(network->file, network->import(), zeros));
  else
    static_cast<void>(onnx_model_of(forward_part(without_indexed(training)), zeros));
}

void export_weights(const runtime::Trainer& trainer, const std::optional<OnnxNetwork>& network,
                    const std::filesystem::path& file) {
  const Graph& training = trainer.file().instance.graph;
  std::map<std::string, Tensor> trained;
  for (Tensor& tensor : persistent_tensors(training)) trained[tensor.name] = std::move(tensor);
  const WeightLookup lookup = [&](const Value& value, std::byte* to) {
    const auto found = trained.find(value.name);
    if (found == trained.end()) return false;
    const std::int64_t size = size_of(value.dtype).value();
    for (const ValueId v : found->second.values) {
      for_each_run_of_part(at_home(training.values[v]),
                           [&](std::int64_t first, std::int64_t at, std::int64_t count) {
                             std::copy_n(trainer.persistent(v) + at * size, count * size, to + first * size);
                           });
    }
    return true;
  };
  Forked writer([&](Parent&) {
    if (network)
      write_onnx_with_weights(network->file, network->import(), file, lookup);
    else
      write_onnx(file, forward_part(without_indexed(training)), lookup);
    return 0;
  });
  check(writer, "what writes " + file.string());
}

}  // namespace poet::cli
