#include "tests/support/fuzz_readers.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "poet/base/error.h"

namespace poet::test {

FuzzOutcome read_or_refuse(void (*read)(std::span<const std::uint8_t>), std::span<const std::uint8_t> bytes) {
  try {
    read(bytes);
    return FuzzOutcome::taken;
  } catch (const InputError& error) {
    const std::string text = error.what();
    if (text.empty() || text.size() > 2000 || text.find('\n') != std::string::npos) {
      std::fprintf(stderr, "not one short line: %s\n", text.substr(0, 4000).c_str());
      std::abort();
    }
    return FuzzOutcome::refused;
  }
}

}  // namespace poet::test
