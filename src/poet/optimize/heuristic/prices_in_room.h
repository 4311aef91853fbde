#pragma once

// Remembers prices of recomputation that depend on how much RAM is left for it. Private to streaming*.cc.
//
// Ops that read all parts of a layer share their operands, and these theirs: without memory, pricing one
// recomputation takes the cube of the number of parts.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "poet/base/numbers.h"
#include "poet/optimize/heuristic/streaming_prices.h"

namespace poet {

/// A price that is the same for every room, in bytes, from `least` to below `most`.
struct PriceInRoom {
  static constexpr std::int64_t kAnyRoom = std::int64_t{1} << 62;

  double price = kInfinity;
  std::int64_t least = -kAnyRoom;
  std::int64_t most = kAnyRoom;

  /// Takes note that the price depends on whether the room is at least `needed`.
  void compare(std::int64_t room, std::int64_t needed) {
    if (room < needed) {
      most = std::min(most, needed);
    } else {
      least = std::max(least, needed);
    }
  }
  /// Takes note that it depends on the price `of` an operand, which has `taken` bytes less.
  void depend(const PriceInRoom& of, std::int64_t taken) {
    if (of.least > -kAnyRoom) least = std::max(least, of.least + taken);
    if (of.most < kAnyRoom) most = std::min(most, of.most + taken);
  }
};

/// Per value and depth of the recomputation that needs it, the price found last.
class PricesInRoom {
 public:
  explicit PricesInRoom(int values) : values_(at(values)), known_((kStreamDepth + 1) * values_) {}

  /// Forgets everything: another op needs the values, or others are in RAM. O(1).
  void forget() { ++round_; }

  /// Returns null if the price is not known for this room.
  [[nodiscard]] const PriceInRoom* find(int value, int depth, std::int64_t room) const {
    const Known& known = known_[place(value, depth)];
    const bool holds = known.round == round_ && known.in.least <= room && room < known.in.most;
    return holds ? &known.in : nullptr;
  }
  void remember(int value, int depth, const PriceInRoom& price) {
    known_[place(value, depth)] = {round_, price};
  }

 private:
  struct Known {
    long round = -1;
    PriceInRoom in;
  };

  [[nodiscard]] std::size_t place(int value, int depth) const { return at(depth) * values_ + at(value); }

  std::size_t values_;
  std::vector<Known> known_;
  long round_ = 0;
};

}  // namespace poet
