// What libFuzzer's programs (tests/fuzz/targets) begin from, and every input that has shown a mistake, is
// read again: refused in one short line, or taken. Under the sanitizers this finds again what they have
// found.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "tests/support/fuzz_readers.h"

namespace poet::test {
namespace {

using ReadCorpus = void (*)(std::span<const std::uint8_t>);

const std::map<std::string, ReadCorpus> kCorpusReaders = {
    {"onnx", read_fuzzed_onnx},          {"instance", read_fuzzed_instance},
    {"device", read_fuzzed_device},      {"schedule", read_fuzzed_schedule},
    {"plan", read_fuzzed_plan},          {"sweep", read_fuzzed_sweep},
    {"image", read_fuzzed_image},        {"safetensors", read_fuzzed_safetensors},
    {"page_file", read_fuzzed_page_file}};

TEST(FuzzCorpus, IsRefusedOrTaken) {
  std::map<std::string, int> taken;
  const std::filesystem::path corpus = std::filesystem::path(POET_TEST_REPOSITORY) / "tests/fuzz/corpus";
  for (const auto& file : std::filesystem::recursive_directory_iterator(corpus)) {
    if (!file.is_regular_file()) continue;
    const std::string name = file.path().parent_path().filename().string();
    SCOPED_TRACE(file.path().string());
    ASSERT_TRUE(kCorpusReaders.contains(name));
    std::ifstream in(file.path(), std::ios::binary);
    const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(in), {}};
    if (read_or_refuse(kCorpusReaders.at(name), bytes) == FuzzOutcome::taken) ++taken[name];
  }
  // Seeds that are refused at the door would test nothing.
  for (const auto& [name, read] : kCorpusReaders) EXPECT_GT(taken[name], 0) << name;
}

}  // namespace
}  // namespace poet::test
