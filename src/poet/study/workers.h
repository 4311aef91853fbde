#pragma once

// Work handed out to other processes: items of text go out, answers of text come back, in any order. Two
// transports, one interface: processes of this machine, and the ranks of an MPI job.
//
// The work is done in processes of its own in both, so that one that crashes or is killed costs its item
// only.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace poet {

/// What a worker does with an item. It should not throw: an exception counts as the worker's death.
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

  /// How many items are worked on at a time; at least 1.
  [[nodiscard]] virtual std::size_t size() const = 0;

  /// Hands out the items in order, to whoever is idle, and gives every answer to `answered` as it comes, in
  /// the calling thread. `keep_going` is called at least ten times a second; once it returns false, what is
  /// being worked on is dropped. Whether every item was answered; after `false` only destruction is left.
  virtual bool run(const std::vector<std::string>& items,
                   const std::function<void(const WorkAnswer&)>& answered,
                   const std::function<bool()>& keep_going) = 0;
};

/// `workers` >= 1 processes, forked from this one: make it, and run it, while this process has a single
/// thread. They end with this process, however it ends, and leave it to this process to heed SIGINT, SIGTERM
/// and SIGHUP; their standard output is closed. Throws InputError if no process can be started.
[[nodiscard]] std::unique_ptr<WorkerPool> process_pool(std::size_t workers, WorkOnItem work);

/// Whether this build knows MPI.
[[nodiscard]] bool has_mpi();

/// How many processes mpirun (or a batch system) has started together with this one, itself included, by
/// what the environment says; 1 without. Calls nothing of MPI.
[[nodiscard]] int mpi_processes();

/// To be called by all of these processes, once, while they have a single thread. In rank 0 it gives a pool
/// of the others; these work for it, one item at a time each, return null when it is destroyed, and are done
/// with MPI then. Each rank works in a child process as process_pool() does; a rank that dies itself ends the
/// MPI job. Throws InternalError in builds without MPI and with fewer than two ranks.
[[nodiscard]] std::unique_ptr<WorkerPool> mpi_pool(const WorkOnItem& work);

}  // namespace poet
