#pragma once

// Iterated streaming passes: an interval packing (relaxation/gap_flow.h) decides which gaps are worth their
// RAM, a pass turns that into a plan, and the plan yields the real prices of restoring values.

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "poet/optimize/heuristic/streaming.h"
#include "poet/optimize/relaxation/gap_flow.h"

namespace poet {

class StreamingSearch {
 public:
  /// `problem` must outlive this. With an `alignment`, every value gets an address.
  explicit StreamingSearch(const Problem& problem, std::int64_t alignment = 0);

  StreamingSearch(const StreamingSearch&) = delete;
  StreamingSearch& operator=(const StreamingSearch&) = delete;

  /// Runs one round. The first few are passes by simple rules, which take milliseconds per 1,000 ops; each
  /// later one is a packing and passes by it. Deterministic. Returns whether it found a better plan.
  bool improve(const std::function<bool()>& stop);

  /// The plan of least energy within the write limit.
  [[nodiscard]] const std::optional<Stream>& best() const { return best_; }

 private:
  bool consider(std::optional<Stream> made, double caution);
  bool by_rule(int round, const std::function<bool()>& stop);
  bool by_packing(int round, const std::function<bool()>& stop);
  [[nodiscard]] std::vector<std::int64_t> capacity(bool in_whole_parts) const;
  void split_page_outs(const std::vector<double>& rent, const std::vector<double>& recomputation);

  const Problem& p_;
  const std::int64_t alignment_;
  const Gaps gaps_;
  const Streaming streaming_;
  std::optional<Stream> best_;
  std::optional<Stream> last_;
  std::vector<double> share_;  // per gap: its share of the value's page-out
  std::int64_t part_ = 1;      // the usual size of values, bytes
  int round_ = 0;
  double caution_ = 1;  // the best plan's
  std::mt19937_64 random_{1};
};

}  // namespace poet
