#pragma once

// The file that is a card, in blocks of 512 bytes, and its header: what the engine reads
// (firmware/engine/poet_engine.h), and behind it what only poet reads.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "firmware/engine/poet_engine.h"
#include "poet/firmware/program.h"

namespace poet::firmware {

using Words = std::array<std::uint32_t, POET_BLOCK / 4>;

[[nodiscard]] std::uint32_t hash_of(const void* bytes, std::size_t count, std::uint32_t seed);

/// Every failure is an InputError with the file's name.
class Image {
 public:
  /// `name`: of the file in messages.
  Image(const std::filesystem::path& file, std::filesystem::path name, std::ios::openmode mode);

  /// From `skipped` bytes behind the block's beginning on.
  void write(std::uint64_t block, std::uint64_t skipped, const void* from, std::size_t bytes);
  void read(std::uint64_t block, void* to, std::size_t bytes);
  void close();

 private:
  std::filesystem::path name_;
  std::fstream stream_;
};

constexpr std::size_t kHeaderWords = 6;
constexpr std::size_t kStepsAt = 4;
using Header = std::array<std::uint32_t, kHeaderWords>;  // their hash follows

struct Notes {
  std::uint64_t seed = 0;
  std::string text{};  // what the data are; empty where it does not fit
  OptimizerSettings optimizer{};
};

struct CardHeader {
  Header words{};
  Notes notes;
  [[nodiscard]] std::uint32_t digest() const { return words[2]; }
};

void write_header(Image& image, const Header& header);
void write_notes(Image& image, const Notes& notes);
/// Throws InputError for what is no card, of another format or damaged.
[[nodiscard]] CardHeader read_header(const std::filesystem::path& file, Image& image);

}  // namespace poet::firmware
