#pragma once

// How much a test that takes long tries: `./test` a sample, `./test --all` everything. Sanitizers slow it
// down, and look for other mistakes than the many cases do: with them it tries an eighth of the sample.

#include <cstdlib>

namespace poet::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// Whether everything is to be tried.
inline bool tries_all() { return std::getenv("POET_TEST_ALL") != nullptr; }

/// How many cases are to be tried: `quick` of `all`.
inline int cases(int quick, int all) {
  if (kSanitized) return quick < 16 ? 1 : quick / 8;
  return tries_all() ? all : quick;
}

/// How many of `all` (at least 8) are to be tried: one of `parts` equal parts.
constexpr int effort(int all, int parts = 1) {
  if (kSanitized) return all / 8 < all / parts ? all / 8 : all / parts;
  return parts == 1 || tries_all() ? all : all / parts;
}

/// The number that the count of an event must exceed, which exceeds `all` when every case is tried. When a
/// part is, about half of its share: chance decides.
constexpr int enough(int all, int parts = 1) {
  const bool whole = !kSanitized && (parts == 1 || tries_all());
  return whole ? all : effort(16 * all, parts) / 32 - 1;
}

/// What an environment variable says instead: for runs by hand.
inline long from_environment(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atol(text);
}

}  // namespace poet::test
