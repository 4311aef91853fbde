#include "poet/plan/layout/layout.h"

#include <algorithm>

#include "poet/base/error.h"
#include "poet/base/time_shares.h"
#include "poet/plan/layout/arena/pack.h"
#include "poet/plan/layout/arena/sections.h"

namespace poet {
namespace {

// Allocations that share their memory, as one buffer; sizes in units.
struct Joined {
  std::vector<Buffer> buffers;
  std::vector<std::size_t> buffer_of;  // per allocation
};

Joined join(const std::vector<Allocation>& allocations, std::int64_t unit, bool in_place) {
  Joined joined;
  for (const Allocation& allocation : allocations) {
    const std::int64_t size = rounded_up(allocation.bytes, Bytes(unit)).value() / unit;
    if (in_place && allocation.takes_over >= 0) {
      const std::size_t buffer = joined.buffer_of[static_cast<std::size_t>(allocation.takes_over)];
      joined.buffers[buffer].upper = std::max<std::int64_t>(joined.buffers[buffer].upper, allocation.end);
      joined.buffer_of.push_back(buffer);
      continue;
    }
    joined.buffer_of.push_back(joined.buffers.size());
    joined.buffers.push_back({allocation.begin, allocation.end, size});
  }
  return joined;
}

/// What offsets are counted in: the alignment, or a multiple where files could not state so many
/// (plan_file.h: three bytes each).
std::int64_t grain_for(Bytes load, Bytes alignment) {
  constexpr std::int64_t kMostUnits = std::int64_t{1} << 24;
  std::int64_t grain = alignment.value();
  while (load.value() / grain > kMostUnits - kMostUnits / 16) grain *= 2;
  return grain;
}

struct PlacedArena {
  Layout layout;
  bool best = false;  // the search is complete, or the arena small enough: more effort changes nothing
};

/// The layout of these allocations at multiples of `grain`; sets neither arena's nor bound's alignment.
PlacedArena place_at(std::vector<Allocation> allocations, std::int64_t grain, Bytes alignment,
                     const PlaceOptions& options) {
  PlacedArena placed;
  Layout& layout = placed.layout;
  PackOptions packing_options;
  packing_options.good_enough = options.enough.value() / grain;
  packing_options.effort = options.effort;
  packing_options.stop = options.stop;
  Joined joined = join(allocations, grain, true);
  const std::int64_t load = greatest_load(sections_of(joined.buffers));
  Packing packing = pack(joined.buffers, packing_options);
  placed.best = packing.height <= std::max(packing.lower_bound, packing_options.good_enough);
  const bool in_place = joined.buffers.size() < allocations.size();
  // What the search proves beyond the load holds for these addresses in place, not for fewer of them.
  layout.lower_bound = Bytes((in_place ? load : packing.lower_bound) * grain);
  // What is written in place is bound to one address for longer: at times that costs more than it saves.
  if (in_place && packing.height > std::max(load, packing_options.good_enough)) {
    Joined apart = join(allocations, grain, false);
    packing_options.good_enough = std::max(packing_options.good_enough, load);
    Packing other = pack(apart.buffers, packing_options);
    const bool best_apart = other.height <= std::max(other.lower_bound, packing_options.good_enough);
    placed.best = placed.best && best_apart;
    if (other.height < packing.height) {
      packing = std::move(other);
      joined = std::move(apart);
      for (Allocation& allocation : allocations) allocation.takes_over = -1;
    }
  }
  for (std::size_t r = 0; r < allocations.size(); ++r) {
    Allocation& allocation = allocations[r];
    allocation.offset = packing.offsets[joined.buffer_of[r]] * grain;
    const Bytes end = rounded_up(Bytes(allocation.offset) + allocation.bytes, alignment);
    layout.arena = std::max(layout.arena, end);
  }
  layout.allocations = std::move(allocations);
  return placed;
}

/// The layout at the coarsest multiples that cost nothing.
PlacedArena place_once(const std::vector<Allocation>& allocations, Bytes alignment,
                       const PlaceOptions& options) {
  const Joined joined = join(allocations, alignment.value(), true);
  const Bytes load(greatest_load(sections_of(joined.buffers)) * alignment.value());
  const std::int64_t grain = grain_for(load, alignment);
  if (grain > alignment.value()) {
    PlacedArena coarse = place_at(allocations, grain, alignment, options);
    coarse.layout.lower_bound = load;
    if (coarse.layout.arena <= std::max(load, options.enough)) return coarse;
  }
  return place_at(allocations, alignment.value(), alignment, options);
}

}  // namespace

Layout place(const Instance& instance, const Plan& plan, Semantics semantics, const PlaceOptions& options) {
  constexpr std::int64_t kWorthIt = 40;  // times the effort, and
  const Bytes alignment = instance.costs.alignment;
  const std::vector<Allocation> allocations = allocations_of(instance, plan, semantics);
  PlacedArena placed = place_once(allocations, alignment, options);
  Layout& layout = placed.layout;
  if (placed.best || !options.room || layout.arena <= *options.room || layout.lower_bound > *options.room ||
      options.stop())
    return std::move(layout);
  PlaceOptions more = options;
  more.enough = std::max(options.enough, *options.room);
  more.effort = kWorthIt * options.effort;
  // A plan with less in RAM may be the better way: some of the time is for that.
  more.stop = options.stop.at_most(kShares.placing_again * options.stop.remaining());
  Layout other = place_once(allocations, alignment, more).layout;
  const Bytes lower_bound = std::max(other.lower_bound, layout.lower_bound);
  if (other.arena < layout.arena) layout = std::move(other);
  layout.lower_bound = lower_bound;
  return std::move(layout);
}

}  // namespace poet
