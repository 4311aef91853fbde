#include "poet/report/html.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "poet/base/data_dir.h"
#include "poet/base/error.h"
#include "poet/cost/json_reader.h"
#include "poet/report/bundle.h"
#include "poet/report/picture_json.h"

namespace poet {
namespace {

namespace fs = std::filesystem;

/// The folder that holds the libraries.
fs::path library_folder() {
  const std::optional<fs::path> charts = web_library("echarts.min.js");
  if (charts && web_library("dagre.min.js")) return charts->parent_path();
  throw InputError(
      "web page",
      fmt::format("ECharts and dagre could not be had from npm when poet was built: install npm, then run "
                  "\"cmake --build {} --target poet_web_libraries\" (an SVG figure or `text` needs nothing)",
                  fs::path(POET_WEB_LIBRARIES).parent_path().string()));
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string escaped(std::string text) {
  text = replace_all(std::move(text), "&", "&amp;");
  text = replace_all(std::move(text), "<", "&lt;");
  text = replace_all(std::move(text), ">", "&gt;");
  return replace_all(std::move(text), "\"", "&quot;");
}

/// JSON for a script element: what could end the element or open a comment is written as an escape.
std::string pictures_json(const std::vector<Picture>& pictures) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Picture& picture : pictures) list.push_back(picture_json(picture));
  std::string text = json_text(list);
  text = replace_all(std::move(text), "<", "\\u003c");
  text = replace_all(std::move(text), ">", "\\u003e");
  return replace_all(std::move(text), "&", "\\u0026");
}

/// Text of a script or style as it may stand inside its element. In those that parse, "</" before a name and
/// "<!--" are found in strings, regular expressions and comments only, where a backslash more changes
/// nothing.
std::string inlined(std::string text) {
  text = replace_all(std::move(text), "</s", "<\\/s");
  text = replace_all(std::move(text), "</S", "<\\/S");
  return replace_all(std::move(text), "<!--", "<\\!--");
}

std::string title_of(const std::vector<Picture>& pictures) {
  std::string title;
  for (const Picture& picture : pictures) title += (title.empty() ? "" : ", ") + picture.title;
  return title;
}

}  // namespace

std::optional<fs::path> web_library(const std::string& name) {
  std::error_code ignored;
  std::vector<fs::path> folders = {data_dir() / "report"};
  if (runs_from_build()) folders.emplace_back(POET_WEB_LIBRARIES);
  for (const fs::path& folder : folders)
    if (fs::is_regular_file(folder / name, ignored)) return folder / name;
  return std::nullopt;
}

std::string html_page(const std::vector<Picture>& pictures) {
  ensure(!pictures.empty(), "a page shows a plan");
  const fs::path own = data_dir() / "report";
  const fs::path libraries = library_folder();
  const auto part = [&](const std::string& name) {
    if (name == "title") return escaped(title_of(pictures));
    if (name == "pictures") return pictures_json(pictures);
    if (name == "page.js") return inlined(bundle(own / name));
    const bool is_ours = !name.starts_with("echarts.") && !name.starts_with("dagre.");
    std::string text = page_text((is_ours ? own : libraries) / name);
    return name.ends_with(".txt") ? escaped(std::move(text)) : inlined(std::move(text));
  };

  // Every {{name}} of the template is replaced once; what is put in is not looked at again.
  const std::string page = page_text(own / "report.html");
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = page.find("{{"); at != std::string::npos; at = page.find("{{", done)) {
    const std::size_t end = page.find("}}", at);
    if (end == std::string::npos) break;
    out.append(page, done, at - done);
    out += part(page.substr(at + 2, end - at - 2));
    done = end + 2;
  }
  return out.append(page, done);
}

}  // namespace poet
