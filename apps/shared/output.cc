#include "apps/shared/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "apps/shared/terminal.h"
#include "poet/base/error.h"
#include "poet/cost/json_reader.h"
#include "poet/report/page_template.h"

namespace poet::cli {

void print_answer(const std::string& text) {
  (void)std::fflush(stdout);  // what was printed otherwise comes first
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (count > 0) done += static_cast<std::size_t>(count);
    if (count >= 0 || errno == EINTR) continue;  // Ctrl-C is dealt with elsewhere
    if (errno == EPIPE) return;
    throw InputError("stdout", std::string("cannot be written: ") + std::strerror(errno));
  }
}

void print_text(const std::string& text) { print_answer(fitted_lines(text)); }

void print_answer(const nlohmann::ordered_json& json) { print_answer(json_text(json, 2) + "\n"); }

void check_writable(const std::string& option, const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path path(file);
  std::error_code error;
  if (path.empty() || !path.has_filename())
    throw InputError(option, "\"" + file + "\" is not the name of a file");
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, error)) throw InputError(option, "no such folder: " + folder.string());
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    throw InputError(option, "folder " + folder.string() + " cannot be written: " + std::strerror(errno));
  }
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw InputError(option, "\"" + file + "\" is not a regular file");
  }
}

void check_page(const std::string& option, const std::string& file) {
  if (std::filesystem::path(file).extension() != ".html")
    throw InputError(option, "\"" + file + "\" must end in .html");
  check_writable(option, file);
  check_web_libraries();
}

void mention_stale(const std::string& option, const std::string& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return;
  const std::string said = "poet: " + option + ": " + file + " was there before and is left as it was";
  std::fputs(message_text(said, stderr).c_str(), stderr);
}

}  // namespace poet::cli
