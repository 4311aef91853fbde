#include "apps/server/jobs/watcher.h"

#include <chrono>
#include <optional>
#include <vector>

#include "apps/server/jobs/job_json.h"

namespace poet::server {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds{100};

}  // namespace

Watcher::Watcher(JobStore& store, EventLoop& loop)
    : store_(store), loop_(loop), seen_(store.version()), thread_([this] { watch(); }) {}

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
      // The store cannot be read for a moment; the next look finds the same changes.
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

void Watcher::look() {
  const std::vector<Change> changes = store_.changes_since(seen_);
  for (const Change& change : changes) publish(change.id);
  if (!changes.empty()) seen_ = changes.back().version;  // several jobs may have changed at once
}

void Watcher::publish(const std::string& id, std::optional<std::uint64_t> connection) {
  const std::optional<Job> job = store_.look(id);
  if (job) loop_.publish(id, event_text(*job), has_ended(job->state), connection);
}

}  // namespace poet::server
