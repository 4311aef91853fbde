#pragma once

// Better and better streaming plans: an interval packing (relaxation/gap_flow.h) says which gaps are worth
// their RAM, a pass makes a plan of that, and the plan says what bringing values back really costs.

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
  /// `problem` must outlive it. With an `alignment`, everything gets an address.
  explicit StreamingSearch(const Problem& problem, std::int64_t alignment = 0);

  StreamingSearch(const StreamingSearch&) = delete;
  StreamingSearch& operator=(const StreamingSearch&) = delete;

  /// One round: the first few are passes by simple rules, which take milliseconds per 1,000 ops; then each is
  /// a packing and passes by it. The same rounds whenever it is called. Whether it found something better.
  bool improve(const std::function<bool()>& stop);

  /// Of least energy within the write limit.
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
  std::vector<double> share_;  // per gap: of its value's page-out
  std::int64_t part_ = 1;      // bytes that values usually have
  int round_ = 0;
  double caution_ = 1;  // of the best
  std::mt19937_64 random_{1};
};

}  // namespace poet
