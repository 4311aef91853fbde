#include "poet/plan/layout/addresses.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "poet/base/error.h"
#include "poet/cost/json_reader.h"
#include "poet/plan/file/bytes_out.h"

namespace poet {

std::vector<std::uint8_t> addresses_of(const Layout& layout, Bytes alignment) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  std::int64_t unit = 0;
  std::int64_t highest = 0;
  for (const Allocation& allocation : layout.allocations) {
    unit = std::gcd(unit, allocation.offset);
    highest = std::max(highest, allocation.offset);
  }
  if (unit == 0) unit = alignment.value();
  if (unit > kMost) unit = std::gcd(unit, std::int64_t{1} << 31);
  highest /= unit;
  ensure(highest <= kMost, "an address is a number of units below 2^32");
  int width = 1;
  while (highest >> (8 * width) > 0) ++width;
  BytesOut out;
  out.varint(static_cast<std::uint64_t>(unit));
  out.varint(layout.allocations.size());
  out.number(static_cast<std::uint64_t>(width), 1);
  for (const Allocation& allocation : layout.allocations)
    out.number(static_cast<std::uint64_t>(allocation.offset / unit), width);
  return out.bytes;
}

Layout layout_at(std::vector<Allocation> allocations, const poet_plan& opened, Bytes alignment,
                 const std::string& place) {
  if (allocations.size() != opened.allocations)
    throw InputError(place, fmt::format("must have {} addresses, one per allocation of the plan; has {}",
                                        allocations.size(), opened.allocations));
  Layout layout;
  std::int64_t top = 0;
  for (std::uint32_t r = 0; r < opened.allocations; ++r) {
    std::uint32_t units = 0;
    poet_plan_address(&opened, r, &units);
    if (units > static_cast<std::uint64_t>(kMostBytes) / opened.unit)
      throw InputError(place, fmt::format("address {} must be <= {} bytes", r, kMostBytes));
    allocations[r].offset = std::int64_t{units} * opened.unit;
    top = std::max(top, allocations[r].offset + allocations[r].bytes.value());
  }
  part_what_lies_apart(allocations);
  layout.allocations = std::move(allocations);
  layout.arena = rounded_up(Bytes(top), alignment);
  return layout;
}

void part_what_lies_apart(std::vector<Allocation>& allocations) {
  std::map<std::pair<std::int64_t, Bytes>, int> last;  // allocation so far, by offset and bytes
  for (std::size_t r = 0; r < allocations.size(); ++r) {
    Allocation& allocation = allocations[r];
    const auto [before, is_first] =
        last.try_emplace({allocation.offset, allocation.bytes}, static_cast<int>(r));
    if (allocation.takes_over >= 0 &&
        allocations[static_cast<std::size_t>(allocation.takes_over)].offset != allocation.offset) {
      // Of several operands that die, it may be another one.
      const bool over =
          !is_first && allocations[static_cast<std::size_t>(before->second)].end > allocation.begin;
      allocation.takes_over = over ? before->second : -1;
    }
    before->second = static_cast<int>(r);
  }
}

}  // namespace poet
