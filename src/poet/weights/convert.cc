#include "poet/weights/convert.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <set>
#include <utility>

#include "poet/base/error.h"
#include "poet/frontend/onnx/export.h"
#include "poet/frontend/onnx/import.h"
#include "poet/frontend/onnx/weights.h"
#include "poet/frontend/zoo.h"
#include "poet/runtime/data/numbers.h"
#include "poet/runtime/weights/safetensors.h"
#include "poet/weights/onnx_network.h"

namespace poet {
namespace {

namespace fs = std::filesystem;

// Batch normalisation of a single sample has no variance.
constexpr std::int64_t kBatch = 2;

/// What has contents of its own.
std::vector<Value> values_with_weights(const Graph& forward) {
  std::vector<Value> values;
  for (const Value& value : forward.values)
    if (is_persistent(value.persistence) && !value.alias_of.valid()) values.push_back(value);
  return values;
}

void add(ConvertedWeights& done, const Value& value) {
  ++done.tensors;
  done.bytes += value.bytes;
}

ConvertedWeights onnx_to_safetensors(const std::string& from, const std::string& to) {
  const ImportedModel model = import_for_weights(from, kBatch, {});
  const OnnxWeights weights(from, model);
  ConvertedWeights done;
  done.notices = model.notices;
  std::deque<std::vector<std::byte>> contents;
  std::deque<Value> values;
  std::vector<runtime::TensorEntry> tensors;
  for (const Value& value : values_with_weights(model.forward)) {
    contents.emplace_back(static_cast<std::size_t>(value.bytes.value()));
    if (!weights.read(value, contents.back().data())) {
      contents.pop_back();
      continue;
    }
    tensors.push_back({value.name,
                       value.dtype,
                       shape_in_file(value),
                       nullptr,
                       {{&values.emplace_back(value), contents.back().data()}}});
    add(done, value);
  }
  if (tensors.empty()) throw InputError(from, "holds no weights");
  runtime::write_safetensors(to, tensors, {{runtime::kWeightsFormatKey, runtime::kWeightsFormat}});
  return done;
}

/// Of a network the values in a safetensors file, which has all that are needed: all is read before anything
/// is written.
class Replacement {
 public:
  /// `complete`: nothing may be missing, as there is no file that has the rest.
  Replacement(const std::string& file, const Graph& forward, bool complete) : file_(file) {
    for (const Value& value : values_with_weights(forward)) {
      if (file_.has(value.name)) {
        file_.check(value);
        add(done_, value);
      } else if (complete || value.persistence == Persistence::parameter) {
        throw InputError(file, fmt::format("has no tensor \"{}\", which the network has", value.name));
      }
    }
    const std::int64_t left = static_cast<std::int64_t>(file_.names().size()) - done_.tensors;
    for (std::string& note : file_.notes()) done_.notices.push_back(std::move(note));
    if (left > 0)
      done_.notices.push_back(
          fmt::format("{} of the file's tensors {} none of the network's", left, left == 1 ? "is" : "are"));
  }

  /// After what lookup() gave was asked for all.
  [[nodiscard]] ConvertedWeights finished() {
    if (not_finite_ > 0)
      done_.notices.push_back(first_not_finite_ +
                              (not_finite_ == 1
                                   ? std::string()
                                   : fmt::format(", and {} more of the tensors have numbers that "
                                                 "are not finite",
                                                 not_finite_ - 1)));
    return std::move(done_);
  }

  [[nodiscard]] WeightLookup lookup() {
    return [this](const Value& value, std::byte* to) {
      if (!file_.has(value.name)) return false;
      file_.read(value, to);
      note_not_finite(value, to);
      return true;
    };
  }

 private:
  void note_not_finite(const Value& value, const std::byte* contents) {
    if (value.dtype != DType::float32 || value.persistence != Persistence::parameter) return;
    const std::string found =
        runtime::first_not_finite({contents, static_cast<std::size_t>(value.bytes.value())});
    if (found.empty()) return;
    if (++not_finite_ == 1) first_not_finite_ = fmt::format("'{}' has {}", value.name, found);
  }

  ConvertedWeights done_;
  runtime::SafetensorsFile file_;
  std::int64_t not_finite_ = 0;  // tensors
  std::string first_not_finite_;
};

/// Before anything is said of where they go: what is not called .onnx is to be safetensors.
void check_safetensors(const std::string& file) {
  try {
    const runtime::SafetensorsFile opened(file);
  } catch (const InputError& error) {
    throw InputError(std::string(error.place()), std::string(error.rule()),
                     "weights come from safetensors, or from a file called .onnx");
  }
}

/// Imports a network with those constants as parameters that have other numbers in a file of trained weights:
/// training may have been told to train them.
ImportedModel import_of_trained(const fs::path& onnx, const std::string& trained) {
  ImportedModel model = import_for_weights(onnx, kBatch, {});
  const OnnxWeights stored(onnx, model);
  const runtime::SafetensorsFile file(trained);
  std::set<std::string> changed;
  std::vector<std::byte> before, after;
  for (const Value& value : values_with_weights(model.forward)) {
    if (value.persistence == Persistence::parameter || value.dtype != DType::float32 || !file.has(value.name))
      continue;
    before.resize(static_cast<std::size_t>(value.bytes.value()));
    after.resize(before.size());
    file.read(value, after.data());
    if (stored.read(value, before.data()) && before != after) changed.insert(value.name);
  }
  return changed.empty() ? std::move(model) : import_for_weights(onnx, kBatch, changed);
}

ConvertedWeights into_onnx(const WeightConversion& asked) {
  if (asked.onnx && asked.model)
    throw InputError(Field{"model"}, "cannot be combined with `onnx`: each names a network");
  if (!asked.onnx && !asked.model)
    throw InputError(Field{"onnx"}, "is needed, or `model`: the network of the weights");
  if (asked.model) {
    const Graph forward = build_network(*asked.model);
    Replacement weights(asked.from, forward, true);
    write_onnx(asked.out, forward, weights.lookup());
    return weights.finished();
  }
  const ImportedModel model = import_of_trained(*asked.onnx, asked.from);
  Replacement weights(asked.from, model.forward, false);
  write_onnx_with_weights(*asked.onnx, model, asked.out, weights.lookup());
  return weights.finished();
}

}  // namespace

ConvertedWeights convert_weights(const WeightConversion& conversion) {
  const auto& [from, out, onnx, model] = conversion;
  const bool is_from_onnx = fs::path(from).extension() == ".onnx";
  if (!is_from_onnx) check_safetensors(from);
  const bool is_to_onnx = fs::path(out).extension() == ".onnx";
  if (!is_to_onnx && fs::path(out).extension() != ".safetensors")
    throw InputError(Field{"out"}, "\"" + out + "\" must end in .safetensors or .onnx");
  if (is_from_onnx == is_to_onnx)
    throw InputError(Field{"out"}, is_from_onnx ? "weights of an ONNX file go into a .safetensors file"
                                                : "weights in safetensors go into an .onnx file");
  std::error_code ignored;
  if (fs::equivalent(from, out, ignored))
    throw InputError(Field{"out"}, "must be another file than the one that is read");
  if (!is_from_onnx) return into_onnx(conversion);
  if (onnx || model)
    throw InputError(Field{onnx ? "onnx" : "model"}, "is what safetensors go into; an ONNX file has its own");
  return onnx_to_safetensors(from, out);
}

}  // namespace poet
