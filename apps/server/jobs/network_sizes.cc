#include "apps/server/jobs/network_sizes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>
#include <utility>

#include "apps/server/jobs/program_output.h"
#include "poet/base/error.h"
#include "poet/base/process/program.h"

namespace poet::server {
namespace {

namespace fs = std::filesystem;

constexpr int kReadAtOnce = 2;  // so that threads are left to answer others
constexpr double kMostSecondsToRead = 5;
constexpr std::size_t kMostKnown = 10'000;

}  // namespace

NetworkSizes::NetworkSizes(fs::path program, fs::path folder, std::int64_t memory_bytes)
    : program_(std::move(program)), folder_(std::move(folder)), memory_bytes_(memory_bytes) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw InputError(folder_.string(), "cannot be created: " + error.message());
}

std::optional<std::string> NetworkSizes::too_many(const SizeCheck& check) {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = known_.find(check.arguments); found != known_.end()) return found->second;
  }
  std::optional<std::optional<std::string>> said;
  if (++under_way_ <= kReadAtOnce) said = ask(check);
  --under_way_;
  if (!said) return std::nullopt;
  const std::scoped_lock lock(mutex_);
  if (known_.size() >= kMostKnown) known_.clear();
  return known_[check.arguments] = *said;
}

std::optional<std::optional<std::string>> NetworkSizes::ask(const SizeCheck& check) {
  ProgramCall call;
  call.arguments = {program_.string()};
  call.arguments.insert(call.arguments.end(), check.arguments.begin(), check.arguments.end());
  call.messages = folder_ / fmt::format("{}-{}", getpid(), next_++);
  call.memory_limit_bytes = memory_bytes_;
  const ChildEnd end = run_program(call, kMostSecondsToRead, [this] { return !stopping_; });
  const std::string words = last_words(contents(call.messages));
  std::error_code ignored;
  fs::remove(call.messages, ignored);
  if (end.how != ChildEnd::How::finished) return std::nullopt;
  constexpr std::string_view kPlace = "--op-limit: ";
  const bool refused = end.exit_code == 2 && words.rfind(kPlace, 0) == 0;
  return refused ? std::optional(words.substr(kPlace.size())) : std::optional<std::string>();
}

}  // namespace poet::server
