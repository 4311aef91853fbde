#pragma once

// One streaming pass. Private to streaming*.cc.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "poet/optimize/heuristic/prices_in_room.h"
#include "poet/optimize/heuristic/streaming.h"
#include "poet/optimize/heuristic/streaming_arena.h"
#include "poet/optimize/heuristic/streaming_ram.h"

namespace poet {

/// A value to page out after so many steps, the last of which completes it.
struct StreamedPageOut {
  std::size_t after = 0;
  int value = 0;
  auto operator<=>(const StreamedPageOut&) const = default;
};

class StreamingPass {
 public:
  /// `recomputation`: per gap, the predicted price of recomputing its value at its end. The other arguments
  /// must outlive this.
  StreamingPass(const Problem& p, const Gaps& gaps, const StreamingGuide& guide,
                std::vector<double> recomputation);

  /// As Streaming::run(). To be called once.
  std::optional<Stream> run(const std::function<bool()>& stop);

 private:
  struct Recent {
    double rank = 0;
    int uses = 0;
    long looked_up = -1;
  };
  struct ValueState {
    int uses = 0;  // so far
    bool is_stored = false;
    bool is_wanted_stored = false;  // needed for a later recomputation
    std::size_t complete_at = 0;    // number of steps when it entered RAM
    std::size_t sent_at = 0;        // `complete_at` of the copy that was paged out
    std::int64_t offset = 0;        // its address
    Recent recent;
  };
  struct Ranked {
    double rank;
    int value;
    bool operator<(const Ranked& other) const {
      return rank != other.rank ? rank < other.rank : value < other.value;
    }
  };

  // ---- computing (streaming_pass.cc)

  bool step();
  bool step_from_empty();
  void enter(int v);
  void leave(int v);
  void store(int v);
  bool allocate(int v, std::int64_t bytes);
  bool allocate_each(int op, int overwritten);
  [[nodiscard]] int dying() const;
  bool compute(int op, int overwritten);
  [[nodiscard]] std::int64_t missing(int op, int overwritten) const;
  void finish_sending(int v);
  bool bring(int v, int depth);
  bool page_in(int v);
  [[nodiscard]] PriceInRoom price_of_recomputing(int v, int depth, std::int64_t room);

  // ---- evicting (streaming_eviction.cc)

  [[nodiscard]] std::size_t gap_of(int v) const { return gaps_.of(v)[at(values_[at(v)].uses)]; }
  double loss(int v);
  [[nodiscard]] double rank(int v) const;
  [[nodiscard]] double price_of_return(int v, std::size_t g) const;
  double recent_rank(int v);
  bool make_room(std::int64_t more);
  bool evict(int v);
  bool secure(int v, int stage);
  PriceInRoom secure(int v, int stage, std::int64_t room, int depth);
  [[nodiscard]] std::int64_t room_for(int stage) const;

  const Problem& p_;
  const Gaps& gaps_;
  const StreamingGuide& guide_;
  const std::vector<double> recomputation_;  // per gap
  std::vector<double> rent_;                 // prefix sums
  int t_ = 0;
  StreamingRam ram_;
  std::vector<ValueState> values_;
  std::vector<StreamedPageOut> page_outs_;
  std::vector<Ranked> ranked_, lowest_;  // reused by make_room()
  long evictions_ = 0;
  PricesInRoom known_;
  std::optional<StreamingArena> arena_;
  int allocations_ = 0;  // page-ins and computations so far
  Stream made_;
};

}  // namespace poet
