#pragma once

// Programs that run beside the test, and what Linux knows of their processes.

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace poet::test {

inline std::string file_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// Waits until `condition()` holds; whether it does. `seconds`: after which nothing else is to be expected,
/// on any machine.
template <class Condition>
bool wait_until(const Condition& condition, double seconds = 600) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

/// The parent of a process, if it has not ended. Whether somebody has waited for one that has does not
/// matter: in a container it may be that nobody ever does.
inline std::optional<pid_t> parent_of(pid_t process) {
  // "pid (name) state ppid ..."; the name may hold anything.
  const std::string stat = file_text("/proc/" + std::to_string(process) + "/stat");
  const std::size_t after_name = stat.rfind(')');
  if (after_name == std::string::npos) return std::nullopt;
  std::istringstream rest(stat.substr(after_name + 1));
  char state = 0;
  pid_t parent = 0;
  if (!(rest >> state >> parent)) return std::nullopt;
  long threads = 0;  // the first may be a zombie while others still end
  for (int field = 5; field <= 20; ++field) rest >> threads;
  if ((state == 'Z' || state == 'X') && threads <= 1) return std::nullopt;
  return parent;
}

inline bool is_gone(pid_t process) { return !parent_of(process); }

/// The processes whose parent is `parent`.
inline std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const pid_t process = std::stoi(name);
    if (parent_of(process) == parent) children.push_back(process);
  }
  return children;
}

/// A program with stdout and stderr in a file; killed at the end of its scope if it still runs.
class Background {
 public:
  Background(const std::vector<std::string>& arguments, std::string output) : output_(std::move(output)) {
    process_ = fork();
    if (process_ != 0) return;
    const int file = open(output_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    unsetenv("POET_DATA_DIR");
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  ~Background() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    (void)wait();
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  Background(Background&&) = delete;
  Background& operator=(Background&&) = delete;

  [[nodiscard]] pid_t id() const { return process_; }
  [[nodiscard]] std::string output() const { return file_text(output_); }
  void send(int signal) const { kill(process_, signal); }

  /// Its exit code, or 128 + the signal that ended it.
  int wait() {
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t process_ = 0;
  std::string output_;
};

}  // namespace poet::test
