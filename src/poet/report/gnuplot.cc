#include "poet/report/gnuplot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include "poet/base/error.h"
#include "poet/base/write_file.h"

extern char** environ;  // NOLINT: POSIX wants it declared

namespace poet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlace = "gnuplot";

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "poet_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw InputError(kPlace, "no temporary folder " + name + ": " + std::strerror(errno));
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Ours without what would change the picture; a fixed date for those who write one into a file.
std::vector<std::string> environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const bool changes = text.starts_with("GNUPLOT") || text.starts_with("GNUTERM=") ||
                         text.starts_with("LC_") || text.starts_with("LANG=") ||
                         text.starts_with("SOURCE_DATE_EPOCH=");
    if (!changes) variables.emplace_back(text);
  }
  variables.emplace_back("LC_ALL=C.UTF-8");
  variables.emplace_back("SOURCE_DATE_EPOCH=0");
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

/// What a child gets: its folder, its input, its messages, and signals as they are by default.
class SpawnSettings {
 public:
  explicit SpawnSettings(const fs::path& folder) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, (folder / "script").c_str(), O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, (folder / "messages").c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
    posix_spawnattr_init(&attributes_);
    sigset_t defaults;
    sigemptyset(&defaults);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&defaults, signal);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  SpawnSettings(SpawnSettings&&) = delete;
  SpawnSettings& operator=(SpawnSettings&&) = delete;

  [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }
  [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// gnuplot's exit code, 128 + the signal where one ended it.
int run_in(const fs::path& folder) {
  std::vector<std::string> arguments = {"gnuplot", "-d"};  // -d: without the user's settings
  std::vector<std::string> variables = environment();
  const SpawnSettings settings(folder);
  pid_t process = 0;
  const int error =
      posix_spawnp(&process, arguments.front().c_str(), settings.actions(), settings.attributes(),
                   pointers(arguments).data(), pointers(variables).data());
  if (error == ENOENT) {
    throw InputError(kPlace,
                     "is not installed, and draws svg, png and pdf figures: apt-get install gnuplot-nox, or "
                     "write a .gp file and draw that elsewhere");
  }
  if (error != 0) throw InputError(kPlace, std::string("cannot be run: ") + std::strerror(error));
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) throw InternalError("the end of gnuplot was missed");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// In one line, the first that says something.
std::string first_message(const fs::path& folder) {
  std::istringstream lines(read_file(folder / "messages"));
  std::string message;
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(" \t^"));
    if (line.find("line ") != std::string::npos) return line;
    if (message.empty()) message = line;
  }
  return message.empty() ? "no message" : message;
}

}  // namespace

bool has_gnuplot() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((fs::path(folder) / "gnuplot").c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string run_gnuplot(const std::string& script) {
  const TemporaryFolder folder;
  write_file(folder.path() / "script", script);
  const int exit_code = run_in(folder.path());
  std::string figure = read_file(folder.path() / "figure");
  if (exit_code != 0 || figure.empty()) {
    throw InputError(kPlace,
                     "failed, exit code " + std::to_string(exit_code) + ": " + first_message(folder.path()));
  }
  return figure;
}

std::string gnuplot_string(const std::string& text) {
  // Single quotes would do for most, but two of them at the beginning are an empty string.
  const std::string_view harmless = " ()+,-./:;<=>?[]_";
  std::string out = "\"";
  bool escaped = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool is_digit = std::isdigit(byte) != 0;
    const bool as_it_is = byte >= 0x80 || std::isalpha(byte) != 0 || is_digit ||
                          harmless.find(text[i]) != std::string_view::npos;
    // A digit would become part of the number before it.
    escaped = !as_it_is || (is_digit && escaped);
    // What ends a section in XML may not occur in a text, and gnuplot does not know that.
    if (text[i] == '>' && i >= 2 && text.compare(i - 2, 2, "]]") == 0) out += ' ';
    out += escaped ? fmt::format("\\{:03o}", byte) : std::string(1, text[i]);
  }
  return out + "\"";
}

}  // namespace poet
