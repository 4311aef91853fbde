#pragma once

#include "poet/baselines/chain.h"
#include "poet/baselines/method.h"

namespace poet {

/// Returns the answer, still without plans, of a method on chains: with a note of the chain, or not_defined()
/// if the graph is no chain.
[[nodiscard]] inline MethodAnswer answer_on(const Chain& chain) {
  if (!chain.reason.empty()) return not_defined(chain.reason);
  MethodAnswer answer;
  answer.note = chain_note(chain);
  return answer;
}

}  // namespace poet
