#include "poet/optimize/heuristic/streaming.h"

#include <utility>

#include "poet/base/numbers.h"
#include "poet/optimize/heuristic/streaming_pass.h"

namespace poet {

Streaming::Streaming(const Problem& problem, const Gaps& gaps) : p_(problem), gaps_(gaps) {}

std::optional<Stream> Streaming::run(const StreamingGuide& guide, const Stream* before,
                                     const std::function<bool()>& stop) const {
  std::vector<double> prices = recomputation(before, stop);
  for (std::size_t g = 0; g < prices.size(); ++g)
    if (!p_.reads[at(p_.producer[at(gaps_.all()[g].value)])].empty()) prices[g] *= guide.caution;
  return StreamingPass(p_, gaps_, guide, std::move(prices)).run(stop);
}

}  // namespace poet
