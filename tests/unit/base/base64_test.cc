#include "poet/base/base64.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

namespace poet {
namespace {

// RFC 4648, section 10.
TEST(Base64, IsThatOfTheStandard) {
  const std::pair<const char*, const char*> known[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : known) {
    EXPECT_EQ(base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, BytesComeBack) {
  std::mt19937 rng(7);
  for (std::size_t size = 0; size < 200; ++size) {
    std::string bytes(size, 0);
    for (char& byte : bytes) byte = static_cast<char>(rng());
    EXPECT_EQ(from_base64(base64(bytes)), bytes);
  }
}

TEST(Base64, RefusesWhatIsNone) {
  for (const char* text : {"Z", "Zg=", "Zg==Zg==", "Z===", "Z=g=", "Zm9%", "===="})
    EXPECT_THROW((void)from_base64(text), std::invalid_argument) << text;
}

}  // namespace
}  // namespace poet
