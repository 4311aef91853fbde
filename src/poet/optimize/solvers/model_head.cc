#include "poet/optimize/solvers/model_head.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <istream>

#include "poet/base/error.h"
#include "poet/base/text.h"

namespace poet {
namespace {

constexpr const char* kTimingHead = "* poet timing:";
constexpr const char* kStagesHead = "* poet exact stages:";
constexpr const char* kModelHead = "* poet model:";

// FNV-1a over the model's content.
class Fingerprint {
 public:
  template <class T>
  Fingerprint& add(const std::vector<T>& items) {
    for (const T& item : items) {
      unsigned char bytes[sizeof item];
      std::memcpy(bytes, &item, sizeof item);
      for (const unsigned char byte : bytes) hash_ = (hash_ ^ byte) * 1099511628211ULL;
    }
    return *this;
  }
  [[nodiscard]] std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  std::uint64_t hash_ = 14695981039346656037ULL;
};

bool after(const std::string& line, const char* head, std::string& rest) {
  if (line.rfind(head, 0) != 0) return false;
  rest = line.substr(std::strlen(head));
  return true;
}

}  // namespace

std::string fingerprint_of(const Model& model) {
  return Fingerprint()
      .add(model.lower)
      .add(model.upper)
      .add(model.cost)
      .add(model.integer)
      .add(model.row_lower)
      .add(model.row_upper)
      .add(model.row_start)
      .add(model.entry_column)
      .add(model.entry_value)
      .text();
}

std::vector<std::string> head_of(const ExternalModel& external) {
  std::string stages;
  for (const int stage : external.exact_stages) stages += fmt::format(" {}", stage);
  const auto line = [](const char* head, const std::string& text) { return std::string(head + 2) + text; };
  return {line(kTimingHead, external.timing == rows::TransferTiming::relaxed ? " relaxed" : " conservative"),
          line(kStagesHead, stages), line(kModelHead, " " + external.fingerprint)};
}

ExternalModel read_head(std::istream& in, const std::string& place) {
  ExternalModel external;
  bool has_timing = false;
  for (std::string line, rest; std::getline(in, line) && !line.empty() && line[0] == '*';) {
    if (line.back() == '\r') line.pop_back();
    if (after(line, kTimingHead, rest)) {
      has_timing = rest == " relaxed" || rest == " conservative";
      external.timing =
          rest == " relaxed" ? rows::TransferTiming::relaxed : rows::TransferTiming::conservative;
    } else if (after(line, kStagesHead, rest)) {
      for (const std::string& stage : words_of(rest)) external.exact_stages.insert(std::atoi(stage.c_str()));
    } else if (after(line, kModelHead, rest) && !rest.empty()) {
      external.fingerprint = rest.substr(1);
    }
  }
  if (!has_timing || external.fingerprint.empty())
    throw InputError(place, "does not begin as a model that poet has written");
  return external;
}

}  // namespace poet
