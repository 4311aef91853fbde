// What an InputError tells: one line for people, place and rule for programs.

#include "poet/base/error.h"

#include <gtest/gtest.h>

#include <string>

namespace poet {
namespace {

TEST(InputError, TellsPlaceAndRule) {
  const InputError error("m4.json: /idle_watts", "must be >= 0: it is a power");
  EXPECT_STREQ(error.what(), "m4.json: /idle_watts: must be >= 0: it is a power");
  EXPECT_EQ(error.place(), "m4.json: /idle_watts");
  EXPECT_EQ(error.rule(), "must be >= 0: it is a power");
  EXPECT_FALSE(error.is_field());
}

TEST(InputError, TellsAFieldFromAFileOfItsName) {
  const InputError error(Field{"learning_rate"}, "must be > 0");
  EXPECT_STREQ(error.what(), "learning_rate: must be > 0");
  EXPECT_EQ(error.place(), "learning_rate");
  EXPECT_EQ(error.rule(), "must be > 0");
  EXPECT_TRUE(error.is_field());
}

TEST(InputError, WithoutAPlaceIsAllRule) {
  for (const InputError& error : {InputError("no: such thing"), InputError("", "no: such thing")}) {
    EXPECT_STREQ(error.what(), "no: such thing");
    EXPECT_EQ(error.place(), "");
    EXPECT_EQ(error.rule(), "no: such thing");
  }
}

TEST(InputError, KeepsThemWhenCopied) {
  const InputError error(Field{"seed"}, "is 5");
  const InputError copy = error;
  EXPECT_EQ(copy.place(), "seed");
  EXPECT_EQ(copy.rule(), "is 5");
  EXPECT_TRUE(copy.is_field());
}

}  // namespace
}  // namespace poet
