#include "apps/server/jobs/watcher.h"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "apps/server/jobs/job_json.h"

namespace poet::server {
namespace {

constexpr std::size_t kMostAwaited = 4096;
constexpr auto kBetweenLooks = std::chrono::milliseconds{100};

}  // namespace

Watcher::Watcher(JobStore& store, EventLoop& loop, std::function<void(RawRequest&&)> again)
    : store_(store), loop_(loop), again_(std::move(again)), seen_(store.version()), thread_([this] {
        watch();
      }) {}

Watcher::~Watcher() { stop(); }

void Watcher::stop() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

void Watcher::watch() {
  while (!stopping_) {
    try {
      look();
    } catch (const std::exception&) {
      // The store is out of reach for a moment; what is missed now is told then.
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

void Watcher::look() {
  const std::vector<Change> changes = store_.changes_since(seen_);
  for (const Change& change : changes) tell(change.id);
  if (!changes.empty()) seen_ = changes.back().version;  // several jobs may have changed at once
}

bool Watcher::await_end(const std::string& id, RawRequest request) {
  {
    const std::scoped_lock lock(mutex_);
    if (awaited_.size() >= kMostAwaited) return false;
    awaited_.emplace(id, std::move(request));
  }
  tell(id);  // it may have ended just now
  return true;
}

void Watcher::tell(const std::string& id, std::optional<std::uint64_t> connection) {
  const std::optional<Job> job = store_.look(id);
  if (!job) return;
  loop_.publish(id, event_text(*job), has_ended(job->state), connection);
  if (!has_ended(job->state)) return;
  std::vector<RawRequest> answerable;
  {
    const std::scoped_lock lock(mutex_);
    const auto [begin, end] = awaited_.equal_range(id);
    for (auto each = begin; each != end; ++each) answerable.push_back(std::move(each->second));
    awaited_.erase(begin, end);
  }
  for (RawRequest& request : answerable) again_(std::move(request));
}

}  // namespace poet::server
