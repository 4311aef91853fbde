#include "bench/runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "poet/base/error.h"

namespace poet::bench {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

// The greedy search for the least RAM of 10,000 ops takes its time.
constexpr double kPreparationSeconds = 900;

volatile std::sig_atomic_t g_interrupted = 0;

double seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
}

double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

// A child, its pipe, and what became of it.
class Process {
 public:
  template <class Body>
  explicit Process(const Body& body) {
    std::array<int, 2> ends{};
    ensure(pipe2(ends.data(), O_CLOEXEC) == 0, "a pipe can be made");
    const pid_t parent = getpid();
    pid_ = fork();
    ensure(pid_ >= 0, "a process can be started");
    if (pid_ == 0) {
      // A group of its own: Ctrl-C on the terminal is the parent's to handle. What it starts goes with it.
      setpgid(0, 0);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(1);
      close(ends[0]);
      std::signal(SIGINT, SIG_IGN);
      std::signal(SIGTERM, SIG_DFL);
      std::signal(SIGPIPE, SIG_IGN);
      body(ends[1]);
      _exit(0);
    }
    setpgid(pid_, pid_);
    close(ends[1]);
    pipe_ = ends[0];
  }
  ~Process() {
    kill_group();
    wait();
    close(pipe_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  Process(Process&&) = delete;
  Process& operator=(Process&&) = delete;

  [[nodiscard]] int pipe() const { return pipe_; }

  void kill_group() const {
    if (pid_ > 0) kill(-pid_, SIGKILL);
  }

  // Solvers run in processes of their own, which may hold the pipe open after a crash of the child.
  [[nodiscard]] bool has_ended() const {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != 0;
  }

  // Exit status and use of resources, of what the child started as well.
  void wait() {
    if (pid_ <= 0) return;
    while (wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    pid_ = -1;
  }

  int status = 0;
  rusage usage{};

 private:
  pid_t pid_ = -1;
  int pipe_ = -1;
};

// What the child has told so far.
struct Told {
  std::optional<Clock::time_point> prepared_at;
  std::vector<Point> points;
  std::optional<Json> result;
};

void fail(Measurement& m, const std::string& status, const std::string& message) {
  m.status = status;
  m.message = message;
}

template <class T>
std::optional<T> optional_field(const Json& json, const char* field) {
  if (!json.contains(field) || json[field].is_null()) return std::nullopt;
  return json[field].get<T>();
}

void hear(const Json& line, Told& told, Measurement& m) {
  if (line.contains("prepared")) {
    const Json& facts = line["prepared"];
    told.prepared_at = Clock::now();
    m.ops = facts["ops"];
    m.ram_budget_bytes = facts["budget"].get<std::int64_t>();
    m.baseline_joules = facts["baseline"].get<double>();
    m.least_ram_bytes = optional_field<std::int64_t>(facts, "least");
    m.most_ram_bytes = optional_field<std::int64_t>(facts, "most");
    m.deadline_seconds = optional_field<double>(facts, "deadline");
  } else if (line.contains("point")) {
    Point point;
    point.seconds = line["point"][0];
    if (!line["point"][1].is_null()) point.joules = line["point"][1].get<double>();
    if (!line["point"][2].is_null()) point.bound = line["point"][2].get<double>();
    told.points.push_back(point);
  } else if (line.contains("result")) {
    told.result = line["result"];
  } else {
    fail(m, line.at("error").at("status"), line.at("error").at("message"));
  }
}

// Complete lines are heard and removed from the buffer.
void hear_lines(std::string& buffer, Told& told, Measurement& m) {
  std::size_t start = 0;
  for (std::size_t end = 0; (end = buffer.find('\n', start)) != std::string::npos; start = end + 1) {
    try {
      hear(Json::parse(buffer.substr(start, end - start)), told, m);
    } catch (const nlohmann::json::exception& error) {
      fail(m, "failed", fmt::format("unreadable report of the solve: {}", error.what()));
    }
  }
  buffer.erase(0, start);
}

enum class End { by_itself, overrun, interrupted };

// Until the child has told its result or has ended, its time is up, or the user has had enough.
End listen(Process& process, double limit_seconds, Told& told, Measurement& m) {
  const Clock::time_point start = Clock::now();
  std::string buffer;
  while (true) {
    if (interrupted()) return End::interrupted;
    const double allowed = told.prepared_at ? limit_seconds : kPreparationSeconds;
    const std::chrono::duration<double> used = Clock::now() - told.prepared_at.value_or(start);
    if (used.count() > allowed) return End::overrun;
    if (told.result || !m.status.empty()) return End::by_itself;
    pollfd end{process.pipe(), POLLIN, 0};
    const bool ended = process.has_ended();  // then what it wrote is in the pipe
    if (poll(&end, 1, ended ? 0 : 200) <= 0) {
      if (ended) return End::by_itself;
      continue;
    }
    std::array<char, 65536> chunk{};
    const ssize_t count = read(process.pipe(), chunk.data(), chunk.size());
    if (count == 0) return End::by_itself;
    if (count < 0) continue;
    buffer.append(chunk.data(), static_cast<std::size_t>(count));
    hear_lines(buffer, told, m);
  }
}

void take_result(const Json& result, Told& told, Measurement& m) {
  m.status = result["status"];
  m.message = result["message"];
  m.wall_seconds = result["wall"];
  m.nodes = result["nodes"];
  m.solver = result["solver"];
  m.bound_joules = optional_field<double>(result, "bound");
  m.energy_joules = optional_field<double>(result, "energy");
  m.overhead = optional_field<double>(result, "overhead");
  m.gap = optional_field<double>(result, "gap");
  m.peak_ram_bytes = optional_field<std::int64_t>(result, "peak_ram");
  if (m.energy_joules) {
    m.referee_accepts = true;  // compile() throws otherwise
    if (*m.energy_joules > 0 && m.bound_joules)
      m.energy_gap = std::max(0.0, (*m.energy_joules - *m.bound_joules) / *m.energy_joules);
    told.points.push_back({result["solve"], m.energy_joules, m.bound_joules});
  }
}

void explain_silence(End end, const Process& process, double limit_seconds, const Told& told,
                     Measurement& m) {
  if (end == End::overrun) {
    fail(m, "overrun",
         told.prepared_at ? fmt::format("killed {:.3g} s after it started", limit_seconds)
                          : fmt::format("preparing took more than {:.0f} s", kPreparationSeconds));
  } else if (WIFSIGNALED(process.status)) {
    fail(m, "crashed", strsignal(WTERMSIG(process.status)));
  } else {
    fail(m, "failed", fmt::format("ended without a result, exit code {}", WEXITSTATUS(process.status)));
  }
}

}  // namespace

bool interrupted() {
  static const bool installed = [] {
    struct sigaction action {};
    action.sa_handler = [](int) { g_interrupted = 1; };
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    return true;
  }();
  return installed && g_interrupted != 0;
}

std::optional<Measurement> measure(const Case& one, const Configuration& configuration, KnownRam& ram,
                                   const RunOptions& options) {
  if (interrupted()) return std::nullopt;
  Measurement m;
  m.set = one.set;
  m.name = one.name;
  m.fraction = one.fraction;
  m.configuration = label(configuration);
  m.time_limit_seconds = one.time_limit_seconds;
  m.load = load_average();

  Told told;
  const double limit = one.time_limit_seconds + options.grace_seconds;
  Process process([&](int pipe_end) { run_child(one, configuration, ram, options.child, pipe_end); });
  const End end = listen(process, limit, told, m);
  const Clock::time_point ended_at = Clock::now();
  process.kill_group();
  process.wait();
  if (end == End::interrupted) return std::nullopt;

  if (told.prepared_at) {
    m.wall_seconds = std::chrono::duration<double>(ended_at - *told.prepared_at).count();
    ram.budget = Bytes(*m.ram_budget_bytes);
    if (m.least_ram_bytes) ram.range = RamRange{Bytes(*m.least_ram_bytes), Bytes(*m.most_ram_bytes)};
  }
  if (told.result) {
    take_result(*told.result, told, m);
  } else if (m.status.empty()) {
    explain_silence(end, process, limit, told, m);
  }
  if (m.status == "rejected") m.referee_accepts = false;
  m.overrun_seconds = std::max(0.0, m.wall_seconds - one.time_limit_seconds);
  m.cpu_seconds = seconds(process.usage.ru_utime) + seconds(process.usage.ru_stime);
  m.peak_memory_bytes = std::int64_t{1024} * process.usage.ru_maxrss;
  digest(told.points, options.marks, m);
  return m;
}

}  // namespace poet::bench
