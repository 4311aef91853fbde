// Damaged instance and device files: an InputError of one line, or a value that is sound; nothing else,
// whatever the bytes.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "poet/base/data_dir.h"
#include "poet/base/error.h"
#include "poet/cost/device.h"
#include "poet/cost/instance_json.h"
#include "poet/cost/json_reader.h"
#include "tests/support/effort.h"

namespace poet {
namespace {

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::string mutate(std::string text, const std::string& other) {
    for (std::size_t n = 1 + below(4); n > 0 && !text.empty(); --n) mutate_once(text, other);
    return text;
  }

 private:
  std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
  }

  /// Start and length of a random number or literal in the text; length 0 when none is near.
  std::pair<std::size_t, std::size_t> token(const std::string& text) {
    constexpr const char* kDigits = "0123456789.+-eE";
    const std::size_t begin = text.find_first_of("0123456789-", below(text.size()));
    if (begin == std::string::npos) return {0, 0};
    const std::size_t end = text.find_first_not_of(kDigits, begin);
    return {begin, (end == std::string::npos ? text.size() : end) - begin};
  }

  void mutate_once(std::string& text, const std::string& other) {
    static const std::vector<std::string> tokens = {"1e999",
                                                    "-1e999",
                                                    "NaN",
                                                    "null",
                                                    "true",
                                                    "-1",
                                                    "-0.0",
                                                    "9223372036854775807",
                                                    "18446744073709551615",
                                                    "1e400",
                                                    "5e-324",
                                                    "0",
                                                    "[]",
                                                    "{}",
                                                    "\"\"",
                                                    "1.0",
                                                    "9007199254740993",
                                                    "-9223372036854775808",
                                                    "[[[[[[",
                                                    "\"\\u0000\"",
                                                    "\"\\n\"",
                                                    "2147483648",
                                                    "1.7976931348623157e308"};
    const std::size_t at = below(text.size());
    switch (below(7)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.erase(at, 1 + below(20));
        break;
      case 2:
        text.insert(at, tokens[below(tokens.size())]);
        break;
      case 3: {
        const std::size_t from = below(other.size());
        text.insert(at, other.substr(from, 1 + below(60)));
        break;
      }
      case 4:
        text.resize(at);
        break;
      default: {  // most damage that survives the parser: another number where a number was
        const std::pair<std::size_t, std::size_t> found = token(text);
        if (found.second > 0) text.replace(found.first, found.second, tokens[below(tokens.size())]);
        break;
      }
    }
  }

  std::mt19937_64 random_;
};

/// Reads `text` both as a file's text and, where it is JSON, as the thing itself. True when accepted.
template <class Read>
bool survives(const std::string& text, Read read) {
  try {
    read(parse_json(text, "f.json"));
    return true;
  } catch (const InputError& error) {
    const std::string what = error.what();
    EXPECT_EQ(what.rfind("f.json: ", 0), 0U) << what;
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
  } catch (const std::exception& error) {
    ADD_FAILURE() << "not an InputError: " << error.what() << "\n" << text;
  }
  return false;
}

/// Mutates as often on any machine; some mutants must be accepted and some refused, or the test says nothing.
template <class Read>
void fuzz(const std::vector<std::string>& seeds, Read read) {
  Mutator mutator(20220717);
  int accepted = 0;
  int refused = 0;
  const auto rounds = static_cast<std::size_t>(test::effort(40'000, 5));
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::string& seed = seeds[round % seeds.size()];
    const std::string& other = seeds[(round + 1) % seeds.size()];
    (survives(mutator.mutate(seed, other), read) ? accepted : refused) += 1;
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, 100);
}

const char* const kRichForm = R"({"format": 1, "name": "n", "device": {"concurrent": false, "idle_watts": 1},
 "persistent_bytes": 8, "has_storage": true, "ops": [
  {"name": "x", "kind": "input", "pass": "forward", "inputs": [], "outputs": [0], "recomputable": false,
   "runtime_seconds": 0, "compute_joules": 0},
  {"name": "y", "kind": "linear", "pass": "forward", "attributes": {"alpha": 0.5, "axes": [0, 1], "n": 3, "s": "t"},
   "inputs": [0, 2], "outputs": [1], "runtime_seconds": 1, "compute_joules": 2, "workspace_bytes": 16}],
 "values": [
  {"name": "x", "shape": [1], "dtype": "float32", "persistence": "input", "producer": 0, "bytes": 4, "ram_bytes": 4,
   "page_in_seconds": 1, "page_out_seconds": 1, "page_in_joules": 1, "page_out_joules": 1},
  {"name": "y", "shape": [2], "dtype": "float32", "persistence": "activation", "producer": 1, "bytes": 8, "ram_bytes": 8,
   "page_in_seconds": 1, "page_out_seconds": 1, "page_in_joules": 1, "page_out_joules": 1},
  {"name": "w", "shape": [2, 1], "dtype": "float32", "persistence": "parameter", "bytes": 8, "ram_bytes": 8,
   "page_in_seconds": 1, "page_out_seconds": 1, "page_in_joules": 1, "page_out_joules": 1},
  {"name": "v", "shape": [2], "strides": [1], "dtype": "float32", "persistence": "activation", "alias_of": 1, "bytes": 8,
   "ram_bytes": 0, "page_in_seconds": 1, "page_out_seconds": 1, "page_in_joules": 1, "page_out_joules": 1}]})";

TEST(CostJsonFuzz, Instances) {
  const std::vector<std::string> seeds = {read_text_file(data_dir() / "published" / "linear.m4.json"),
                                          read_text_file(data_dir() / "published" / "transformer.a72.json"),
                                          kRichForm, kRichForm};
  fuzz(seeds, [](const nlohmann::ordered_json& json) {
    // What is accepted can be written and read again.
    const nlohmann::ordered_json written = to_json(instance_from_json(json, "f.json"));
    EXPECT_EQ(to_json(instance_from_json(parse_json(written.dump(), "again"), "again")), written);
  });
}

TEST(CostJsonFuzz, Devices) {
  std::vector<std::string> seeds;
  for (const char* name : {"m0.json", "jetsontx2.json"})
    seeds.push_back(read_text_file(data_dir() / "devices" / name));
  nlohmann::ordered_json measured = nlohmann::ordered_json::parse(seeds[0]);
  measured["overrides"] = {{{"kind", "relu"}, {"shape_class", "2->2"}, {"seconds", 1}, {"joules", 2}}};
  measured.erase("origins");
  seeds.push_back(measured.dump());
  fuzz(seeds, [](const nlohmann::ordered_json& json) {
    const nlohmann::ordered_json written = to_json(device_from_json(json, "f.json"));
    EXPECT_EQ(to_json(device_from_json(parse_json(written.dump(), "again"), "again")), written);
  });
}

}  // namespace
}  // namespace poet
