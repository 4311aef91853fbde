#include "poet/baselines/revolve.h"

#include <algorithm>
#include <limits>

#include "poet/baselines/chain_answer.h"
#include "poet/baselines/compute_order.h"

namespace poet {
namespace {

class Reversal {
 public:
  explicit Reversal(const Chain& chain) : order_(chain) {}

  // Blocks begin to end - 1, from the input of the first, which occupies one of the snapshots.
  void reverse(std::size_t begin, std::size_t end, std::size_t snapshots) {
    while (end - begin > 1) {
      // The last place is the initial state's: everything is repeated from there.
      const std::size_t steps = end - begin;
      const auto stride = static_cast<std::size_t>(
          revolve_stride(static_cast<std::int64_t>(steps), static_cast<std::int64_t>(snapshots)));
      const std::size_t middle = begin + stride;
      for (std::size_t b = begin; b < middle; ++b) order_.advance(b);
      reverse(middle, end, std::max<std::size_t>(snapshots, 2) - 1);
      end = middle;
    }
    order_.turn(begin);
    order_.backward(begin);
  }

  [[nodiscard]] const std::vector<OpId>& ops() const { return order_.ops(); }

 private:
  ChainOrder order_;
};

}  // namespace

std::int64_t revolve_reach(std::int64_t snapshots, std::int64_t repetitions) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::int64_t reach = 1;
  for (std::int64_t i = 1; i <= repetitions; ++i) {
    if (reach > kMost / (snapshots + i)) return kMost;
    reach = reach * (snapshots + i) / i;
  }
  return reach;
}

std::int64_t revolve_repetitions(std::int64_t steps, std::int64_t snapshots) {
  std::int64_t repetitions = 0;
  while (revolve_reach(snapshots, repetitions) < steps) ++repetitions;
  return repetitions;
}

std::int64_t revolve_advances(std::int64_t steps, std::int64_t snapshots) {
  const std::int64_t r = revolve_repetitions(steps, snapshots);
  return r * steps - (r == 0 ? 0 : revolve_reach(snapshots + 1, r - 1));
}

std::int64_t revolve_stride(std::int64_t steps, std::int64_t snapshots) {
  const std::int64_t s = snapshots;
  const std::int64_t r = revolve_repetitions(steps, s);
  // C(s+r-1, s), C(s+r-2, s-1), C(s+r-3, s-2) ... in the program's terms bino1 to bino5.
  const auto reach = [](std::int64_t a, std::int64_t b) { return a < 0 || b < 0 ? 0 : revolve_reach(a, b); };
  const std::int64_t whole = reach(s, r);
  const std::int64_t b1 = reach(s, r - 1);
  const std::int64_t b2 = reach(s - 1, r - 1);
  const std::int64_t b3 = s == 1 ? 0 : reach(s - 2, r - 1);
  const std::int64_t b4 = reach(s, r - 2);
  const std::int64_t b5 = s < 3 ? 0 : reach(s - 3, r);
  std::int64_t stride = steps - b2 - b3;
  if (steps <= b1 + b3) {
    stride = b4;
  } else if (steps >= whole - b5) {
    stride = b1;
  }
  return std::clamp<std::int64_t>(stride, 1, steps - 1);
}

std::vector<OpId> revolve_order(const Chain& chain, std::size_t snapshots) {
  Reversal reversal(chain);
  reversal.reverse(0, chain.blocks.size(), snapshots);
  return reversal.ops();
}

MethodAnswer revolve(const MethodRequest& request) {
  const Dataflow flow = dataflow(request.instance.graph);
  const Chain chain = chain_of(request.instance, flow);
  MethodAnswer answer = answer_on(chain);
  if (!answer.treats_graph) return answer;
  std::vector<OpId> last;
  for (std::size_t snapshots = chain.blocks.size(); snapshots > 0; --snapshots) {
    std::vector<OpId> order = revolve_order(chain, snapshots);
    if (order == last) continue;
    answer.plans.push_back(plan_of_order(request, order));
    last = std::move(order);
  }
  return answer;
}

}  // namespace poet
