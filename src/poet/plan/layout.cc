#include "poet/plan/layout.h"

#include <algorithm>

#include "poet/base/error.h"
#include "poet/plan/arena/pack.h"
#include "poet/plan/arena/sections.h"

namespace poet {
namespace {

// Residences that share their memory, as one buffer; sizes in units of the alignment.
struct Joined {
  std::vector<Buffer> buffers;
  std::vector<std::size_t> buffer_of;  // per residence
};

Joined join(const std::vector<Residence>& residences, std::int64_t alignment, bool in_place) {
  Joined joined;
  for (const Residence& residence : residences) {
    const std::int64_t size = (residence.bytes.value() + alignment - 1) / alignment;
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

}  // namespace

Layout place(const Instance& instance, const Plan& plan, Semantics semantics, Bytes alignment, Bytes enough,
             const std::function<bool()>& stop) {
  ensure(alignment.value() >= 1, "an alignment is at least one byte");
  Layout layout;
  layout.residences = residences_of(instance, plan, semantics);
  PackOptions options;
  options.good_enough = enough.value() / alignment.value();
  options.stop = stop;
  Joined joined = join(layout.residences, alignment.value(), true);
  Packing packing = pack(joined.buffers, options);
  const bool in_place = joined.buffers.size() < layout.residences.size();
  // What the search proves beyond the load holds for these addresses in place, not for fewer of them.
  const std::int64_t least = in_place ? greatest_load(sections_of(joined.buffers)) : packing.lower_bound;
  layout.lower_bound = Bytes(least * alignment.value());
  // What is written in place is bound to one address for longer: at times that costs more than it saves.
  if (in_place && packing.height > std::max(least, options.good_enough)) {
    Joined apart = join(layout.residences, alignment.value(), false);
    options.good_enough = std::max(options.good_enough, least);
    Packing other = pack(apart.buffers, options);
    if (other.height < packing.height) {
      packing = std::move(other);
      joined = std::move(apart);
      for (Residence& residence : layout.residences) residence.takes_over = -1;
    }
  }
  for (std::size_t r = 0; r < layout.residences.size(); ++r)
    layout.residences[r].offset = packing.offsets[joined.buffer_of[r]] * alignment.value();
  layout.arena = Bytes(packing.height * alignment.value());
  return layout;
}

}  // namespace poet
