#include "poet/pipeline/ram_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/base/parse_amounts.h"

namespace poet {
namespace {

bool says_least(std::string word) {
  std::ranges::transform(word, word.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word == "least";
}

}  // namespace

RamBudget parse_ram_budget(const std::string& option, const std::string& text) {
  constexpr const char* kBlank = " \t";
  const std::size_t first = text.find_first_not_of(kBlank);
  const std::size_t last = text.find_last_not_of(kBlank);
  if (first != std::string::npos && says_least(text.substr(first, last + 1 - first))) return LeastRam{};
  if (last == std::string::npos || text[last] != '%')
    return parse_bytes(option, text, "is not an amount of RAM (try 300KiB, 2MB, 737719, 50% or least)");
  RamOfKeepAll budget;
  try {
    budget.part = parse_factor(option, text.substr(0, last)) / 100;
  } catch (const InputError&) {
    throw InputError(option, fmt::format("\"{}\" is no percentage above 0", text));
  }
  if (budget.part > 1)
    throw InputError(option, fmt::format("\"{}\" is more than 100%, with which everything is kept", text));
  return budget;
}

std::vector<RamBudget> parse_ram_budgets(const std::string& option, const std::string& text) {
  std::vector<RamBudget> budgets;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string item = text.substr(begin, end - begin);
    if (item.empty() && text.size() > item.size()) throw InputError(option, "has an empty item");
    budgets.push_back(parse_ram_budget(option, item));
    begin = end + 1;
  }
  return budgets;
}

std::string note_of(const RamBudget& asked, Bytes keep_all, Bytes bytes) {
  if (std::holds_alternative<DeviceRam>(asked))
    return "the RAM budget is all of the device's RAM; `ram_budget` sets another";
  const RamOfKeepAll* of = std::get_if<RamOfKeepAll>(&asked);
  if (of == nullptr) return {};
  return fmt::format("{:.10g}% of the {} that keeping everything takes before operators are split is {}",
                     100 * of->part, format_bytes(keep_all), format_bytes(bytes));
}

}  // namespace poet
