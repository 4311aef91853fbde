#pragma once

// Runs the command line program as a user does: arguments in, exit code, stdout and stderr out.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/paths.h"

namespace poet::test {

struct ProgramRun {
  int exit_code = -1;  // 128 + signal when a signal ended it
  std::string out;
  std::string err;

  [[nodiscard]] nlohmann::ordered_json json() const { return nlohmann::ordered_json::parse(out); }
};

/// Runs `arguments[0]` with the rest. When stderr first contains `interrupt_at`, if that is not empty, the
/// process gets SIGINT.
inline ProgramRun run_command(const std::vector<std::string>& arguments,
                              const std::string& interrupt_at = "") {
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (pipe(out.data()) != 0 || pipe(err.data()) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    for (const int end : {out[0], out[1], err[0], err[1]}) close(end);
    unsetenv("POET_DATA_DIR");
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  close(out[1]);
  close(err[1]);

  ProgramRun run;
  bool interrupted = interrupt_at.empty();
  std::array<pollfd, 2> ends = {pollfd{out[0], POLLIN, 0}, pollfd{err[0], POLLIN, 0}};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    if (poll(ends.data(), ends.size(), -1) < 0) break;
    for (pollfd& end : ends) {
      if (end.fd < 0 || end.revents == 0) continue;
      std::array<char, 4096> buffer{};
      const ssize_t count = read(end.fd, buffer.data(), buffer.size());
      if (count <= 0) {
        close(end.fd);
        end.fd = -1;
        continue;
      }
      (&end == ends.data() ? run.out : run.err).append(buffer.data(), static_cast<std::size_t>(count));
    }
    if (!interrupted && run.err.find(interrupt_at) != std::string::npos) {
      interrupted = true;
      kill(child, SIGINT);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return run;
}

#ifdef POET_TEST_PROGRAM
/// `poet` with these arguments, separated by spaces.
inline ProgramRun poet(const std::string& arguments) {
  // Hints name the program as it was called; under a path that differs from machine to machine.
  static const int as_installed = setenv("POET_CALLED_AS", "poet", 1);
  static_cast<void>(as_installed);
  std::vector<std::string> words = {program().string()};
  std::istringstream text(arguments);
  for (std::string word; text >> word;) words.push_back(word);
  return run_command(words);
}
#endif

/// A folder of its own for each test, gone at its end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::filesystem::path parent = std::filesystem::temp_directory_path();
    if (parent.string().find(' ') != std::string::npos) parent = "/tmp";  // poet() splits at blanks
    std::string name = (parent / "poet_test_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return file(name);
  }
  [[nodiscard]] bool empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::filesystem::path path_;
};

}  // namespace poet::test
