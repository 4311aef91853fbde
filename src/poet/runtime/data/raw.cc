// One file per input of the graph, the samples one after another as the step holds them.

#include <fmt/format.h>

#include <cctype>
#include <optional>
#include <string>
#include <utility>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/runtime/data/defaults.h"
#include "poet/runtime/data/formats.h"
#include "poet/runtime/data/integers.h"
#include "poet/runtime/data/numbers.h"

namespace poet::runtime {

std::string file_name(const DataInput& input) {
  std::string name;
  for (const char c : input.name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
    name += plain ? c : '_';
  }
  return name;
}

namespace {

namespace fs = std::filesystem;

struct RawInput {
  DataInput input;
  std::optional<DataFile> file;   // none: what defaults.h says
  Stored stored = Stored::int32;  // of integers
  std::int64_t sample_bytes = 0;  // in the file
};

std::string ending(Stored stored) {
  return stored == Stored::uint8 ? ".u8" : stored == Stored::uint16 ? ".u16" : ".bin";
}

/// The file of an input and how it holds integers; nothing where there is none.
std::optional<std::pair<fs::path, Stored>> find(const fs::path& folder, const DataInput& input) {
  for (const Stored stored : {Stored::int32, Stored::uint16, Stored::uint8}) {
    if (stored != Stored::int32 && input.dtype != DType::int32) continue;
    fs::path file = folder / (file_name(input) + ending(stored));
    if (fs::exists(file)) return std::pair{std::move(file), stored};
  }
  return std::nullopt;
}

/// What integers have to be, for messages.
std::string types_of(const RawInput& raw) {
  if (raw.input.dtype != DType::int32) return "";
  if (raw.stored != Stored::int32) return raw.stored == Stored::uint8 ? " (uint8)" : " (uint16)";
  const std::string name = file_name(raw.input);
  return fmt::format(" (int32; uint8 in {}.u8, uint16 in {}.u16)", name, name);
}

/// How many targets a sample has and where that comes from, for messages; empty for one target per sample.
std::string targets_of(const DataInput& input) {
  const std::int64_t count = element_count(input.sample);
  if (input.role != InputRole::class_targets || count == 1) return "";
  return fmt::format(
      "; a sample has {} targets of {} classes, which lie along the output's last axis, or along axis "
      "1 of a convolution's output",
      count, input.range);
}

/// The first input is data; `is_later` ones need not be.
RawInput open_input(const fs::path& folder, const DataInput& input, bool is_later) {
  RawInput raw{input, std::nullopt};
  const auto found = find(folder, input);
  if (!found && has_default(input)) {
    check_default(input);
    return raw;
  }
  if (!found) {
    const bool may_be_state = is_later && input.role == InputRole::features;
    throw InputError(
        (folder / (file_name(input) + ".bin")).string(),
        fmt::format("is missing: the data of the input '{}', {} per sample{}", input.name,
                    counted(element_count(input.sample), "element"),
                    may_be_state
                        ? fmt::format("; `input_values` {}=0 makes zeros of what is no data", input.name)
                        : ""));
  }
  raw.file.emplace(found->first);
  raw.stored = found->second;
  raw.sample_bytes = input.dtype == DType::int32 ? element_count(input.sample) * bytes_of(raw.stored)
                                                 : byte_count(input.sample, input.dtype).value();
  if (raw.file->size() == 0 || raw.file->size() % raw.sample_bytes != 0) {
    raw.file->fail(fmt::format("must be samples of {} bytes{}, but has {} bytes{}", raw.sample_bytes,
                               types_of(raw), raw.file->size(), targets_of(raw.input)));
  }
  return raw;
}

/// Of an input that has another number of samples than those before it.
[[noreturn]] void fail_number(const RawInput& raw, std::int64_t samples, const std::string& first,
                              std::int64_t expected) {
  const bool is_twice = samples == 2 * expected;
  const bool may_be_int64 = raw.input.dtype == DType::int32 && raw.stored == Stored::int32 && is_twice;
  const bool may_be_float64 = raw.input.dtype == DType::float32 && is_twice;
  const bool first_may_be_wide = expected == 2 * samples;
  raw.file->fail(fmt::format("has {}{}, but {} has {}{}", counted(samples, "sample"), types_of(raw), first,
                             expected,
                             may_be_int64        ? ": int64 must be made int32"
                             : may_be_float64    ? ": float64 must be made float32"
                             : first_may_be_wide ? ", twice as many: elements of 64 bits must be made 32"
                                                 : targets_of(raw.input)));
}

void check_targets(const RawInput& raw, std::int64_t sample, std::span<const std::byte> numbers) {
  if (raw.input.role != InputRole::number_targets) return;
  if (const std::string rule = broken_rule(raw.input, sample, numbers); !rule.empty()) raw.file->fail(rule);
}

class RawDataset : public Dataset {
 public:
  RawDataset(const fs::path& folder, const Inputs& inputs) {
    for (const DataInput& input : inputs) {
      const RawInput& raw = inputs_.emplace_back(open_input(folder, input, !first_.empty()));
      if (!raw.file) continue;
      const std::int64_t samples = raw.file->size() / raw.sample_bytes;
      if (samples_ != 0 && samples != samples_) fail_number(raw, samples, first_, samples_);
      samples_ = samples;
      if (first_.empty()) first_ = raw.file->name();
    }
  }

  [[nodiscard]] std::int64_t samples() const override { return samples_; }

  void read(std::size_t input, std::span<const std::int64_t> samples, std::byte* to) const override {
    const RawInput& raw = inputs_.at(input);
    const auto size = static_cast<std::size_t>(byte_count(raw.input.sample, raw.input.dtype).value());
    for (const std::int64_t sample : samples) {
      const std::int64_t offset = sample * raw.sample_bytes;
      if (!raw.file) {
        write_default(raw.input, to);
      } else if (raw.input.dtype == DType::int32) {
        read_integers(*raw.file, raw.stored, offset, element_count(raw.input.sample), raw.input, sample, to);
      } else {
        raw.file->read(offset, {to, size});
        check_targets(raw, sample, {to, size});
      }
      to += size;
    }
  }

  [[nodiscard]] std::string description() const override {
    std::string files;
    for (const RawInput& raw : inputs_) {
      if (raw.file) files += (files.empty() ? "" : ", ") + file_name(raw.input) + ending(raw.stored);
    }
    return fmt::format("{} of raw tensors ({})", counted(samples_, "sample"), files);
  }

 private:
  std::vector<RawInput> inputs_;
  std::string first_;  // the file that the others' sizes are compared with
  std::int64_t samples_ = 0;
};

}  // namespace

bool is_raw(const fs::path& path, const Inputs& inputs) {
  for (const DataInput& input : inputs) {
    if (fs::is_directory(path) && find(path, input)) return true;
  }
  return false;
}

std::unique_ptr<Dataset> open_raw(const fs::path& path, const Inputs& inputs) {
  return std::make_unique<RawDataset>(path, inputs);
}

}  // namespace poet::runtime
