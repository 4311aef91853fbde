#include "poet/optimize/problem/sequence.h"

#include <algorithm>
#include <utility>

#include "poet/base/numbers.h"
#include "poet/optimize/problem/sorted.h"

namespace poet {

// Backwards: what is read later, before it is computed again, is in RAM.
Sequence measured(const Problem& p, std::vector<int> ops) {
  Sequence made{std::move(ops), {}, p.baseline_joules, 0};
  made.ram.resize(made.ops.size());
  std::vector<char> is_live(at(p.values), 0);
  std::vector<char> is_first(at(p.ops), 1);
  std::int64_t live = 0;
  const auto set = [&](int v, char now) {
    if (is_live[at(v)] == now) return;
    is_live[at(v)] = now;
    live += now != 0 ? p.bytes[at(v)] : -p.bytes[at(v)];
  };
  for (std::size_t i = made.ops.size(); i-- > 0;) {
    const int op = made.ops[i];
    std::int64_t overwritten = 0;
    for (const int v : p.overwritable[at(op)])
      if (is_live[at(v)] == 0) overwritten = std::max(overwritten, p.bytes[at(v)]);
    for (const int v : p.writes[at(op)]) set(v, 1);
    for (const int v : p.reads[at(op)]) set(v, 1);
    made.ram[i] = live + p.workspace[at(op)] - overwritten;
    for (const int v : p.writes[at(op)]) set(v, 0);
    made.seconds += p.seconds[at(op)];
    if (!std::exchange(is_first[at(op)], 0))
      made.joules += p.joules[at(op)] + p.idle_watts * p.seconds[at(op)];
  }
  return made;
}

}  // namespace poet
