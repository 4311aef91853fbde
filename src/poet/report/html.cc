#include "poet/report/html.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "poet/base/error.h"
#include "poet/report/page_template.h"
#include "poet/report/picture_json.h"

namespace poet {
namespace {

std::string title_of(const std::vector<Picture>& pictures) {
  std::string title;
  for (const Picture& picture : pictures) title += (title.empty() ? "" : ", ") + picture.title;
  return title;
}

}  // namespace

std::string html_page(const std::vector<Picture>& pictures) {
  ensure(!pictures.empty(), "a page shows a plan");
  return filled_page("report.html", [&](const std::string& name) -> std::optional<std::string> {
    if (name == "title") return html_escaped(title_of(pictures));
    if (name != "pictures") return std::nullopt;
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Picture& picture : pictures) list.push_back(picture_json(picture));
    return script_json(list);
  });
}

}  // namespace poet
