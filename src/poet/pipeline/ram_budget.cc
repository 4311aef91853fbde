#include "poet/pipeline/ram_budget.h"

#include <fmt/format.h>

#include <algorithm>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/base/nearest.h"
#include "poet/base/parse_amounts.h"
#include "poet/pipeline/pose.h"

namespace poet {
namespace {

Bytes part_of(Bytes whole, double part) {
  // At 1 exactly the whole: the product of a whole number below 2^53 with 1 is itself.
  return Bytes(static_cast<std::int64_t>(part * static_cast<double>(whole.value())));
}

}  // namespace

RamBudget parse_ram_budget(const std::string& place, const std::string& text, BudgetSource source) {
  if (source == BudgetSource::sweep) {
    if (!text.ends_with('%')) return parse_bytes(place, text);
    const RamOfKeepAll budget{parse_fraction(place, text)};
    if (budget.part <= 0) throw InputError(place, "must be above 0%");
    return budget;
  }
  constexpr const char* kBlank = " \t";
  const std::size_t end = text.find_last_not_of(kBlank) + 1;  // 0 of blanks alone
  const std::size_t begin = std::min(text.find_first_not_of(kBlank), end);
  if (same_name(text.substr(begin, end - begin), "least")) return LeastRam{};
  if (end == 0 || text[end - 1] != '%')
    return parse_bytes(place, text, "is not an amount of RAM (try 300KiB, 2MB, 737719, 50% or least)");
  RamOfKeepAll budget;
  try {
    budget.part = parse_factor(place, text.substr(0, end - 1)) / 100;
  } catch (const InputError&) {
    throw InputError(place, fmt::format("\"{}\" is no percentage above 0", text));
  }
  if (budget.part > 1)
    throw InputError(place, fmt::format("\"{}\" is more than 100%, with which everything is kept", text));
  return budget;
}

Bytes resolve_ram_budget(const RamBudget& budget, const Workload& workload, const Figures* figures) {
  if (const Bytes* bytes = std::get_if<Bytes>(&budget)) return *bytes;
  if (const auto* of = std::get_if<RamOfKeepAll>(&budget))  // of which the smallest part is a byte: that
    return std::max(Bytes(1), part_of(workload.whole_keep_all, of->part));  // none is enough is an answer
  if (std::holds_alternative<DeviceRam>(budget) && workload.device) return workload.device->ram;
  if (std::holds_alternative<DeviceRam>(budget))
    throw InputError(
        Field{"ram_budget"},
        "is needed: how much RAM the step may use (300KiB, 2MB, 50%); an instance file does not say "
        "how much its device has");
  if (figures == nullptr) return Bytes(0);
  const auto* above = std::get_if<RamAboveFloor>(&budget);
  if (above == nullptr)
    throw InputError(Field{"ram_budget"}, "least has to be replaced by what least_budget() finds");
  const Bytes floor = figures->floor.bytes();
  return floor + part_of(figures->keep_all.peak_ram - floor, above->fraction);
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
