#include "poet/report/gnuplot.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include "poet/base/error.h"
#include "poet/base/process/program.h"
#include "poet/base/temporary_folder.h"
#include "poet/base/text.h"
#include "poet/base/write_file.h"

namespace poet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlace = "gnuplot";

std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad() || text.bad()) return {};
  return text.str();
}

/// Whether the figure has its end: gnuplot does not say so where the disk was full.
bool is_whole(std::string_view figure) {
  if (figure.starts_with("\x89PNG")) return figure.ends_with("IEND\xae\x42\x60\x82");
  if (figure.starts_with("%PDF")) return figure.ends_with("%%EOF\n") || figure.ends_with("%%EOF");
  const std::size_t end = figure.find_last_not_of(" \n");
  return end != std::string_view::npos && figure.substr(0, end + 1).ends_with("</svg>");
}

/// Ours without what would change the picture; a fixed date for those who write one into a file.
std::vector<std::string> environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const bool changes = text.starts_with("GNUPLOT") || text.starts_with("GNUTERM=") ||
                         text.starts_with("LC_") || text.starts_with("LANG=") || text.starts_with("TZ=") ||
                         text.starts_with("SOURCE_DATE_EPOCH=");
    if (!changes) variables.emplace_back(text);
  }
  variables.emplace_back("LC_ALL=C.UTF-8");
  variables.emplace_back("TZ=UTC0");
  variables.emplace_back("SOURCE_DATE_EPOCH=0");
  return variables;
}

/// In one line, the first that says something.
std::string first_message(const fs::path& folder) {
  std::string message;
  for (std::string& line : pieces_of(read_file(folder / "messages"), '\n')) {
    line.erase(0, line.find_first_not_of(" \t^"));
    if (line.find("line ") != std::string::npos) return line;
    if (message.empty()) message = line;
  }
  return message.empty() ? "no message" : message;
}

}  // namespace

bool has_gnuplot() {
  const char* path = std::getenv("PATH");
  const std::vector<std::string> folders = pieces_of(path == nullptr ? "" : path, ':');
  return std::any_of(folders.begin(), folders.end(), [](const std::string& folder) {
    return access((fs::path(folder) / "gnuplot").c_str(), X_OK) == 0;
  });
}

std::string run_gnuplot(const std::string& script) {
  if (!has_gnuplot()) {
    throw InputError(kPlace,
                     "is not installed, and draws svg, png and pdf figures: apt-get install gnuplot-nox, or "
                     "write a .gp file and draw that elsewhere");
  }
  const TemporaryFolder folder(kPlace);
  write_file(folder.path() / "script", script);
  ProgramCall gnuplot;
  gnuplot.arguments = {kPlace, "-d"};  // -d: without the user's settings
  gnuplot.folder = folder.path();
  gnuplot.input = "script";
  gnuplot.messages = "messages";
  gnuplot.environment = environment();
  const int exit_code = run_program(gnuplot).exit_code;
  std::string figure = read_file(folder.path() / "figure");
  if (exit_code != 0 || figure.empty()) {
    throw InputError(kPlace,
                     "failed, exit code " + std::to_string(exit_code) + ": " + first_message(folder.path()));
  }
  if (!is_whole(figure))
    throw InputError(kPlace,
                     "its figure has no end: is there room in " + folder.path().parent_path().string() + "?");
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
