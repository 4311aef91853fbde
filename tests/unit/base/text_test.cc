// Text in words, lines and items.

#include "poet/base/text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace poet {
namespace {

using Texts = std::vector<std::string>;

TEST(WordsOf, AreWhatWhiteSpaceDivides) {
  EXPECT_EQ(words_of(" one\ttwo\n\nthree "), (Texts{"one", "two", "three"}));
  EXPECT_EQ(words_of("one"), Texts{"one"});
  EXPECT_TRUE(words_of(" \n").empty());
  EXPECT_TRUE(words_of("").empty());
}

TEST(PiecesOf, EndAtTheLastSeparatorAsLinesDo) {
  EXPECT_EQ(pieces_of("a,,b", ','), (Texts{"a", "", "b"}));
  EXPECT_EQ(pieces_of("a\nb\n", '\n'), (Texts{"a", "b"}));
  EXPECT_EQ(pieces_of(",a", ','), (Texts{"", "a"}));
  EXPECT_EQ(pieces_of(",", ','), Texts{""});
  EXPECT_TRUE(pieces_of("", ',').empty());
}

}  // namespace
}  // namespace poet
