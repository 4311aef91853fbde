#pragma once

// Strong units. Quantities convert neither to other dimensions nor to bare numbers but by `.value()`. Watts *
// Seconds = Joules is the one product the energy model needs. SI base units throughout: seconds, joules,
// watts; bytes and flops are exact 64-bit counts.

#include <compare>
#include <cstdint>

namespace poet {

template <class Tag, class Rep>
class Quantity {
 public:
  using rep = Rep;

  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep value) : value_(value) {}

  [[nodiscard]] constexpr Rep value() const { return value_; }

  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value_ + b.value_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value_ - b.value_); }
  friend constexpr Quantity operator*(Rep factor, Quantity a) { return Quantity(factor * a.value_); }
  friend constexpr Quantity operator*(Quantity a, Rep factor) { return Quantity(a.value_ * factor); }
  friend constexpr double operator/(Quantity a, Quantity b) {
    return static_cast<double>(a.value_) / static_cast<double>(b.value_);
  }

 private:
  Rep value_ = Rep{};
};

using Bytes = Quantity<struct BytesTag, std::int64_t>;
using Flops =
    Quantity<struct FlopsTag, std::int64_t>;  // floating-point operations; one multiply-accumulate is two
using Seconds = Quantity<struct SecondsTag, double>;
using Joules = Quantity<struct JoulesTag, double>;
using Watts = Quantity<struct WattsTag, double>;

/// Rounds up to a multiple of `unit` > 0; `bytes` + `unit` must not overflow.
constexpr Bytes rounded_up(Bytes bytes, Bytes unit) {
  return Bytes((bytes.value() + unit.value() - 1) / unit.value() * unit.value());
}

constexpr Joules operator*(Watts power, Seconds time) { return Joules(power.value() * time.value()); }
constexpr Joules operator*(Seconds time, Watts power) { return power * time; }

}  // namespace poet
