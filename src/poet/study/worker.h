#pragma once

// A worker as a child process (base/process/child.h), used by both pools.

#include <memory>
#include <optional>
#include <string>

#include "poet/base/process/child.h"
#include "poet/study/workers.h"

namespace poet {

/// An answer or the death of a worker.
struct WorkerNews {
  std::string text;
  std::string death;  // as in WorkAnswer; the process is gone
};

/// Starts a worker that answers each message with the result of `work`. Throws InputError if no process can
/// be started.
[[nodiscard]] std::unique_ptr<Child> start_worker(const WorkOnItem& work);

/// Returns an answer that has arrived in full, or the worker's death, or nullopt. Never waits.
[[nodiscard]] std::optional<WorkerNews> news_of(Child& worker);

}  // namespace poet
