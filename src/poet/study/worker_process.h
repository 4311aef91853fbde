#pragma once

// One worker as a forked process, from its parent's side.

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "poet/study/workers.h"

namespace poet {

/// What came from a worker.
struct WorkerNews {
  std::string text;
  std::string death;  // as in WorkAnswer; the process is gone
};

class WorkerProcess {
 public:
  /// Forks. Throws InternalError if that is impossible. `work` is copied by the fork.
  explicit WorkerProcess(const Work& work);
  /// Kills it, working or not.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  WorkerProcess(WorkerProcess&&) = delete;
  WorkerProcess& operator=(WorkerProcess&&) = delete;

  /// To an idle worker. A worker that is gone takes it, too: its death is the next news.
  void give(const std::string& item);

  /// An answer that has arrived in full, or the death; nothing else. Never waits.
  [[nodiscard]] std::optional<WorkerNews> take();

  /// Readable when there may be news.
  [[nodiscard]] int descriptor() const { return from_; }

 private:
  [[nodiscard]] std::string reap();

  pid_t process_ = 0;
  int to_ = -1;
  int from_ = -1;
  std::string arrived_;
};

/// Waits until one of them may have news, at most so long.
void wait_for_news(const std::vector<const WorkerProcess*>& workers, int milliseconds);

}  // namespace poet
