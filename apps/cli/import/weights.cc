// poet weights: weights out of an ONNX file as safetensors, and back into one, without training.

#include <fmt/format.h>

#include <cstddef>
#include <deque>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/command.h"
#include "apps/shared/output.h"
#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/frontend/onnx/export.h"
#include "poet/frontend/onnx/weights.h"
#include "poet/frontend/zoo.h"
#include "poet/runtime/data/numbers.h"
#include "poet/runtime/weights/safetensors.h"

namespace poet::cli {
namespace {

namespace fs = std::filesystem;

/// The loss decides nothing about weights; this one fits any output.
ImportedModel import_for_weights(const std::string& file) {
  ImportOptions options;
  options.loss = Loss::mean_squared_error;
  return import_onnx(file, options);
}

/// What has contents of its own.
std::vector<Value> values_with_weights(const Graph& forward) {
  std::vector<Value> values;
  for (const Value& value : forward.values)
    if (is_persistent(value.persistence) && !value.alias_of.valid()) values.push_back(value);
  return values;
}

struct Converted {
  std::int64_t tensors = 0;
  Bytes bytes{};
  std::vector<std::string> notices;

  void add(const Value& value) {
    ++tensors;
    bytes += value.bytes;
  }
};

Converted onnx_to_safetensors(const std::string& from, const std::string& to) {
  const ImportedModel model = import_for_weights(from);
  const OnnxWeights weights(from, model);
  Converted done;
  done.notices = model.notices;
  std::deque<std::vector<std::byte>> contents;
  std::deque<Value> values;
  std::vector<runtime::TensorEntry> tensors;
  for (const Value& value : values_with_weights(model.forward)) {
    contents.emplace_back(static_cast<std::size_t>(value.bytes.value()));
    if (!weights.read(value, contents.back().data())) continue;
    tensors.push_back({value.name,
                       value.dtype,
                       shape_in_file(value),
                       nullptr,
                       {{&values.emplace_back(value), contents.back().data()}}});
    done.add(value);
  }
  if (tensors.empty()) throw InputError(from, "holds no weights");
  runtime::write_safetensors(to, tensors, {});
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
        done_.add(value);
      } else if (complete || value.persistence == Persistence::parameter) {
        throw InputError(file, fmt::format("has no tensor \"{}\", which the network has", value.name));
      }
    }
    const std::int64_t left = static_cast<std::int64_t>(file_.names().size()) - done_.tensors;
    if (const std::string widened = file_.widened(); !widened.empty()) done_.notices.push_back(widened);
    if (left > 0)
      done_.notices.push_back(
          fmt::format("{} of the file's tensors {} none of the network's", left, left == 1 ? "is" : "are"));
  }

  /// After what lookup() gave was asked for all.
  [[nodiscard]] Converted finished() {
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

  Converted done_;
  runtime::SafetensorsFile file_;
  std::int64_t not_finite_ = 0;  // tensors
  std::string first_not_finite_;
};

class Weights final : public Command {
 public:
  explicit Weights(CommandLine& program)
      : Command(program.command("weights",
                                "convert weights from an ONNX file to safetensors, or into an ONNX file")) {
    parser_.option("FILE", from_, "weights: an ONNX file or safetensors (such as a checkpoint)", "")
        .required();
    parser_.option("-o,--out", out_, "output file: .safetensors, or, from safetensors, .onnx",
                   "FILE.safetensors|FILE.onnx");
    parser_.option("--onnx", onnx_, "ONNX file whose weights are replaced; the rest of it is unchanged",
                   "FILE.onnx");
    parser_.option("--model", model_,
                   "built-in network that the weights are for (poet models lists them); instead of --onnx",
                   "NAME");
    parser_.flag("--json", json_, "print one JSON object instead of text");
    parser_.footer(
        "Examples:\n"
        "  poet weights net.onnx -o net.safetensors\n"
        "  poet weights trained.safetensors --onnx net.onnx -o trained.onnx\n"
        "\nExit code: 0 written, 2 bad input, 3 internal error.");
  }

  int run() override {
    if (!out_) throw InputError("-o", "is needed: the file to write");
    check_writable("-o", *out_);
    const bool is_from_onnx = fs::path(from_).extension() == ".onnx";
    if (!is_from_onnx) check_safetensors();
    const bool is_to_onnx = fs::path(*out_).extension() == ".onnx";
    if (!is_to_onnx && fs::path(*out_).extension() != ".safetensors")
      throw InputError("-o", "\"" + *out_ + "\" must end in .safetensors or .onnx");
    if (is_from_onnx == is_to_onnx)
      throw InputError("-o", is_from_onnx ? "weights of an ONNX file go into a .safetensors file"
                                          : "weights in safetensors go into an .onnx file");
    std::error_code ignored;
    if (fs::equivalent(from_, *out_, ignored))
      throw InputError("-o", "must be another file than the one that is read");
    print(is_from_onnx ? from_onnx() : into_onnx());
    return kAnswer;
  }

 private:
  /// Before anything is said of where they go: what is not called .onnx is to be safetensors.
  void check_safetensors() const {
    try {
      const runtime::SafetensorsFile opened(from_);
    } catch (const InputError& error) {
      throw InputError(std::string(error.place()), std::string(error.rule()),
                       "weights come from safetensors, or from a file called .onnx");
    }
  }

  Converted from_onnx() const {
    if (onnx_ || model_)
      throw InputError(onnx_ ? "--onnx" : "--model", "is what safetensors go into; an ONNX file has its own");
    return onnx_to_safetensors(from_, *out_);
  }

  Converted into_onnx() const {
    if (onnx_ && model_) throw InputError("--model", "cannot be combined with --onnx: each names a network");
    if (!onnx_ && !model_) throw InputError("--onnx", "is needed, or --model: the network of the weights");
    if (model_) {
      const Graph forward = build_network(*model_);
      Replacement weights(from_, forward, true);
      write_onnx(*out_, forward, weights.lookup());
      return weights.finished();
    }
    const ImportedModel model = import_for_weights(*onnx_);
    Replacement weights(from_, model.forward, false);
    write_onnx_with_weights(*onnx_, model, *out_, weights.lookup());
    return weights.finished();
  }

  void print(const Converted& done) const {
    if (json_) {
      print_answer(nlohmann::ordered_json{{"file", *out_},
                                          {"tensors", done.tensors},
                                          {"bytes", done.bytes.value()},
                                          {"notices", done.notices}});
      return;
    }
    std::string text = fmt::format("{:<14}{} tensors, {}, in {}\n", "Weights", format_count(done.tensors),
                                   format_bytes(done.bytes), *out_);
    for (const std::string& notice : done.notices) text += fmt::format("{:<14}{}\n", "Note", notice);
    print_text(text);
  }

  std::string from_;
  std::optional<std::string> out_, onnx_, model_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_weights(CommandLine& program) { return std::make_unique<Weights>(program); }

}  // namespace poet::cli
