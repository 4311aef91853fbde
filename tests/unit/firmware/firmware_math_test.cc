// What the firmware computes for itself: functions of numbers against wider ones, hashes against published
// values, the order of samples against the host's.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <string_view>
#include <vector>

#include "firmware/engine/poet_engine.h"
#include "firmware/kernels/poet_math.h"
#include "poet/runtime/data/dataset.h"

namespace poet {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

/// Units in the last place between `found` and the true value.
template <class T>
double units(T found, long double wanted) {
  const T near = static_cast<T>(wanted);
  const auto unit = static_cast<long double>(std::nextafter(std::abs(near), std::numeric_limits<T>::max())) -
                    std::abs(near);
  return static_cast<double>(std::abs(static_cast<long double>(found) - wanted) / unit);
}

TEST(FirmwareMath, ExpIsAboutOneUnitOffAtMost) {
  double worst = 0;
  for (std::uint64_t bits = 0; bits <= 0xFFFFFFFFU; bits += 1009) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (std::isnan(x) || std::isinf(std::exp(x))) continue;
    worst = std::max(worst, units(poet_exp(x), std::exp(static_cast<long double>(x))));
  }
  EXPECT_LE(worst, 1.01);
  EXPECT_EQ(poet_exp(89.0F), kInfinite);
  EXPECT_EQ(poet_exp(kInfinite), kInfinite);
  EXPECT_EQ(poet_exp(-kInfinite), 0.0F);
  EXPECT_EQ(poet_exp(0.0F), 1.0F);
  EXPECT_TRUE(std::isnan(poet_exp(std::nanf(""))));
}

/// The worst error of a function over floats of every magnitude.
template <class F, class G>
double worst_units(const F& found, const G& wanted) {
  double worst = 0;
  for (std::uint64_t bits = 0; bits <= 0xFFFFFFFFU; bits += 2003) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const auto right = std::isnan(x) ? 0.0L : wanted(static_cast<long double>(x));
    if (std::isnan(x) || std::abs(right) < std::numeric_limits<float>::min()) continue;
    worst = std::max(worst, units(found(x), right));
  }
  return worst;
}

TEST(FirmwareMath, TanhIsAboutOneUnitOffAtMost) {
  EXPECT_LE(worst_units(poet_tanh, [](long double x) { return std::tanh(x); }), 1.3);
  EXPECT_EQ(poet_tanh(0.0F), 0.0F);
  EXPECT_EQ(poet_tanh(kInfinite), 1.0F);
  EXPECT_EQ(poet_tanh(-kInfinite), -1.0F);
  EXPECT_TRUE(std::isnan(poet_tanh(std::nanf(""))));
}

TEST(FirmwareMath, ErfcIsFourAndAHalfUnitsOffAtMost) {
  EXPECT_LE(worst_units(poet_erfc, [](long double x) { return std::erfc(x); }), 4.5);
  EXPECT_EQ(poet_erfc(0.0F), 1.0F);
  EXPECT_EQ(poet_erfc(kInfinite), 0.0F);
  EXPECT_EQ(poet_erfc(-kInfinite), 2.0F);
  EXPECT_TRUE(std::isnan(poet_erfc(std::nanf(""))));
}

TEST(FirmwareMath, LogIsTwoUnitsOffAtMostAndRootsAreExact) {
  std::mt19937_64 random(5);
  double worst = 0;
  for (int i = 0; i < 400'000; ++i) {
    const std::uint64_t bits = random() & 0x7FFF'FFFF'FFFF'FFFFU;
    const double any = std::bit_cast<double>(bits);
    const double x = i % 2 == 0 ? any : 1.0 + static_cast<double>(bits % 100'000) / 7'000.0;
    if (!std::isfinite(x) || x == 0.0) continue;
    worst = std::max(worst, units(poet_log(x), std::log(static_cast<long double>(x))));
    ASSERT_EQ(poet_root(x), std::sqrt(x)) << x;
  }
  EXPECT_LE(worst, 2.0);
  EXPECT_EQ(poet_log(0.0), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(poet_log(-1.0)));
  EXPECT_EQ(poet_root(0.0), 0.0);
  EXPECT_TRUE(std::isnan(poet_root(-1.0)));
  EXPECT_EQ(poet_root(std::numeric_limits<double>::infinity()), std::numeric_limits<double>::infinity());
}

TEST(FirmwareMath, PowersAreProducts) {
  EXPECT_EQ(poet_power(0.9, 0), 1.0);
  EXPECT_EQ(poet_power(2.0, 10), 1024.0);
  EXPECT_NEAR(poet_power(0.999, 12'345), std::pow(0.999, 12'345), 1e-15);
}

TEST(FirmwareMath, CosinesOfTurnsAreTwoUnitsOffAtMost) {
  constexpr long double kPi = std::numbers::pi_v<long double>;
  constexpr int kParts = 300'007;
  double worst = 0;
  for (int i = 0; i <= kParts; ++i) {
    const double x = static_cast<double>(i) / kParts;
    worst = std::max(worst, units(poet_cos_pi(x), std::sin(kPi * (0.5L - static_cast<long double>(x)))));
  }
  EXPECT_LE(worst, 2.0);
  EXPECT_EQ(poet_cos_pi(0.0), 1.0);
  EXPECT_EQ(poet_cos_pi(0.5), 0.0);
  EXPECT_EQ(poet_cos_pi(1.0), -1.0);
}

TEST(FirmwareHash, IsXxh32) {
  const auto hash = [](std::string_view text, std::uint32_t seed) {
    return poet_hash(text.data(), static_cast<std::uint32_t>(text.size()), seed);
  };
  EXPECT_EQ(hash("", 0), 0x02CC5D05U);
  EXPECT_EQ(hash("a", 0), 0x550D7456U);
  EXPECT_EQ(hash("abc", 0), 0x32D153FFU);
  EXPECT_EQ(hash("Nobody inspects the spammish repetition", 0), 0xE2293B2FU);
}

TEST(FirmwareBatches, AreTheHosts) {
  std::mt19937_64 random(9);
  for (int i = 0; i < 2'000; ++i) {
    const auto batch = static_cast<std::int64_t>(1 + random() % 8);
    const auto samples = batch + static_cast<std::int64_t>(random() % 3'000);
    const std::uint64_t seed = random();
    const auto step = static_cast<std::int64_t>(1 + random() % 10'000);
    std::vector<std::int64_t> wanted(static_cast<std::size_t>(batch));
    runtime::batch_of_step(step, samples, seed, wanted);
    for (std::int64_t place = 0; place < batch; ++place)
      ASSERT_EQ(poet_sample_of(static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(place),
                               static_cast<std::uint32_t>(batch), static_cast<std::uint32_t>(samples),
                               static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)),
                static_cast<std::uint32_t>(wanted[static_cast<std::size_t>(place)]));
  }
}

}  // namespace
}  // namespace poet
