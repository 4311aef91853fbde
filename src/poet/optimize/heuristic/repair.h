#pragma once

// Makes decisions fit the RAM budget: takes from RAM, at the stage of worst overflow, what is cheapest to
// bring back per byte, until all fits. Both the first schedules and the local search are made of this change.

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "poet/optimize/heuristic/incremental.h"

namespace poet {

struct RepairOptions {
  bool page = true;
  bool recompute = true;
  double joules_per_second = 0;        // what a second of compute counts, besides its energy
  double joules_per_byte_written = 0;  // likewise
  double noise = 0;                    // prices are multiplied by exp(noise * x), x uniform in [-1, 1]
};

class Repair {
 public:
  Repair(IncrementalReplay& replay, std::uint64_t seed);

  RepairOptions options;

  /// Adds decisions until nothing overflows. False, with the decisions made so far still in place, when it
  /// does not get there, when the energy passes `most_joules`, after `most_steps` evaluations, or as soon as
  /// `stop` says so. Settled in any case, never committed. O(values + stages) an evaluation, besides the
  /// replay's.
  bool make_fit(double most_joules, long most_steps, const std::function<bool()>& stop);

  /// The value's copy is not taken from RAM between these stages in the next make_fit().
  void protect(int value, int stage) { protected_.push_back({value, stage}); }
  void clear_protected() { protected_.clear(); }

  /// Recomputes op in the stage, and for it, where that is cheaper than keeping them fits, pages in or
  /// recomputes operands in the same way. Not updated.
  void recompute(int op, int stage);
  /// Pages the value in as late as is possible for a read in `stage`. False where it is not.
  bool page(int value, int stage);

  /// After a make_fit() in vain: whether there is nothing left to take, so that another one would not help.
  [[nodiscard]] bool stuck() const { return stuck_; }

  [[nodiscard]] double uniform();    // in [0, 1)
  [[nodiscard]] int below(int end);  // in [0, end)
  [[nodiscard]] long evaluations() const { return evaluations_; }

 private:
  enum class Mechanism : char { recompute, page, page_instead, earlier, recompute_instead };
  struct Change {
    double price;
    int id;     // value; of `earlier`: op
    int stage;  // where it must be back
    Mechanism mechanism;
  };
  struct Freed {  // what the change at hand frees
    int first = 0;
    int last = -1;
    std::int64_t bytes = 0;
  };
  struct Spot {
    int value;
    int stage;
  };

  bool relieve(int stage);
  void collect_kept(int stage, bool overwritable, std::vector<Change>& changes);
  void collect_local(int stage, std::vector<Change>& changes);
  void take(const Change& change);
  [[nodiscard]] bool can_be_overwritten(int value, int stage) const;
  [[nodiscard]] bool can_page(int value, int stage) const;
  [[nodiscard]] bool can_recompute(int value, int stage) const;
  [[nodiscard]] bool available(int value, int stage) const;
  void find_highest();
  [[nodiscard]] bool stays_below(int first, int last, std::int64_t most) const;
  [[nodiscard]] bool fits_until(int value, int stage) const;
  [[nodiscard]] double price_of_paging(int value) const;
  [[nodiscard]] double price_of_op(int op) const;
  double price_of_recomputing(int op, int stage, int depth);
  double price_of_bringing(int value, int stage, int depth);
  void bring(int value, int stage, int depth);
  void recompute_with_operands(int op, int stage, int depth);
  [[nodiscard]] bool is_protected(int value, int from, int to) const;

  IncrementalReplay& r_;
  const Problem& p_;
  std::mt19937_64 random_;
  long evaluations_ = 0;
  bool stuck_ = false;
  Freed freed_;
  std::vector<int> planned_;  // op -> number of the plan that it is part of
  int plan_ = 0;
  std::vector<int> overflowing_;       // prefix sums
  std::vector<std::int64_t> highest_;  // peak of every kBlock stages
  std::vector<Change> changes_;
  std::vector<Spot> protected_;
};

}  // namespace poet
