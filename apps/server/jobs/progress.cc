#include "apps/server/jobs/progress.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "poet/base/error.h"
#include "poet/cost/json_reader.h"

namespace poet::server {

std::optional<std::string> ProgressReader::news() {
  std::ifstream file(file_);
  if (!file) return std::nullopt;
  file.seekg(read_);
  bool any = false;
  for (std::string line; std::getline(file, line) && !file.eof();) {  // whole lines only
    read_ += static_cast<std::streamoff>(line.size()) + 1;
    try {
      nlohmann::ordered_json json = parse_json(line, "progress");
      if (json.contains("row")) {
        rows_ += (rows_.empty() ? "" : ",") + json_text(json["row"]);
        json.erase("row");
      }
      latest_ = json_text(json);
      any = true;
    } catch (const InputError&) {  // a line that is no line of ours tells nothing
    }
  }
  if (!any) return std::nullopt;
  if (rows_.empty()) return latest_;
  std::string text = latest_;
  text.insert(text.size() - 1, (text.size() > 2 ? ",\"rows\":[" : "\"rows\":[") + rows_ + "]");
  return text;
}

}  // namespace poet::server
