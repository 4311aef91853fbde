#include "poet/frontend/onnx/read/isolated.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <fstream>

#include "poet/base/error.h"

namespace poet::onnx {
namespace {

constexpr rlim_t kMostSeconds = 2;
constexpr double kMostWaiting = 60;  // wall-clock seconds, for a child that hangs without computing
constexpr std::int64_t kMostMemory = std::int64_t{1} << 27;
// The first byte of a reply.
constexpr char kAnswer = 'a';
constexpr char kNoAnswer = 'n';

/// Limits this process to this much more processor time.
void allow_seconds(rlim_t seconds) {
  rusage used{};
  (void)getrusage(RUSAGE_SELF, &used);
  rlimit limit{};
  (void)getrlimit(RLIMIT_CPU, &limit);
  const auto whole = static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
  limit.rlim_cur = std::min(whole + seconds, limit.rlim_max);
  (void)setrlimit(RLIMIT_CPU, &limit);
}

std::string reply_to(const std::string& question, const Isolated::Answer& answer) {
  try {
    if (const std::optional<std::string> text = answer(question)) return kAnswer + *text;
  } catch (const std::exception&) {
    // Reported as no answer.
  }
  return {kNoAnswer};
}

int serve(Parent& parent, const Isolated::Answer& answer) {
  while (const std::optional<std::string> question = parent.receive()) {
    allow_seconds(kMostSeconds);
    parent.send(reply_to(*question, answer));
  }
  return 0;
}

ChildSettings settings() {
  ChildSettings settings;
  settings.streams = Streams::keep;
  std::int64_t pages = 0;  // of this process
  settings.most_message_bytes = kMostMemory;
  if (std::ifstream("/proc/self/statm") >> pages)
    settings.memory_limit_bytes = pages * sysconf(_SC_PAGESIZE) + kMostMemory;
  return settings;
}

}  // namespace

std::optional<std::string> Isolated::ask(const std::string& question) {
  std::optional<std::string> reply;
  try {
    if (!child_)
      child_ = std::make_unique<Child>([this](Parent& parent) { return serve(parent, answer_); }, settings());
    if (child_->send(question)) reply = child_->receive(kMostWaiting);
  } catch (const InputError&) {
    // The process could not be started: no answer.
  }
  if (!reply) child_.reset();
  if (!reply || !reply->starts_with(kAnswer)) return std::nullopt;
  return reply->substr(1);
}

}  // namespace poet::onnx
