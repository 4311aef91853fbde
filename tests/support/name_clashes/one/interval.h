#pragma once

namespace poet {

struct Interval;

struct Interval {
  int first = 0;
  int last = 0;
};

}  // namespace poet
