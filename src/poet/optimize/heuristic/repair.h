#pragma once

// Repairs decisions that exceed the RAM budget: at the stage of worst overflow, evicts the value that is
// cheapest to restore per byte, until RAM fits. Greedy schedules and local search are built on it.

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "poet/base/numbers.h"
#include "poet/optimize/heuristic/incremental.h"

namespace poet {

struct RepairOptions {
  bool page = true;
  bool recompute = true;
  double joules_per_second = 0;        // price of a second of compute, besides its energy
  double joules_per_byte_written = 0;  // likewise
  double noise = 0;                    // prices are multiplied by exp(noise * x), x uniform in [-1, 1]
};

class Repair {
 public:
  Repair(IncrementalReplay& replay, std::uint64_t seed);

  RepairOptions options;

  /// Adds decisions until nothing overflows. Returns false if that is impossible, the energy exceeds
  /// `most_joules`, after `most_steps` evaluations, or when stopped; the decisions so far stay then. The
  /// replay is updated in any case, never committed. O(values + stages) per evaluation, besides the replay's.
  bool make_fit(double most_joules, long most_steps, const std::function<bool()>& stop);

  /// The value's copy is not taken from RAM between these stages in the next make_fit().
  void protect(int value, int stage) { protected_.push_back({value, stage}); }
  void clear_protected() { protected_.clear(); }

  /// Recomputes the op in the stage; its operands are paged in or recomputed likewise if they cannot be
  /// retained more cheaply. Does not update the replay.
  void recompute(int op, int stage);
  /// Pages the value in as late as possible for a read in `stage`. Returns false if that is impossible.
  bool page(int value, int stage);

  /// After a failed make_fit(): whether nothing is left to evict, so that another call would fail, too.
  [[nodiscard]] bool stuck() const { return stuck_; }

  [[nodiscard]] double uniform();    // in [0, 1)
  [[nodiscard]] int below(int end);  // in [0, end)
  [[nodiscard]] long evaluations() const { return evaluations_; }
  /// The values and operands looked at so far: effort that is the same on every machine. An evaluation looks
  /// at all values, and at all ops again for each that may be recomputed. 50 to 100 million take a second.
  [[nodiscard]] long work() const { return work_; }

 private:
  static constexpr int kDepth = 60;  // maximum length of a chain of recomputations
  static constexpr double kNever = kInfinity;

  enum class Mechanism : char { recompute, page, page_instead, earlier, recompute_instead };
  struct Change {
    double price;
    int id;     // value; of `earlier`: op
    int stage;  // where it must be back
    Mechanism mechanism;
  };
  struct Freed {  // by the current change
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
  long work_ = 0;
  bool stuck_ = false;
  Freed freed_;
  std::vector<int> planned_;  // op -> number of the plan that it is part of
  int plan_ = 0;
  std::vector<int> overflowing_;       // prefix sums
  std::vector<std::int64_t> highest_;  // peak of blocks of stages
  std::vector<Change> changes_;
  std::vector<Spot> protected_;
};

}  // namespace poet
