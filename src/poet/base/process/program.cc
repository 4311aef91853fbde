#include "poet/base/process/program.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "poet/base/error.h"

namespace poet {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

/// False, with errno, where the file cannot be opened.
bool redirect(int stream, const std::filesystem::path& file, int flags) {
  if (file.empty()) return true;
  const int opened = open(file.c_str(), flags | O_CLOEXEC, 0600);
  return opened >= 0 && dup2(opened, stream) >= 0;
}

}  // namespace

ChildEnd run_program(const ProgramCall& call, double time_limit_seconds,
                     const std::function<bool()>& keep_going) {
  std::vector<std::string> arguments = call.arguments;
  std::vector<std::string> variables = call.environment.value_or(std::vector<std::string>());
  const std::vector<char*> argument_list = pointers(arguments);
  std::vector<char*> variable_list = pointers(variables);
  char** environment = call.environment ? variable_list.data() : environ;
  // No more than what is allowed between fork() and exec(): other threads' locks may be held.
  const ChildWork become = [&](Parent&) {
    constexpr int kReplace = O_WRONLY | O_CREAT | O_TRUNC;
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) (void)std::signal(signal, SIG_DFL);
    if (call.is_background) (void)!nice(10);
    if ((call.folder.empty() || chdir(call.folder.c_str()) == 0) &&
        redirect(STDIN_FILENO, call.input, O_RDONLY) && redirect(STDOUT_FILENO, call.output, kReplace) &&
        redirect(STDERR_FILENO, call.messages, kReplace))
      execvpe(argument_list[0], argument_list.data(), environment);
    return errno;
  };
  Child child(become, {Streams::quiet, true, call.memory_limit_bytes});
  const double start = limit_seconds(child, call.limits_work);
  // The connection closes when the program takes over; the child speaks only if it has not.
  for (std::chrono::milliseconds pause{1}; !child.has_ended();) {
    if (limit_seconds(child, call.limits_work) - start >= time_limit_seconds ||
        (keep_going && !keep_going())) {
      ChildEnd end = child.kill();
      end.how = ChildEnd::How::stopped;
      return end;
    }
    if (child.open())
      (void)child.receive(0.02);
    else
      std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds{20});
  }
  (void)child.receive(0);
  ChildEnd end = child.kill();
  if (end.how == ChildEnd::How::finished)
    throw InputError(call.arguments.front(), std::string("cannot be run: ") + std::strerror(end.exit_code));
  end.how = ChildEnd::How::finished;
  if (end.signal != 0) end.exit_code = 128 + end.signal;
  return end;
}

}  // namespace poet
