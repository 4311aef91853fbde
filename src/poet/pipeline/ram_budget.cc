#include "poet/pipeline/ram_budget.h"

#include <fmt/format.h>

#include "poet/base/error.h"
#include "poet/base/parse_amounts.h"

namespace poet {

RamBudget parse_ram_budget(const std::string& option, const std::string& text) {
  RamBudget budget;
  const std::size_t last = text.find_last_not_of(" \t");
  if (last == std::string::npos || text[last] != '%') {
    budget.bytes = parse_bytes(option, text);
    return budget;
  }
  try {
    budget.of_keep_all = parse_factor(option, text.substr(0, last)) / 100;
  } catch (const InputError&) {
    throw InputError(option, fmt::format("\"{}\" is no percentage above 0", text));
  }
  return budget;
}

}  // namespace poet
