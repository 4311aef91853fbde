#include "poet/plan/plan_file.h"

#include <nlohmann/json.hpp>

#include "poet/base/error.h"
#include "poet/base/write_file.h"
#include "poet/cost/json_reader.h"
#include "poet/plan/json_text.h"

namespace poet {

void write_plan(const PlanFile& plan, const std::filesystem::path& file) {
  if (file.extension() == ".json") {
    write_file(file, text_of(to_json(plan), {"steps", "residences"}));
    return;
  }
  const std::vector<std::uint8_t> bytes = to_binary(plan);
  write_file(file, std::string(bytes.begin(), bytes.end()));
}

PlanFile read_plan(const std::filesystem::path& file) {
  const std::string text = read_text_file(file);
  if (text.rfind("POET", 0) == 0) return plan_from_binary({text.begin(), text.end()}, file.string());
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '{')
    throw InputError(file.string(), "is no plan file: begins neither with POET nor, as JSON, with {");
  return plan_from_json(parse_json(text, file.string()), file.string());
}

}  // namespace poet
