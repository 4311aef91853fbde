#include "apps/server/server.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <system_error>
#include <thread>

#include "apps/server/http/thread_pool.h"
#include "apps/server/jobs/private_data.h"
#include "apps/server/jobs/storage_error.h"
#include "apps/server/jobs/watcher.h"
#include "apps/server/jobs/workers.h"
#include "apps/server/routes/services.h"
#include "poet/base/error.h"
#include "poet/version.h"

namespace poet::server {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kThreads = 8;  // that answer; two at most make drawings
constexpr std::size_t kMostWaiting = 4096;
constexpr double kSecondsOfDay = 86400;

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

fs::path made(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw InputError(folder.string(), "cannot be created: " + error.message());
  return fs::absolute(folder);
}

/// As many files may be open as there may be connections, where the system lets programs ask for it.
void allow_files(std::size_t connections) {
  constexpr rlim_t kOthers = 256;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_max, std::max<rlim_t>(limit.rlim_cur, connections + kOthers));
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

ServerSettings checked(ServerSettings settings) {
  if (settings.tokens.empty() && !is_loopback(settings.listen))
    throw InputError(
        "--listen",
        "an address that other machines reach needs --token-file, or anybody could use this machine");
  settings.data = private_data(settings.data);
  settings.bounds.workers = settings.workers;
  settings.bounds.version = version();
  allow_files(settings.loop.connections);
  return settings;
}

/// For requests that wait for a job: they are GET, whose handlers read no body.
RawRequest without_body(RawRequest request) {
  request.bytes.resize(std::min(request.bytes.size(), request.bytes.find("\r\n\r\n") + 4));
  request.bytes.shrink_to_fit();
  return request;
}

std::vector<Route> all_routes(const Services& services) {
  std::vector<Route> routes;
  add_job_routes(routes, services);
  add_download_routes(routes, services);
  add_catalogue_routes(routes, services);
  add_published_route(routes, services);
  add_description_route(routes);
  add_page_routes(routes);
  return routes;
}

}  // namespace

struct Server::Parts {
  explicit Parts(ServerSettings given)
      : settings(checked(std::move(given))),
        store(settings.data, settings.queue, seconds_since_1970),
        uploads(settings.data / "uploads", settings.upload_bytes),
        catalogue(read_catalogue(settings.program, made(settings.data / "work"))),
        drawings(settings.program, settings.data / "work" / "drawings", settings.memory_bytes),
        sizes(settings.program, settings.data / "work" / "sizes", settings.memory_bytes),
        workers(store, uploads,
                {settings.program, settings.data / "work" / "jobs", settings.workers, settings.memory_bytes}),
        router(all_routes({store, uploads, workers, catalogue, drawings, sizes, settings.bounds}),
               gate_of(settings.tokens)),
        loop(
            listen_at(settings.listen), settings.loop,
            [this](RawRequest&& request) { return dispatch(std::move(request)); },
            [this](std::string_view head, const std::string& address) {
              return admission_of(settings.tokens, head, address);
            }),
        watcher(store, loop),
        pool(kThreads, kMostWaiting),
        housekeeping([this] { keep_house(); }) {}

  ~Parts() {
    stopping = true;
    housekeeping.join();
    watcher.stop();
    drawings.stop();  // the pool's threads wait for them
    sizes.stop();
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  Parts(Parts&&) = delete;
  Parts& operator=(Parts&&) = delete;

  bool dispatch(RawRequest&& request) {
    return pool.post([this, request = std::move(request)]() mutable { answer(std::move(request)); });
  }

  void answer(RawRequest&& request) {
    const std::uint64_t connection = request.connection;
    try {
      Answered answered = router.answer(request);
      if (answered.once_ended) {
        loop.hold(without_body(std::move(request)), *answered.once_ended);
        watcher.publish(*answered.once_ended, connection);
        return;
      }
      const std::optional<std::string> topic = answered.response.topic;
      loop.respond(connection, std::move(answered.response));
      if (topic) watcher.publish(*topic, connection);
    } catch (const std::exception&) {
      loop.respond(
          connection,
          {"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", true, {}});
    }
  }

  /// Old jobs and uploads go, and what servers that were killed have left.
  void keep_house() {
    constexpr auto kOften = std::chrono::hours{1};
    auto next = std::chrono::steady_clock::now();
    while (!stopping) {
      if (std::chrono::steady_clock::now() >= next) {
        next += kOften;
        try {
          (void)store.forget(seconds_since_1970() - settings.keep_days * kSecondsOfDay);
          uploads.forget(settings.keep_days * kSecondsOfDay);
          workers.remove_leftovers();
          drawings.remove_leftovers();
        } catch (const std::exception&) {  // in an hour, then
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds{100});
    }
  }

  ServerSettings settings;
  JobStore store;
  Uploads uploads;
  Catalogue catalogue;
  Drawings drawings;
  NetworkSizes sizes;
  Workers workers;
  Router router;
  EventLoop loop;
  Watcher watcher;
  ThreadPool pool;
  std::atomic<bool> stopping = false;
  std::thread housekeeping;
};

Server::Server(ServerSettings settings) {
  try {
    parts_ = std::make_unique<Parts>(std::move(settings));
  } catch (const StorageError& error) {  // of --data, which its user can mend
    throw InputError(error.what());
  }
}
Server::~Server() = default;
std::string Server::url() const { return url_of(parts_->settings.listen); }
void Server::run() { parts_->loop.run(); }
void Server::stop() { parts_->loop.stop(); }

}  // namespace poet::server
