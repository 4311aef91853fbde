// How much RAM is reserved for gaps between addresses, try after try.

#include "poet/compile/variants/reserve.h"

#include <gtest/gtest.h>

namespace poet {
namespace {

TEST(ReserveSearch, NothingWhereTheFirstFits) {
  ReserveSearch search(Bytes(100));
  EXPECT_EQ(search.reserve(), Bytes(0));
  EXPECT_FALSE(search.next(Bytes(-3)));
  EXPECT_EQ(search.reserve(), Bytes(0));
}

TEST(ReserveSearch, NoPlanAtAllIsNotForWantOfAddresses) {
  ReserveSearch search(Bytes(100));
  EXPECT_FALSE(search.next(std::nullopt));
}

TEST(ReserveSearch, AsMuchAsTheAddressesAreOver) {
  ReserveSearch search(Bytes(100));
  EXPECT_TRUE(search.next(Bytes(7)));
  EXPECT_EQ(search.reserve(), Bytes(7));
  EXPECT_TRUE(search.next(Bytes(2)));
  EXPECT_EQ(search.reserve(), Bytes(9));
  EXPECT_FALSE(search.next(Bytes(0)));
  EXPECT_EQ(search.reserve(), Bytes(9));
}

// 20 leave no plan: half as much. 10 are too little by 15, and 25 are too much, so half-way to 20.
TEST(ReserveSearch, HalfAsMuchWhereThatLeavesTooLittle) {
  ReserveSearch search(Bytes(100));
  EXPECT_TRUE(search.next(Bytes(20)));
  EXPECT_TRUE(search.next(std::nullopt));
  EXPECT_EQ(search.reserve(), Bytes(10));
  EXPECT_TRUE(search.next(Bytes(15)));
  EXPECT_EQ(search.reserve(), Bytes(15));
  EXPECT_FALSE(search.next(Bytes(1)));  // the fourth
}

}  // namespace
}  // namespace poet
