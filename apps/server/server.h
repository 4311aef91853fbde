#pragma once

// poet serve: the HTTP interface, the job store and the workers, put together. From a request to its
// response:
//
//   http/event_loop   reads it from the network, on one thread
//   http/router       parses it and finds its handler, on a thread of the pool
//   routes/           the handlers
//   jobs/request      what is to be done, from the client's JSON
//   jobs/job_store    keeps jobs in a queue, with results and plans
//   jobs/workers      run the program for each job
//   jobs/watcher      tells clients how it goes

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
  std::filesystem::path data;  // for jobs and uploads, made if need be; servers of one machine may share it
  std::filesystem::path program;  // that does the jobs
  Tokens tokens;                  // without any, `listen` must be loopback
  std::size_t workers = 1;
  std::int64_t memory_bytes = std::int64_t{4} << 30;  // of a job's address space
  std::int64_t upload_bytes = std::int64_t{1} << 30;  // of all uploads
  double keep_days = 30;                              // results, and uploads that nobody has given again
  Bounds bounds;
  QueueLimits queue;
  LoopLimits loop;
};

class Server {
 public:
  /// Listens from now on. Throws InputError.
  explicit Server(ServerSettings settings);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  Server(Server&&) = delete;
  Server& operator=(Server&&) = delete;

  [[nodiscard]] std::string url() const;
  /// Until stop(): then what is being answered is answered, and jobs that run are queued again.
  void run();
  /// From any thread.
  void stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace poet::server
