// poet serve: a server for teams, and the page to decide with.

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include "apps/cli/command.h"
#include "apps/cli/pending_signals.h"
#include "apps/shared/amounts.h"
#include "apps/shared/called_as.h"
#include "poet/base/error.h"
#include "poet/base/parse_amounts.h"
#ifdef POET_SERVER
#include "apps/server/server.h"
#endif

namespace poet::cli {
namespace {

namespace fs = std::filesystem;

/// Where programs keep what outlives them (XDG base directories).
fs::path usual_data() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/')
    return fs::path(state) / "poet" / "server";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return fs::path(home) / ".local" / "state" / "poet" / "server";
  throw InputError("--data", "is needed where there is no home folder");
}

class Serve final : public Command {
 public:
  explicit Serve(CommandLine& program)
      : Command(
            program.command("serve", "run a server that solves problems and stores plans, with a web page")) {
    parser_.option("--listen", listen_,
                   "address to listen on (default 127.0.0.1:8080); port 0: any free port", "ADDRESS:PORT");
    parser_.option("--data", data_, "folder for jobs, plans and uploads (default ~/.local/state/poet/server)",
                   "DIR");
    parser_.option("--workers", workers_,
                   "number of jobs run at once (default: one per core, at least 2); with several, one is "
                   "reserved for jobs other than sweeps",
                   "N");
    parser_.option(
        "--token-file", tokens_,
        "file of access tokens, one NAME TOKEN per line; required for addresses that other machines reach",
        "FILE");
    const Parser limits = parser_.group("Limits");
    limits.option("--time-limit", time_limit_, "maximum time limit of a job's search (default 10min)",
                  "TIME");
    limits.option("--threads", threads_, "threads of a job's search, at most (default 1)", "N");
    limits.option("--memory-limit", memory_, "address space of a job's process (default 4GiB)", "BYTES");
    limits.option("--upload-limit", uploads_,
                  "total size of uploads (default 1GiB); a single one has at most 64MiB", "BYTES");
    limits.option("--queue-limit", queue_,
                  "maximum number of queued jobs (default 1000), of which one client may have a fifth", "N");
    limits.option("--keep-days", keep_, "days that results are kept (default 30)", "N");
    parser_.flag("--quiet", quiet_, "print nothing on stderr");
    parser_.footer(
        "Ctrl-C or SIGTERM stops it; interrupted jobs resume when it is started again.\n\nExamples:\n  poet "
        "serve\n  poet serve --listen 0.0.0.0:8080 --token-file tokens --data /var/lib/poet\n\nExit code: 0 "
        "stopped, 2 bad input, 3 internal error. See docs/server.md for details.");
  }

#ifdef POET_SERVER
  int run() override {
    // Of this process and the jobs': SQLite's files, too, are nobody else's.
    (void)umask(S_IRWXG | S_IRWXO);
    PendingSignals signals;  // before there are threads
    server::Server server(settings());
    const std::jthread waiter([&](const std::stop_token& ended) {
      while (!ended.stop_requested() && !signals.any())
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
      server.stop();
    });
    if (!quiet_)
      std::fputs(fmt::format("poet: serving at {} (Ctrl-C stops it)\n", server.url()).c_str(), stderr);
    server.run();
    return kAnswer;
  }
#else
  int run() override {
    throw InputError(
        "serve",
        "this poet was built without it (cmake -DPOET_SERVER=ON, which needs cpp-httplib and OpenSSL)");
  }
#endif

 private:
#ifdef POET_SERVER
  [[nodiscard]] server::ServerSettings settings() const {
    server::ServerSettings out;
    if (listen_) out.listen = server::parse_address("--listen", *listen_);
    out.data = data_ ? fs::path(*data_) : usual_data();
    out.program = program_file();
    out.workers = std::max<std::size_t>(std::thread::hardware_concurrency(), 2);
    if (workers_)
      out.workers =
          static_cast<std::size_t>(std::min<std::int64_t>(parse_count("--workers", *workers_), 256));
    if (tokens_) out.tokens = server::read_tokens(*tokens_);
    if (time_limit_) out.bounds.most_time = parse_duration("--time-limit", *time_limit_);
    out.bounds.usual_time = std::min(out.bounds.usual_time, out.bounds.most_time);
    if (threads_) out.bounds.most_threads = std::min<std::int64_t>(parse_count("--threads", *threads_), 256);
    if (memory_) out.memory_bytes = parse_bytes("--memory-limit", *memory_).value();
    if (uploads_) out.upload_bytes = parse_bytes("--upload-limit", *uploads_).value();
    if (queue_) {
      out.queue.jobs = static_cast<std::size_t>(parse_count("--queue-limit", *queue_));
      out.queue.jobs_of_client = std::max<std::size_t>(out.queue.jobs / 5, 1);
    }
    if (keep_) out.keep_days = static_cast<double>(parse_count("--keep-days", *keep_));
    return out;
  }
#endif

  std::optional<std::string> listen_, data_, workers_, tokens_, time_limit_, threads_, memory_, uploads_,
      queue_, keep_;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_serve(CommandLine& program) { return std::make_unique<Serve>(program); }

}  // namespace poet::cli
