#include "poet/reserve.h"

#include <algorithm>

namespace poet {

bool ReserveSearch::next(std::optional<Bytes> over) {
  constexpr int kMostSolves = 4;
  const bool first = solves_++ == 0;
  if (over && *over <= Bytes(0)) return false;
  if (!over && first) return false;  // not for want of addresses
  if (over) {
    least_ = first ? budget_ + *over : std::min(least_, budget_ + *over);
    too_little_ = reserve_;
    over_ = *over;
  } else {
    too_much_ = reserve_;
  }
  const Bytes half_way((too_little_ + too_much_).value() / 2);
  reserve_ = too_little_ + over_ < too_much_ ? too_little_ + over_ : half_way;
  return solves_ < kMostSolves && reserve_ != too_little_;
}

}  // namespace poet
