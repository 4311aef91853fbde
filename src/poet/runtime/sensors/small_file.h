#pragma once

// Reads the small text files of /proc and /sys.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace poet::runtime {

/// Returns the text without trailing blanks, or nullopt if it cannot be read.
[[nodiscard]] std::optional<std::string> read_small_file(const std::filesystem::path& file);

/// Returns the integer that the whole text is, or nullopt.
[[nodiscard]] std::optional<std::int64_t> whole_number(std::string_view text);

/// Returns the integer that a file consists of, or nullopt.
[[nodiscard]] std::optional<std::int64_t> read_number(const std::filesystem::path& file);

/// Returns the number after "KEY" and blanks or a colon at the beginning of a line: "VmRSS: 1234 kB" -> 1234.
[[nodiscard]] std::optional<std::int64_t> number_after(std::string_view text, std::string_view key);

}  // namespace poet::runtime
