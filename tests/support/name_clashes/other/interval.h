#pragma once

namespace poet {

/// Of another size than one/interval.h has it.
class Interval final {
 public:
  struct Nested {};

 private:
  double begin_ = 0;
};

namespace test {

struct Interval {};  // no clash: another namespace

}  // namespace test

}  // namespace poet
