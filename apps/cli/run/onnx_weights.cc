#include "apps/cli/run/onnx_weights.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "apps/shared/errors.h"
#include "apps/shared/training/session.h"
#include "poet/base/error.h"
#include "poet/frontend/onnx/weights.h"
#include "poet/graph/parts.h"
#include "poet/runtime/training/checkpoint.h"

namespace poet::cli {
namespace {

// Contents travel in pieces, so that neither side holds them twice.
constexpr std::size_t kPiece = std::size_t{1} << 20U;

/// For each persistent value in order: "" where it is not known, else its bytes in pieces.
int deliver(const OnnxNetwork& network, const Graph& graph, Parent& parent) {
  const OnnxWeights weights(network.file, network.import());
  if (network.is_chosen) check_any(weights, graph, network.file);
  std::vector<std::byte> contents;
  for (const ValueId v : runtime::persistent_values(graph)) {
    if (!read_weight(weights, at_home(graph.values[v]), contents)) contents.clear();
    std::string_view left(reinterpret_cast<const char*>(contents.data()), contents.size());
    do {
      parent.send(left.substr(0, kPiece));
      left.remove_prefix(std::min(left.size(), kPiece));
    } while (!left.empty());
  }
  return 0;
}

/// Ends as the process did if it failed: what went wrong there was said there.
void check(Forked& process, const std::string& what) {
  const int code = process.wait(what);
  if (code != 0) throw SaidElsewhere{code};
}

OnnxNetwork for_weights(const std::filesystem::path& file, const Instance& instance, bool is_chosen) {
  return {file,
          [file, batch_size = instance.batch_size, parameters = parameter_names(instance.graph)] {
            return import_for_weights(file, batch_size, parameters);
          },
          is_chosen};
}

}  // namespace

std::optional<OnnxNetwork> onnx_source(const RunChoice& training, const std::optional<OnnxNetwork>& network,
                                       const Instance& instance) {
  if (training.trainer.resume) return std::nullopt;
  if (!training.weights) return network;
  if (!is_onnx(*training.weights)) return network;  // what safetensors lack
  return for_weights(*training.weights, instance, true);
}

std::optional<OnnxNetwork> origin_of(const Instance& instance, const RunChoice& choice,
                                     const std::optional<OnnxNetwork>& named, bool exports) {
  const Graph& training = instance.graph;
  std::optional<OnnxNetwork> candidate = named;
  if (!candidate && choice.weights && is_onnx(*choice.weights))
    candidate = for_weights(*choice.weights, instance, false);
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

void export_weights(const runtime::Trainer& trainer, const std::optional<OnnxNetwork>& network,
                    const std::filesystem::path& file) {
  Forked writer([&](Parent&) {
    write_trained_onnx(trainer, network, file);
    return 0;
  });
  check(writer, "what writes " + file.string());
}

}  // namespace poet::cli
