#include "poet/report/page_template.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "poet/base/data_dir.h"
#include "poet/base/error.h"
#include "poet/cost/json_reader.h"
#include "poet/report/bundle.h"

namespace poet {
namespace {

namespace fs = std::filesystem;

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// Text of a script or style as it may stand inside its element. In those that parse, "</" before a name and
/// "<!--" are found in strings, regular expressions and comments only, where a backslash more changes
/// nothing.
std::string inlined(std::string text) {
  text = replace_all(std::move(text), "</s", "<\\/s");
  text = replace_all(std::move(text), "</S", "<\\/S");
  return replace_all(std::move(text), "<!--", "<\\!--");
}

/// The folder that holds the libraries.
fs::path library_folder() {
  check_web_libraries();
  return web_library("echarts.min.js")->parent_path();
}

/// A file that the template names, but another template.
std::string part_of_page(const std::string& name) {
  constexpr std::string_view kBundle = "bundle ";
  const fs::path own = data_dir() / "report";
  if (name.starts_with(kBundle)) return inlined(bundle(own / name.substr(kBundle.size())));
  const bool is_ours = !name.starts_with("echarts.") && !name.starts_with("dagre.");
  std::string text = page_text((is_ours ? own : library_folder()) / name);
  return name.ends_with(".txt") ? html_escaped(std::move(text)) : inlined(std::move(text));
}

std::string without_last_newline(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

std::optional<fs::path> web_library(const std::string& name) {
  std::error_code ignored;
  std::vector<fs::path> folders = {data_dir() / "report"};
  if (const std::optional<fs::path> own = own_data_dir()) folders.push_back(*own / "report");
  if (runs_from_build()) folders.emplace_back(POET_WEB_LIBRARIES);
  for (const fs::path& folder : folders)
    if (fs::is_regular_file(folder / name, ignored)) return folder / name;
  return std::nullopt;
}

bool has_web_libraries() { return web_library("echarts.min.js") && web_library("dagre.min.js"); }

void check_web_libraries() {
  if (has_web_libraries()) return;
  if (!runs_from_build())
    throw InputError("web page",
                     "this installation lacks ECharts and dagre, which npm brings when poet is built (an SVG "
                     "figure or `text` needs neither)");
  throw InputError(
      "web page",
      fmt::format("ECharts and dagre could not be had from npm when poet was built: install npm, then run "
                  "\"cmake --build {} --target poet_web_libraries\" (an SVG figure or `text` needs nothing)",
                  fs::path(POET_WEB_LIBRARIES).parent_path().string()));
}

std::string html_escaped(std::string text) {
  text = replace_all(std::move(text), "&", "&amp;");
  text = replace_all(std::move(text), "<", "&lt;");
  text = replace_all(std::move(text), ">", "&gt;");
  return replace_all(std::move(text), "\"", "&quot;");
}

std::string script_json(const nlohmann::ordered_json& json) {
  std::string text = json_text(json);
  text = replace_all(std::move(text), "<", "\\u003c");
  text = replace_all(std::move(text), ">", "\\u003e");
  return replace_all(std::move(text), "&", "\\u0026");
}

std::string filled_page(const std::string& page_template, const PageParts& parts) {
  const std::string page = page_text(data_dir() / "report" / page_template);
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = page.find("{{"); at != std::string::npos; at = page.find("{{", done)) {
    const std::size_t end = page.find("}}", at);
    if (end == std::string::npos) break;
    out.append(page, done, at - done);
    const std::string name = page.substr(at + 2, end - at - 2);
    if (std::optional<std::string> own = parts(name))
      out += *own;
    else if (name.ends_with(".html"))
      out += without_last_newline(filled_page(name, parts));
    else
      out += part_of_page(name);
    done = end + 2;
  }
  return out.append(page, done);
}

}  // namespace poet
