#pragma once

// Every reader of files, as a function of bytes: for libFuzzer (tests/fuzz/targets) and for the replay of
// what it has found (tests/fuzz/corpus_test.cc).

#include <cstddef>
#include <cstdint>
#include <span>

namespace poet::test {

/// Each throws nothing but InputError, whatever the bytes.
void read_fuzzed_onnx(std::span<const std::uint8_t> bytes);
void read_fuzzed_instance(std::span<const std::uint8_t> bytes);
void read_fuzzed_device(std::span<const std::uint8_t> bytes);
void read_fuzzed_schedule(std::span<const std::uint8_t> bytes);
void read_fuzzed_plan(std::span<const std::uint8_t> bytes);
void read_fuzzed_sweep(std::span<const std::uint8_t> bytes);
void read_fuzzed_safetensors(std::span<const std::uint8_t> bytes);
void read_fuzzed_page_file(std::span<const std::uint8_t> bytes);
void read_fuzzed_image(std::span<const std::uint8_t> bytes);

enum class FuzzOutcome { taken, refused };

/// Reads; aborts where a refusal is not one short line, as a sanitizer aborts where memory is misused.
FuzzOutcome read_or_refuse(void (*read)(std::span<const std::uint8_t>), std::span<const std::uint8_t> bytes);

}  // namespace poet::test
