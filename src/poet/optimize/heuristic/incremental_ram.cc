// The RAM of one stage of the incremental replay.

#include <algorithm>

#include "poet/optimize/heuristic/incremental_walk.h"

namespace poet {
namespace {

// RAM of the values that enter or leave RAM during the stage.
struct LocalRam {
  const Problem& p;
  std::int64_t ram = 0;
  std::int64_t peak = 0;
  std::int64_t once = 0;  // bytes shared by operand and result of the next op

  [[nodiscard]] std::int64_t bytes(int v) const { return p.bytes[static_cast<std::size_t>(v)]; }
  void enters(int v) { ram += bytes(v); }
  void page_out(int) {}
  void page_in(int v) { ram += bytes(v); }
  void starts() { peak = ram; }
  void produces(int v) { ram += bytes(v); }
  void overwrites(int v) { once = bytes(v); }
  void computes(int op) {
    peak = std::max(peak, ram + p.workspace[static_cast<std::size_t>(op)] - once);
    once = 0;
  }
  void leaves(int v) { ram -= bytes(v); }
};

}  // namespace

std::int64_t IncrementalReplay::local_peak(int t) const {
  WalkedStage stage(*this, t);
  LocalRam local{p_};
  walk_stage(stage, local, p_.transfers_take_ram());
  return local.peak;
}

}  // namespace poet
