#include "poet/optimize/solvers/command.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "poet/base/error.h"
#include "poet/optimize/solvers/mps.h"

namespace poet {
namespace {

const Field kField{"file.command"};

std::string quoted(const std::string& text) {
  std::string out;
  out += '\'';
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  out += '\'';
  return out;
}

// Replaces all occurrences; says whether there was one.
bool replace_all(std::string& text, const std::string& what, const std::string& by) {
  bool any = false;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
    any = true;
  }
  return any;
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "poet_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw InputError(kField, "no temporary folder " + name + ": " + std::strerror(errno));
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  [[nodiscard]] std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

[[noreturn]] void be_shell(const char* command) {
  setpgid(0, 0);
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);  // the program may have blocked what a user's solver listens to
  if (const int null = open("/dev/null", O_RDWR); null >= 0) {
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
  }
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) std::signal(signal, SIG_DFL);
  execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
  _exit(127);
}

}  // namespace

std::string expand_command(const std::string& command, const std::string& mps, const std::string& solution,
                           double seconds) {
  std::string text = command;
  // {seconds} first: file names are taken as they are.
  replace_all(text, "{seconds}", std::to_string(std::lround(std::ceil(std::min(seconds, 1e9)))));
  const bool has_solution = text.find("{solution}") != std::string::npos;
  const bool has_mps = text.find("{mps}") != std::string::npos;
  if (!has_mps || !has_solution)
    throw InputError(kField, "must say where the files go: {mps} and {solution}");
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text.compare(at, 5, "{mps}") == 0) {
      out += quoted(mps);
      at += 5;
    } else if (text.compare(at, 10, "{solution}") == 0) {
      out += quoted(solution);
      at += 10;
    } else {
      out += text[at++];
    }
  }
  return out;
}

CommandEnd run_command(const std::string& expanded, double time_limit_seconds,
                       const std::function<bool()>& keep_going, int& exit_code) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const pid_t process = fork();
  if (process == 0) be_shell(expanded.c_str());
  if (process < 0) throw InputError(kField, std::string("cannot be run: ") + std::strerror(errno));
  setpgid(process, process);  // both sides do, so that it holds before either goes on
  const auto end = [process] {
    kill(-process, SIGKILL);
    while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) continue;
  };
  std::chrono::milliseconds pause{1};
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(process, &status, WNOHANG);
    if (ended == process) {
      exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      return CommandEnd::ended;
    }
    if (ended < 0 && errno != EINTR) throw InputError(kField, "its end was missed: wait failed");
    bool go_on = false;
    try {
      go_on = std::chrono::duration<double>(Clock::now() - start).count() < time_limit_seconds &&
              (!keep_going || keep_going());
    } catch (...) {
      end();
      throw;
    }
    if (!go_on) {
      end();
      return CommandEnd::stopped;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds{20});
  }
}

SolutionFile ask_command(const Model& model, const ColumnNames& names,
                         const std::vector<std::string>& comments, const FileSolver& files,
                         double time_limit_seconds, const std::function<bool()>& keep_going) {
  const TemporaryFolder folder;
  const std::string mps = files.mps.empty() ? folder.file("model.mps") : files.mps;
  const std::string solution = files.solution.empty() ? folder.file("model.sol") : files.solution;
  const std::string command = expand_command(files.command, mps, solution, time_limit_seconds);
  write_mps_file(mps, model, names, comments);
  std::error_code ignored;
  std::filesystem::remove(solution, ignored);  // an old answer is none
  int exit_code = 0;
  const CommandEnd end = run_command(command, time_limit_seconds, keep_going, exit_code);
  std::ifstream in(solution);
  if (!in) {
    if (end == CommandEnd::stopped) return {};
    throw InputError(kField, "wrote no solution file; its exit code is " + std::to_string(exit_code));
  }
  try {
    return read_solution(in, names, solution);
  } catch (const InputError&) {
    if (end == CommandEnd::stopped) return {};  // in the middle of writing
    throw;
  }
}

MipResult solve_by_command(const Model& model, const MipOptions& options) {
  const auto keep_going = [&] { return !options.keep_going || options.keep_going(kInfinity, -kInfinity); };
  SolutionFile answer =
      ask_command(model, plain_names(model), {}, options.file, options.time_limit_seconds, keep_going);
  MipResult result;
  // Solvers are content with a little less than what is asked for.
  constexpr double kTolerance = 1e-5;
  if (!answer.has_solution || violation(model, answer.x) > kTolerance) return result;
  result.x = std::move(answer.x);
  result.objective = model.cost_constant;
  for (std::size_t c = 0; c < result.x.size(); ++c) result.objective += model.cost[c] * result.x[c];
  result.status = MipResult::Status::feasible;
  return result;
}

}  // namespace poet
