// One stream of token ids. Sample i is the tokens from i S on, and its targets are the tokens that come next.

#include <fmt/format.h>

#include <string>
#include <utility>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/runtime/data/defaults.h"
#include "poet/runtime/data/formats.h"
#include "poet/runtime/data/integers.h"

namespace poet::runtime {
namespace {

namespace fs = std::filesystem;

bool is_target(const DataInput& input) { return input.role == InputRole::class_targets; }
bool is_tokens(const DataInput& input) { return input.role == InputRole::tokens; }

/// The tokens of a sequence.
std::int64_t sequence_length(const DataFile& file, const Inputs& inputs) {
  std::int64_t length = 0;
  for (const DataInput& input : inputs) {
    if (!is_tokens(input) && !is_target(input) && !has_default(input))
      file.fail(fmt::format("is a text, which has nothing for the input '{}'", input.name));
    if (has_default(input)) {
      check_default(input);
    } else if (length != 0 && element_count(input.sample) != length) {
      file.fail(
          fmt::format("is a text, for networks with a target per token; '{}' has {} per sample, other "
                      "inputs have {}",
                      input.name, element_count(input.sample), length));
    } else {
      length = element_count(input.sample);
    }
  }
  if (length == 0) file.fail("is a text, but the network reads no tokens");
  return length;
}

class TextDataset : public Dataset {
 public:
  TextDataset(DataFile file, Stored stored, const Inputs& inputs)
      : file_(std::move(file)),
        stored_(stored),
        inputs_(inputs),
        length_(sequence_length(file_, inputs)),
        samples_((file_.size() / bytes_of(stored) - 1) / length_) {
    if (file_.size() % bytes_of(stored_) != 0)
      file_.fail(fmt::format("must be ids of {} bytes, but has {} bytes", bytes_of(stored_), file_.size()));
    if (samples_ < 1) {
      file_.fail(fmt::format("has {} tokens, but one sequence and what comes after it are {}",
                             file_.size() / bytes_of(stored_), length_ + 1));
    }
  }

  [[nodiscard]] std::int64_t samples() const override { return samples_; }

  void read(std::size_t input, std::span<const std::int64_t> samples, std::byte* to) const override {
    const DataInput& into = inputs_.at(input);
    for (const std::int64_t sample : samples) {
      if (has_default(into)) {
        write_default(into, to);
      } else {
        const std::int64_t token = sample * length_ + (is_target(into) ? 1 : 0);
        read_integers(file_, stored_, token * bytes_of(stored_), length_, into, sample, to);
      }
      to += byte_count(into.sample, into.dtype).value();
    }
  }

  [[nodiscard]] std::string description() const override {
    return fmt::format("a text of {} tokens, {} of {}", format_count(file_.size() / bytes_of(stored_)),
                       counted(samples_, "sequence"), length_);
  }

 private:
  DataFile file_;
  Stored stored_;
  Inputs inputs_;
  std::int64_t length_;
  std::int64_t samples_;
};

}  // namespace

bool is_text(const fs::path& path) {
  return fs::is_regular_file(path) && (path.extension() == ".u16" || path.extension() == ".i32");
}

std::unique_ptr<Dataset> open_text(const fs::path& path, const Inputs& inputs) {
  const Stored stored = path.extension() == ".u16" ? Stored::uint16 : Stored::int32;
  return std::make_unique<TextDataset>(DataFile(path), stored, inputs);
}

}  // namespace poet::runtime
