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

TEST(InputError, TellsAHintFromTheRule) {
  const InputError error("--modle", "is no option", "poet --help lists them");
  EXPECT_STREQ(error.what(), "--modle: is no option (poet --help lists them)");
  EXPECT_EQ(error.place(), "--modle");
  EXPECT_EQ(error.rule(), "is no option");
  EXPECT_EQ(error.hint(), "poet --help lists them");
  const InputError bare("", "nothing is named", "poet --help lists what there is");
  EXPECT_EQ(bare.rule(), "nothing is named");
  EXPECT_EQ(InputError("x", "is 5 (of 7)").rule(), "is 5 (of 7)");
  EXPECT_EQ(InputError("x", "is 5 (of 7)").hint(), "");
}

// A field of a request may have any name.
TEST(InputError, DoesNotEndAtAZeroByte) {
  const std::string zero(1, '\0');
  const InputError error(zero, "is no field" + zero, zero + "see the list");
  EXPECT_STREQ(error.what(), " : is no field  ( see the list)");
  EXPECT_EQ(error.place(), " ");
  EXPECT_EQ(error.rule(), "is no field ");
  EXPECT_EQ(error.hint(), " see the list");
}

// Members and tensors of files as well.
TEST(InputError, LeavesOutTheMiddleOfALongName) {
  std::string name = "file.json: /";
  for (int i = 0; i < 2'000; ++i) name += "\u00e9";  // of two bytes
  const InputError error(name, "is not a field here");
  const std::string place(error.place());
  EXPECT_LT(place.size(), 1'010U);
  EXPECT_EQ(place.substr(0, 14), "file.json: /\u00e9");
  EXPECT_NE(place.find("\u00e9...\u00e9"), std::string::npos);
  EXPECT_EQ(error.rule(), "is not a field here");
}

TEST(InputError, LeavesOutTheMiddleOfALongRuleAndHint) {
  const InputError error("x", std::string(5'000, 'r'), std::string(5'000, 'h'));
  EXPECT_LT(std::string(error.what()).size(), 4'100U);
  EXPECT_EQ(error.rule().substr(0, 2), "rr");
  EXPECT_EQ(error.rule().back(), 'r');
  EXPECT_EQ(error.hint().substr(0, 2), "hh");
  EXPECT_EQ(error.hint().back(), 'h');
}

// A file's author does not colour, clear or retitle the terminal of who reads it.
TEST(InputError, SaysNoControlCharacters) {
  EXPECT_STREQ(InputError("a\x1b[31m", "is\r5\n").what(), "a [31m: is 5 ");
  EXPECT_STREQ(InputError("is\a5\x7f").what(), "is 5 ");
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
