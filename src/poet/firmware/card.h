#pragma once

// The image of a board's storage: the initial and final state of a run.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "poet/firmware/program.h"
#include "poet/runtime/data/dataset.h"

namespace poet::firmware {

/// Writes a value's contents.
using Contents = std::function<void(ValueId v, std::byte* to)>;

struct CardOptions {
  std::uint32_t steps = 0;        // to be trained in all; 0: until the power goes
  std::uint64_t seed = 0;         // of weights, data order and dropout, for the checkpoint
  std::string data{};             // its description, for the same
  OptimizerSettings optimizer{};  // that the program was made with, for poet card
  bool power_of_two = false;      // blocks, as QEMU wants them of an SD card
  std::filesystem::path name{};   // of the file in messages, where it is written under another one
  // Called now and then with the blocks written so far; may throw, and the image is incomplete then.
  std::function<void(std::uint64_t blocks)> progress{};
};

/// Returns the blocks of 512 bytes that an image with `samples` samples needs.
[[nodiscard]] std::uint64_t card_blocks(const Program& program, std::int64_t samples);

/// Blocks of the file: at least 64 KiB, whole ones, or the next power of two.
[[nodiscard]] std::uint64_t image_blocks(std::uint64_t blocks, bool power_of_two);

/// A new image of image_blocks().
/// Throws InputError when the file cannot be written. O(bytes of pages and samples).
void write_card(const std::filesystem::path& file, const Graph& graph, const Program& program,
                const Contents& first, const runtime::Dataset& data, const CardOptions& options);

/// The state of a run after its last complete step.
struct CardState {
  std::uint32_t step = 0;
  float loss = 0;
  std::uint64_t seed = 0;
  std::string data{};  // description; empty where it did not fit
  runtime::LearningRateSchedule schedule{};
  IdVector<ValueId, std::vector<std::byte>> contents;  // of persistent values; of others empty
};

/// Returns the settings of the image's firmware. Throws InputError for a file that is no image.
[[nodiscard]] OptimizerSettings optimizer_of_card(const std::filesystem::path& file);

/// Returns whether the image is for firmware of this program. Throws InputError for a file that is no image.
[[nodiscard]] bool is_card_of(const std::filesystem::path& file, const Program& program);

/// Sets the step at which training ends (0: never). Throws InputError as read_card().
void set_steps(const std::filesystem::path& file, const Program& program, std::uint32_t steps);

/// Throws InputError for a file that is no image, one for another plan, and naming the tensor where a page is
/// damaged.
[[nodiscard]] CardState read_card(const std::filesystem::path& file, const Graph& graph,
                                  const Program& program);

}  // namespace poet::firmware
