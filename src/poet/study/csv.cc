#include "poet/study/csv.h"

#include <fmt/format.h>

#include "poet/base/error.h"

namespace poet {
namespace {

std::string cell(const std::string& text) { return csv_cell(text); }
std::string cell(double number) { return fmt::format("{}", number); }
std::string cell(std::int64_t number) { return fmt::format("{}", number); }
template <class T>
std::string cell(const std::optional<T>& value) {
  return value ? cell(*value) : "";
}

}  // namespace

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_text(std::span<const SweepResult> results, std::span<const ParetoFlags> flags) {
  ensure(results.size() == flags.size(), "as many Pareto flags as results");
  std::string text;
  const SweepResult heading;
  visit_fields(heading, [&text](const char* name, const auto&) { text += fmt::format("{},", name); });
  text += "pareto_energy_ram,pareto_energy_time,pareto_energy_ram_of_method,pareto_energy_time_of_method\n";
  for (std::size_t i = 0; i < results.size(); ++i) {
    visit_fields(results[i], [&text](const char*, const auto& field) { text += cell(field) + ","; });
    text += fmt::format("{:d},{:d},{:d},{:d}\n", flags[i].energy_ram, flags[i].energy_time,
                        flags[i].energy_ram_of_method, flags[i].energy_time_of_method);
  }
  return text;
}

}  // namespace poet
