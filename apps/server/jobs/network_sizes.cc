#include "apps/server/jobs/network_sizes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>
#include <utility>

#include "apps/server/jobs/place.h"
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
  const Place place(under_way_, kReadAtOnce);
  if (!place.free()) return std::nullopt;
  const Answer answer = ask(check);
  if (!answer.is_known) return std::nullopt;
  const std::scoped_lock lock(mutex_);
  if (known_.size() >= kMostKnown) known_.clear();
  return known_[check.arguments] = answer.too_many;
}

NetworkSizes::Answer NetworkSizes::ask(const SizeCheck& check) {
  ProgramCall call;
  call.arguments = {program_.string()};
  call.arguments.insert(call.arguments.end(), check.arguments.begin(), check.arguments.end());
  call.messages = folder_ / fmt::format("{}-{}", getpid(), next_++);
  call.memory_limit_bytes = memory_bytes_;
  call.limits_work = true;
  std::string words;
  ChildEnd end;
  try {
    end = run_program(call, kMostSecondsToRead, [this] { return !stopping_; });
    words = last_words(contents(call.messages));
  } catch (const InputError&) {  // no process can be started now
    end.how = ChildEnd::How::stopped;
  }
  std::error_code ignored;
  fs::remove(call.messages, ignored);
  if (end.how != ChildEnd::How::finished) return {};
  constexpr std::string_view kPlace = "--op-limit: ";
  if (end.exit_code != 2 || words.rfind(kPlace, 0) != 0) return {true, std::nullopt};
  return {true, words.substr(kPlace.size())};
}

}  // namespace poet::server
