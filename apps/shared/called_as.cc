#include "apps/shared/called_as.h"

#include <cstdlib>

namespace poet::cli {
namespace {

std::string program_name = "poet";
std::string program_started = "/proc/self/exe";

}  // namespace

void set_called_as(const char* program, const std::filesystem::path& file) {
  program_started = file.string();
  const char* script = std::getenv("POET_CALLED_AS");
  const char* name = script != nullptr && *script != '\0' ? script : program;
  if (name != nullptr && *name != '\0') program_name = name;
}

std::string called_as() { return shell_word(program_name); }

std::filesystem::path program_file() { return std::filesystem::canonical(program_started); }

std::string shell_word(const std::string& text) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace poet::cli
