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
    const std::int64_t size = (residence.bytes.value() + unit - 1) / unit;
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
/// (plan_file.h: three bytes each). It costs the less the more there is to count.
std::int64_t grain_for(Bytes load, Bytes alignment) {
  constexpr std::int64_t kMostUnits = std::int64_t{1} << 24;
  std::int64_t grain = alignment.value();
  while (load.value() / grain > kMostUnits - kMostUnits / 16) grain *= 2;
  return grain;
}

std::int64_t rounded_up(std::int64_t bytes, std::int64_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

Layout place(const Instance& instance, const Plan& plan, Semantics semantics, Bytes alignment, Bytes enough,
             const std::function<bool()>& stop) {
  ensure(alignment.value() >= 1, "an alignment is at least one byte");
  Layout layout;
  layout.residences = residences_of(instance, plan, semantics);
  Joined joined = join(layout.residences, alignment.value(), true);
  std::int64_t load = greatest_load(sections_of(joined.buffers));
  layout.lower_bound = Bytes(load * alignment.value());
  const std::int64_t grain = grain_for(layout.lower_bound, alignment);
  if (grain != alignment.value()) {
    joined = join(layout.residences, grain, true);
    load = greatest_load(sections_of(joined.buffers));
  }

  PackOptions options;
  options.good_enough = enough.value() / grain;
  options.stop = stop;
  Packing packing = pack(joined.buffers, options);
  const bool in_place = joined.buffers.size() < layout.residences.size();
  // What the search proves beyond the load holds for these addresses in place, not for fewer of them.
  if (!in_place && grain == alignment.value())
    layout.lower_bound = Bytes(packing.lower_bound * alignment.value());
  // What is written in place is bound to one address for longer: at times that costs more than it saves.
  if (in_place && packing.height > std::max(load, options.good_enough)) {
    Joined apart = join(layout.residences, grain, false);
    options.good_enough = std::max(options.good_enough, load);
    Packing other = pack(apart.buffers, options);
    if (other.height < packing.height) {
      packing = std::move(other);
      joined = std::move(apart);
      for (Residence& residence : layout.residences) residence.takes_over = -1;
    }
  }
  for (std::size_t r = 0; r < layout.residences.size(); ++r) {
    Residence& residence = layout.residences[r];
    residence.offset = packing.offsets[joined.buffer_of[r]] * grain;
    const std::int64_t end = rounded_up(residence.offset + residence.bytes.value(), alignment.value());
    layout.arena = std::max(layout.arena, Bytes(end));
  }
  return layout;
}

}  // namespace poet
