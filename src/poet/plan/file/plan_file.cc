#include "poet/plan/file/plan_file.h"

#include <nlohmann/json.hpp>

#include "poet/base/error.h"
#include "poet/base/write_file.h"
#include "poet/cost/json_reader.h"
#include "poet/plan/file/json_text.h"

namespace poet {
namespace {

void write_bytes(const std::vector<std::uint8_t>& bytes, const std::filesystem::path& file) {
  write_file(file, std::string(bytes.begin(), bytes.end()));
}

}  // namespace

void write_plan(const PlanFile& plan, const std::filesystem::path& file) {
  if (file.extension() == ".json") {
    write_file(file, text_of(to_json(plan), {"steps", "allocations"}));
    return;
  }
  write_bytes(to_binary(plan), file);
}

void write_device_image(const PlanFile& plan, const std::filesystem::path& file) {
  write_bytes(to_device_image(plan), file);
}

PlanFile plan_from_text(const std::string& text, const std::string& place) {
  if (text.empty()) throw InputError(place, "is empty");
  if (text.rfind("POET", 0) == 0) return plan_from_binary({text.begin(), text.end()}, place);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '{')
    throw InputError(place, "is no plan file: begins neither with POET nor, as JSON, with {");
  return plan_from_json(parse_json(text, place), place);
}

PlanFile read_plan(const std::filesystem::path& file) {
  return plan_from_text(read_text_file(file), file.string());
}

}  // namespace poet
