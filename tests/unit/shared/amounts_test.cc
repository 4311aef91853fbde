#include "apps/shared/amounts.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "poet/base/error.h"

namespace poet::cli {
namespace {

std::string message_of(const auto& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no exception";
}

TEST(ParseBytes, UnderstandsUnits) {
  const std::vector<std::pair<std::string, std::int64_t>> cases = {
      {"737719", 737719},          {"0", 0},           {"300KiB", 300 * 1024},
      {"300 KiB", 300 * 1024},     {"2MB", 2'000'000}, {"2mb", 2'000'000},
      {"1.5 MiB", 3 * 512 * 1024}, {"1GiB", 1 << 30},  {"4GB", 4'000'000'000},
      {"1TB", 1'000'000'000'000},  {"12B", 12},        {"3e6", 3'000'000},
      {" 64 KB ", 64'000},
  };
  for (const auto& [text, bytes] : cases) EXPECT_EQ(parse_bytes("--ram-budget", text).value(), bytes) << text;
}

TEST(ParseBytes, CutsFractionsOffButNotRoundingErrors) {
  EXPECT_EQ(parse_bytes("--x", "0.0019KB").value(), 1);      // 1.9 bytes
  EXPECT_EQ(parse_bytes("--x", "0.29MB").value(), 290'000);  // 0.29 * 1e6 = 289999.99999999994
  EXPECT_EQ(parse_bytes("--x", "4.35KB").value(), 4350);     // 4.35 * 1000 = 4350 or a rounding error below
  EXPECT_EQ(parse_bytes("--x", "9007199254740993").value(),
            9007199254740993);  // 2^53 + 1: no double holds it
}

TEST(ParseBytes, RefusesEverythingElseInOneLine) {
  EXPECT_EQ(message_of([] { (void)parse_bytes("--ram-budget", "12XB"); }),
            "--ram-budget: \"12XB\" is not an amount of bytes (try 300KiB, 2MB or 737719)");
  for (const std::string text : {"", " ", "-1", "-5KB", "-0.5", "KB", "nan", "inf", "1,5MB", "1 2", "12 X",
                                 "0x10", "+5", "1e999", "300K", "2M i B"}) {
    EXPECT_EQ(message_of([&] { (void)parse_bytes("--ram-budget", text); }),
              "--ram-budget: \"" + text + "\" is not an amount of bytes (try 300KiB, 2MB or 737719)");
  }
  for (const std::string text : {"1e30", "9223372036854775808", "10000000000GB"}) {
    EXPECT_EQ(message_of([&] { (void)parse_bytes("--b", text); }),
              "--b: \"" + text + "\" is more bytes than 64 bits can count");
  }
}

TEST(ParseDuration, UnderstandsUnits) {
  const std::vector<std::pair<std::string, double>> cases = {{"50ms", 0.05}, {"2s", 2},     {"1.5min", 90},
                                                             {"90us", 9e-5}, {"5ns", 5e-9}, {"0.25", 0.25},
                                                             {"2 h", 7200},  {"1e-3", 1e-3}};
  for (const auto& [text, seconds] : cases)
    EXPECT_DOUBLE_EQ(parse_duration("--deadline", text).value(), seconds) << text;
}

TEST(ParseDuration, RefusesWhatIsNoDuration) {
  EXPECT_EQ(message_of([] { (void)parse_duration("--deadline", "soon"); }),
            "--deadline: \"soon\" is not a duration (try 50ms, 2s or 1.5min)");
  EXPECT_EQ(message_of([] { (void)parse_duration("--deadline", "0s"); }),
            "--deadline: \"0s\" must be a finite time > 0");
  EXPECT_EQ(message_of([] { (void)parse_duration("--deadline", "1e308h"); }),
            "--deadline: \"1e308h\" must be a finite time > 0");
  for (const std::string text : {"-1s", "nan", "inf", "5 kg", "5m"}) {
    EXPECT_THROW((void)parse_duration("--deadline", text), InputError) << text;
  }
}

TEST(ParseFraction, TakesPercentAndPlainNumbers) {
  EXPECT_DOUBLE_EQ(parse_fraction("--gap", "1%"), 0.01);
  EXPECT_DOUBLE_EQ(parse_fraction("--gap", "0.01"), 0.01);
  EXPECT_DOUBLE_EQ(parse_fraction("--gap", "0"), 0);
  EXPECT_DOUBLE_EQ(parse_fraction("--gap", "100 %"), 1);
  EXPECT_EQ(message_of([] { (void)parse_fraction("--gap", "5"); }),
            "--gap: \"5\" must be from 0 to 1, or 0% to 100%");
  EXPECT_EQ(message_of([] { (void)parse_fraction("--gap", "-1%"); }),
            "--gap: \"-1%\" is not a fraction (try 1% or 0.01)");
}

TEST(ParseFactor, IsFiniteAndPositive) {
  EXPECT_DOUBLE_EQ(parse_factor("--runtime-budget", "1.3"), 1.3);
  for (const std::string text : {"0", "-1", "nan", "inf", "1.3x", "", "1e-400"}) {
    EXPECT_THROW((void)parse_factor("--runtime-budget", text), InputError) << text;
  }
}

TEST(ParseCount, IsWholeAndAtLeastOne) {
  EXPECT_EQ(parse_count("--steps", "1"), 1);
  EXPECT_EQ(parse_count("--steps", "1000000"), 1'000'000);
  EXPECT_EQ(message_of([] { (void)parse_count("--steps", "0"); }),
            "--steps: \"0\" is not a whole number >= 1");
  for (const std::string text : {"-3", "1.5", "two", "", "99999999999999999999"}) {
    EXPECT_THROW((void)parse_count("--steps", text), InputError) << text;
  }
}

TEST(Format, Counts) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(11173962), "11,173,962");
  EXPECT_EQ(format_count(-123456), "-123,456");
  EXPECT_EQ(format_short(9999), "9,999");
  EXPECT_EQ(format_short(555422720), "555 M");
  EXPECT_EQ(format_short(1.814e9), "1.81 G");
}

TEST(Format, NumbersHaveSignificantDigitsAndNoExponent) {
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(12.345678), "12.35");
  EXPECT_EQ(format_number(0.00123456), "0.001235");
  EXPECT_EQ(format_number(123456), "123456");
  EXPECT_EQ(format_number(999.96), "1000");  // rounds up to another magnitude
  EXPECT_EQ(format_number(9.9999), "10.00");
  EXPECT_EQ(format_number(7.889510182, 6), "7.88951");
}

TEST(Format, QuantitiesTakeTheUnitThatReadsBest) {
  EXPECT_EQ(format_bytes(Bytes(0)), "0 B");
  EXPECT_EQ(format_bytes(Bytes(5016)), "5,016 B");
  EXPECT_EQ(format_bytes(Bytes(803072)), "803.1 KB");
  EXPECT_EQ(format_bytes(Bytes(999'999)), "1 MB");  // 1000.0 KB after rounding
  EXPECT_EQ(format_bytes(Bytes(3'000'000)), "3 MB");
  EXPECT_EQ(format_bytes(Bytes(8'000'000'000)), "8 GB");
  EXPECT_EQ(format_ram(Bytes(262144)), "256 KiB");
  EXPECT_EQ(format_ram(Bytes(2147483648)), "2 GiB");
  EXPECT_EQ(format_ram(Bytes(1536)), "1,536 B");
  EXPECT_EQ(format_ram(Bytes(1'000'000)), "1 MB");
  EXPECT_EQ(format_joules(Joules(7.889510182705894), 6), "7.88951 J");
  EXPECT_EQ(format_joules(Joules(0.0031)), "3.1 mJ");
  EXPECT_EQ(format_joules(Joules(4.56e-4)), "456 uJ");
  EXPECT_EQ(format_joules(Joules(1896.45)), "1.896 kJ");
  EXPECT_EQ(format_joules(Joules(0)), "0 J");
  EXPECT_EQ(format_seconds(Seconds(0.05)), "50 ms");
  EXPECT_EQ(format_seconds(Seconds(90)), "90 s");
  EXPECT_EQ(format_seconds(Seconds(150)), "2.5 min");
  EXPECT_EQ(format_seconds(Seconds(9000)), "2.5 h");
  EXPECT_EQ(format_watts(Watts(0.00165), 3), "1.65 mW");
}

TEST(Format, PercentKeepsWhatIsNotZero) {
  EXPECT_EQ(format_percent(0), "0%");
  EXPECT_EQ(format_percent(0.5), "50%");
  EXPECT_EQ(format_percent(0.0016), "0.16%");
  EXPECT_EQ(format_percent(0.12345), "12.3%");
  EXPECT_EQ(format_percent(1e-9), "<0.0001%");
  EXPECT_EQ(format_percent(-1e-9), ">-0.0001%");
  EXPECT_EQ(format_percent(0.00000123), "0.0001%");
  EXPECT_EQ(format_percent(7.6), "760%");
}

}  // namespace
}  // namespace poet::cli
