#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/runtime/data/dataset.h"
#include "poet/runtime/data/defaults.h"
#include "poet/runtime/random.h"

namespace poet::runtime {
namespace {

constexpr std::int64_t kMostClasses = 10;
constexpr std::int64_t kUnbounded = 2;    // integers that no table bounds: 0 and 1 are safe in any network
constexpr double kNoise = 0.5;            // standard deviation; patterns have 1
constexpr double kFavourite = 0.5;        // how much of a text is favourite tokens of its class
constexpr std::int64_t kFavourites = 16;  // per class
constexpr std::int64_t kCells = 4;        // of an image's pattern, along each spatial axis

/// Element `i` of a sample in cells: images have one pattern per channel and cell, which convolutions see at
/// any depth; in anything else every element is a cell of its own.
std::uint64_t cell_of(const Shape& sample, std::int64_t i) {
  if (sample.size() < 3) return static_cast<std::uint64_t>(i);
  std::int64_t cell = 0;
  std::int64_t cells = 1;
  for (std::size_t axis = sample.size(); axis-- > 1;) {
    const std::int64_t along = std::min(kCells, sample[axis]);
    cell += i % sample[axis] * along / sample[axis] * cells;
    cells *= along;
    i /= sample[axis];
  }
  return static_cast<std::uint64_t>(cell + i * cells);
}

class SyntheticDataset : public Dataset {
 public:
  SyntheticDataset(const Graph& graph, std::int64_t samples, std::uint64_t seed)
      : inputs_(data_inputs(graph)), samples_(samples), seed_(seed) {
    for (const DataInput& input : inputs_) {
      if (has_default(input)) check_default(input);
      if (input.role == InputRole::class_targets) classes_ = std::min(classes_, input.range);
    }
  }

  [[nodiscard]] std::int64_t samples() const override { return samples_; }

  void read(std::size_t input, std::span<const std::int64_t> samples, std::byte* to) const override {
    const DataInput& into = inputs_.at(input);
    for (const std::int64_t sample : samples) {
      if (has_default(into)) {
        write_default(into, to);
      } else if (into.dtype == DType::float32) {
        write_reals(into, input, sample, to);
      } else {
        write_integers(into, input, sample, to);
      }
      to += byte_count(into.sample, into.dtype).value();
    }
  }

  [[nodiscard]] std::string description() const override {
    return fmt::format("synthetic, {} of {} classes, seed {}", counted(samples_, "sample"), classes_, seed_);
  }

 private:
  [[nodiscard]] std::uint64_t class_of(std::int64_t sample) const {
    return static_cast<std::uint64_t>(sample % classes_);
  }
  /// Keys of what all samples of a class share, and of what is a sample's own.
  [[nodiscard]] std::uint64_t class_key(std::size_t input, std::int64_t sample) const {
    return subkey(subkey(seed_, 2 * input), class_of(sample));
  }
  [[nodiscard]] std::uint64_t sample_key(std::size_t input, std::int64_t sample) const {
    return subkey(subkey(seed_, 2 * input + 1), static_cast<std::uint64_t>(sample));
  }

  void write_reals(const DataInput& into, std::size_t input, std::int64_t sample, std::byte* to) const {
    const std::uint64_t pattern = class_key(input, sample);
    const std::uint64_t noise = sample_key(input, sample);
    const double strength = into.role == InputRole::number_targets ? 0.0 : kNoise;
    const std::int64_t count = element_count(into.sample);
    for (std::int64_t i = 0; i < count; ++i) {
      double x = random_normal(pattern, cell_of(into.sample, i));
      if (strength > 0) x += strength * random_normal(noise, static_cast<std::uint64_t>(i));
      if (into.is_probability) x = x > 0 ? 1 : 0;
      const auto number = static_cast<float>(x);
      std::memcpy(to + i * static_cast<std::int64_t>(sizeof(number)), &number, sizeof(number));
    }
  }

  void write_integers(const DataInput& into, std::size_t input, std::int64_t sample, std::byte* to) const {
    const std::int64_t count = element_count(into.sample);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto number = static_cast<std::int32_t>(into.role == InputRole::class_targets
                                                        ? static_cast<std::int64_t>(class_of(sample))
                                                        : token(into, input, sample, i));
      std::memcpy(to + i * static_cast<std::int64_t>(sizeof(number)), &number, sizeof(number));
    }
  }

  [[nodiscard]] std::int64_t token(const DataInput& into, std::size_t input, std::int64_t sample,
                                   std::int64_t i) const {
    const std::uint64_t own = sample_key(input, sample);
    const auto draw = 3 * static_cast<std::uint64_t>(i);
    const std::int64_t range = into.range > 0 ? into.range : kUnbounded;
    if (random_uniform(own, draw) >= kFavourite) return random_below(own, draw + 1, range);
    const auto which = static_cast<std::uint64_t>(random_below(own, draw + 2, kFavourites));
    return random_below(class_key(input, sample), which, range);
  }

  std::vector<DataInput> inputs_;
  std::int64_t samples_;
  std::uint64_t seed_;
  std::int64_t classes_ = kMostClasses;
};

}  // namespace

std::unique_ptr<Dataset> synthetic_dataset(const Graph& graph, std::int64_t samples, std::uint64_t seed) {
  if (samples < 1) throw InputError("synthetic data", "must have one sample at least");
  return std::make_unique<SyntheticDataset>(graph, samples, seed);
}

}  // namespace poet::runtime
