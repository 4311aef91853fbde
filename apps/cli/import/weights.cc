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
