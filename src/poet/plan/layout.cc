#include "poet/plan/layout.h"

#include <algorithm>

#include "poet/base/error.h"
#include "poet/plan/arena/pack.h"
#include "poet/plan/arena/sections.h"

namespace poet {
namespace {

// Residences that share their memory, as one buffer; sizes in units.
struct Joined {
  std::vector<Buffer> buffers;
  std::vector<std::size_t> buffer_of;  // per residence
};

Joined join(const std::vector<Residence>& residences, std::int64_t unit, bool in_place) {
  Joined joined;
  for (const Residence& residence : residences) {
    const std::int64_t size = rounded_up(residence.bytes, Bytes(unit)).value() / unit;
    if (in_place && residence.takes_over >= 0) {
      const std::size_t buffer = joined.buffer_of[static_cast<std::size_t>(residence.takes_over)];
      joined.buffers[buffer].upper = std::max<std::int64_t>(joined.buffers[buffer].upper, residence.end);
      joined.buffer_of.push_back(buffer);
      continue;
    }
    joined.buffer_of.push_back(joined.buffers.size());
    joined.buffers.push_back({residence.begin, residence.end, size});
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

/// The layout of these residences at multiples of `grain`; sets neither arena's nor bound's alignment.
Layout place_at(std::vector<Residence> residences, std::int64_t grain, Bytes alignment,
                const PlaceOptions& options) {
  Layout layout;
  PackOptions packing_options;
  packing_options.good_enough = options.enough.value() / grain;
  packing_options.effort = options.effort;
  packing_options.stop = options.stop;
  Joined joined = join(residences, grain, true);
  const std::int64_t load = greatest_load(sections_of(joined.buffers));
  Packing packing = pack(joined.buffers, packing_options);
  const bool in_place = joined.buffers.size() < residences.size();
  // What the search proves beyond the load holds for these addresses in place, not for fewer of them.
  layout.lower_bound = Bytes((in_place ? load : packing.lower_bound) * grain);
  // What is written in place is bound to one address for longer: at times that costs more than it saves.
  if (in_place && packing.height > std::max(load, packing_options.good_enough)) {
    Joined apart = join(residences, grain, false);
    packing_options.good_enough = std::max(packing_options.good_enough, load);
    Packing other = pack(apart.buffers, packing_options);
    if (other.height < packing.height) {
      packing = std::move(other);
      joined = std::move(apart);
      for (Residence& residence : residences) residence.takes_over = -1;
    }
  }
  for (std::size_t r = 0; r < residences.size(); ++r) {
    Residence& residence = residences[r];
    residence.offset = packing.offsets[joined.buffer_of[r]] * grain;
    const Bytes end = rounded_up(Bytes(residence.offset) + residence.bytes, alignment);
    layout.arena = std::max(layout.arena, end);
  }
  layout.residences = std::move(residences);
  return layout;
}

/// The layout at the coarsest multiples that cost nothing.
Layout place_once(const std::vector<Residence>& residences, Bytes alignment, const PlaceOptions& options) {
  const Joined joined = join(residences, alignment.value(), true);
  const Bytes load(greatest_load(sections_of(joined.buffers)) * alignment.value());
  const std::int64_t grain = grain_for(load, alignment);
  if (grain > alignment.value()) {
    Layout coarse = place_at(residences, grain, alignment, options);
    coarse.lower_bound = load;
    if (coarse.arena <= std::max(load, options.enough)) return coarse;
  }
  return place_at(residences, alignment.value(), alignment, options);
}

}  // namespace

Layout place(const Instance& instance, const Plan& plan, Semantics semantics, const PlaceOptions& options) {
  constexpr std::int64_t kWorthIt = 8;  // times the effort, and
  constexpr double kShare = 0.25;       // of what time is left: a plan with less in RAM may be the better way
  const Bytes alignment = instance.costs.alignment;
  const std::vector<Residence> residences = residences_of(instance, plan, semantics);
  Layout layout = place_once(residences, alignment, options);
  if (!options.room || layout.arena <= *options.room || layout.lower_bound > *options.room || options.stop())
    return layout;
  PlaceOptions more = options;
  more.enough = std::max(options.enough, *options.room);
  more.effort = kWorthIt * options.effort;
  more.stop = options.stop.at_most(kShare * options.stop.remaining());
  Layout other = place_once(residences, alignment, more);
  other.lower_bound = std::max(other.lower_bound, layout.lower_bound);
  return other.arena < layout.arena ? other : layout;
}

}  // namespace poet
