#pragma once

// How much a test that takes long tries. Sanitizers slow it down, and look for other mistakes than the many
// cases do: with them it tries an eighth of the cases.

#include <chrono>
#include <cstdlib>

namespace poet::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// How many of `all` (at least 8) are to be tried.
constexpr int effort(int all) { return kSanitized ? all / 8 : all; }

/// More than how often something must have come up among them that does more than `all` times among all. Of
/// an eighth of the cases chance decides: half as much is asked of these.
constexpr int enough(int all) { return kSanitized ? all / 16 - 1 : all; }

/// A limit for what takes `seconds` at most where nothing else goes on: on a busy machine, with sanitizers.
constexpr double at_leisure(double seconds) { return seconds * (kSanitized ? 10 : 3); }

/// How long `action` takes.
double seconds_of(const auto& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// What an environment variable says instead: for runs by hand.
inline long from_environment(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atol(text);
}

}  // namespace poet::test
