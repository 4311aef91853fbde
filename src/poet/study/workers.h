#pragma once

// Distributes work to other processes: items are text, and so are their answers, which arrive in any order.
// One interface for two transports: processes of this machine, and the ranks of an MPI job.
//
// In both the work runs in separate processes, so that a crash affects one item only.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace poet {

/// The work on an item. It should not throw: an exception counts as the worker's death.
using WorkOnItem = std::function<std::string(const std::string& item)>;

struct WorkAnswer {
  std::size_t item = 0;  // its index
  std::string text;      // what the work returned
  std::string death;     // "signal 11", "exit code 1": the worker is gone and this item has no answer
};

class WorkerPool {
 public:
  WorkerPool() = default;
  virtual ~WorkerPool() = default;  // ends the workers
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  WorkerPool(WorkerPool&&) = delete;
  WorkerPool& operator=(WorkerPool&&) = delete;

  /// Returns the number of items worked on at a time; at least 1.
  [[nodiscard]] virtual std::size_t size() const = 0;

  /// Assigns the items in order to idle workers and calls `answered` for every answer as it arrives, in the
  /// calling thread. `keep_going` is called at least ten times a second; once it returns false, work in
  /// progress is cancelled. Returns whether every item was answered; after `false` the pool can only be
  /// destroyed.
  virtual bool run(const std::vector<std::string>& items,
                   const std::function<void(const WorkAnswer&)>& answered,
                   const std::function<bool()>& keep_going) = 0;
};

/// Returns a pool of `workers` >= 1 processes forked from this one, which must have a single thread while the
/// pool is made and run. They end with this process in any case, ignore SIGINT, SIGTERM and SIGHUP, which
/// this process may handle, and have no standard output. Throws InputError if no process can be started.
[[nodiscard]] std::unique_ptr<WorkerPool> process_pool(std::size_t workers, WorkOnItem work);

/// Returns whether this build supports MPI.
[[nodiscard]] bool has_mpi();

/// Returns the number of processes, including this one, that mpirun or a batch system has started together,
/// according to the environment; 1 without. Does not call MPI.
[[nodiscard]] int mpi_processes();

/// Must be called once by all of these processes, while they have a single thread. Returns a pool of the
/// other ranks in rank 0. In the others it works for that pool, one item at a time, and returns null after
/// the pool was destroyed and MPI finalized. Each rank works in a child process as process_pool() does; the
/// death of a rank itself ends the MPI job. Throws InternalError in builds without MPI and with fewer than
/// two ranks.
[[nodiscard]] std::unique_ptr<WorkerPool> mpi_pool(const WorkOnItem& work);

}  // namespace poet
