#pragma once

// poet serve: the HTTP interface, the job store and the workers. The path of a request:
//
//   http/event_loop   reads it from the network, on one thread
//   http/router       parses it and finds its handler, on a thread of the pool
//   routes/           the handlers
//   jobs/request      parses a job's request
//   jobs/job_store    queues jobs and stores results and plans
//   jobs/workers      run the program, one process per job
//   jobs/watcher      publishes changes of jobs

#include <filesystem>
#include <memory>
#include <string>

#include "apps/server/http/access.h"
#include "apps/server/http/event_loop.h"
#include "apps/server/http/listen.h"
#include "apps/server/jobs/job_store.h"
#include "apps/server/jobs/request.h"

namespace poet::server {

struct ServerSettings {
  Address listen{"127.0.0.1", 8080};
  std::filesystem::path data;  // of jobs and uploads, created if missing; servers on one machine may share it
  std::filesystem::path program;  // poet's executable, run for each job
  Tokens tokens;                  // if empty, `listen` must be loopback
  std::size_t workers = 1;
  std::int64_t memory_bytes = std::int64_t{4} << 30;  // of a job's address space
  std::int64_t upload_bytes = std::int64_t{1} << 30;  // of all uploads
  double keep_days = 30;                              // retention of results and unused uploads
  Bounds bounds;
  QueueLimits queue;
  LoopLimits loop;
};

class Server {
 public:
  /// Starts to listen. Throws InputError.
  explicit Server(ServerSettings settings);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  Server(Server&&) = delete;
  Server& operator=(Server&&) = delete;

  [[nodiscard]] std::string url() const;
  /// Serves until stop(); then finishes open responses and requeues running jobs.
  void run();
  /// From any thread.
  void stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace poet::server
