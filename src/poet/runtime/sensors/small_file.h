#pragma once

// The files of /proc and /sys: small texts that the kernel makes anew for every reading.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace poet::runtime {

/// The text without blanks at its end; nothing when it cannot be read.
[[nodiscard]] std::optional<std::string> read_small_file(const std::filesystem::path& file);

/// A whole number that is all of the text, or nothing.
[[nodiscard]] std::optional<std::int64_t> whole_number(std::string_view text);

/// Both.
[[nodiscard]] std::optional<std::int64_t> read_number(const std::filesystem::path& file);

/// The number after "KEY" and blanks or a colon at the beginning of a line: "VmRSS:  1234 kB" -> 1234.
[[nodiscard]] std::optional<std::int64_t> number_after(std::string_view text, std::string_view key);

}  // namespace poet::runtime
