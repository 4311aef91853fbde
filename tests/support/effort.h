#pragma once

// How much a test that takes long tries. Sanitizers slow it down, and look for other mistakes than the many
// cases do: with them a fifth of the cases, and of what must have come up in these.

namespace poet::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// How many of `all` (at least 5) are to be tried.
constexpr int effort(int all) { return kSanitized ? all / 5 : all; }

}  // namespace poet::test
