#include "apps/server/jobs/progress.h"

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "poet/base/error.h"
#include "poet/cost/json_reader.h"

namespace poet::server {
namespace {

/// What a curve is drawn of: clients get all rows so far with every change.
nlohmann::ordered_json in_short(const nlohmann::ordered_json& row) {
  constexpr std::array<const char*, 17> kFields = {"network",
                                                   "platform",
                                                   "batch_size",
                                                   "ram",
                                                   "deadline",
                                                   "method",
                                                   "verdict",
                                                   "reason",
                                                   "ram_budget_bytes",
                                                   "deadline_seconds",
                                                   "energy_joules",
                                                   "bound_joules",
                                                   "baseline_joules",
                                                   "runtime_seconds",
                                                   "keep_all_peak_ram_bytes",
                                                   "part_bytes",
                                                   "ops"};
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const char* name : kFields)
    if (row.contains(name)) out[name] = row[name];
  return out;
}

}  // namespace

std::optional<std::string> ProgressReader::next_update() {
  std::ifstream file(file_);
  if (!file) return std::nullopt;
  file.seekg(read_);
  bool any = false;
  for (std::string line; std::getline(file, line) && !file.eof();) {  // whole lines only
    read_ += static_cast<std::streamoff>(line.size()) + 1;
    try {
      nlohmann::ordered_json json = parse_json(line, "progress");
      if (json.contains("row")) {
        rows_ += (rows_.empty() ? "" : ",") + json_text(in_short(json["row"]));
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
