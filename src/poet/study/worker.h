#pragma once

// One worker as a child process (base/process/child.h), which both pools have.

#include <memory>
#include <optional>
#include <string>

#include "poet/base/process/child.h"
#include "poet/study/workers.h"

namespace poet {

/// What came from a worker.
struct WorkerNews {
  std::string text;
  std::string death;  // as in WorkAnswer; the process is gone
};

/// Answers each message with what `work` makes of it. Throws InputError if no process can be started.
[[nodiscard]] std::unique_ptr<Child> start_worker(const WorkOnItem& work);

/// An answer that has arrived in full, or the death; nothing else. Never waits.
[[nodiscard]] std::optional<WorkerNews> news_of(Child& worker);

}  // namespace poet
