// poet weights: weights out of an ONNX file as safetensors, and back into one, without training.

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "apps/cli/command.h"
#include "apps/shared/output.h"
#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/weights/convert.h"

namespace poet::cli {
namespace {

class Weights final : public Command {
 public:
  explicit Weights(CommandLine& program)
      : Command(program.command("weights", "convert weights: an ONNX file's to safetensors, or into one")) {
    parser_.option("FILE", from_, "weights: an ONNX file, or safetensors (a checkpoint is one)", "")
        .required();
    parser_.option("-o,--out", out_, "what to write: .safetensors, or .onnx of safetensors",
                   "FILE.safetensors|FILE.onnx");
    parser_.option("--onnx", onnx_, "the network that safetensors go into: all but its weights stays",
                   "FILE.onnx");
    parser_.option("--model", model_, "or a built-in network (poet models lists them)", "NAME");
    parser_.flag("--json", json_, "one JSON object instead of text");
    parser_.footer(
        "Examples:\n"
        "  poet weights net.onnx -o net.safetensors\n"
        "  poet weights trained.safetensors --onnx net.onnx -o trained.onnx\n"
        "\nExit code: 0 written, 2 bad input, 3 internal error.");
  }

  int run() override {
    if (!out_) throw InputError("-o", "is needed: the file to write");
    check_writable("-o", *out_);
    print(convert_weights({from_, *out_, onnx_, model_}));
    return kAnswer;
  }

 private:
  void print(const ConvertedWeights& done) const {
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
