#pragma once

// Layouts as files store them: offsets only; the rest follows from the plan.

#include <cstdint>
#include <vector>

#include "poet/plan/decoder/poet_plan.h"
#include "poet/plan/layout/layout.h"

namespace poet {

/// Payload of a plan file's ADDRESSES section: the unit (the greatest that divides all offsets; without any
/// above 0, `alignment`), how many, and as many bytes for each as the highest needs.
[[nodiscard]] std::vector<std::uint8_t> addresses_of(const Layout& layout, Bytes alignment);

/// `allocations` (as allocations_of() gives them) at an opened plan's addresses. Throws InputError with
/// `place` if their number differs or an address is out of range.
[[nodiscard]] Layout layout_at(std::vector<Allocation> allocations, const poet_plan& opened, Bytes alignment,
                               const std::string& place);

/// Corrects takes_over for allocations whose address differs from that of the allocation taken over: to
/// another one that ends with it and has its address, or to none. O(allocations log allocations).
void part_what_lies_apart(std::vector<Allocation>& allocations);

}  // namespace poet
