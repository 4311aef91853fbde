// The queue's thread: order, limits, totals, and what happens after a failure.

#include "poet/runtime/storage/transfer_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "poet/base/error.h"
#include "tests/support/pages.h"
#include "tests/support/program.h"
#include "tests/support/real_faults.h"

namespace poet::runtime {
namespace {

using test::Page;
using test::random_page;
using test::TemporaryFolder;
using ::testing::HasSubstr;

constexpr std::size_t kQueuePage = 20'000;

class TransferQueueTest : public ::testing::Test {
 protected:
  std::string name() const { return folder_.file("pages"); }

  const TemporaryFolder folder_;
  PageFile file_{{.where = name()}, std::vector<Bytes>(4, Bytes(kQueuePage))};
};

TEST_F(TransferQueueTest, CarriesOutInOrder) {
  TransferQueue queue(file_, 8);
  const Page first = random_page(kQueuePage, 1);
  const Page second = random_page(kQueuePage, 2);
  Page back_first(kQueuePage);
  Page back_second(kQueuePage);
  EXPECT_EQ(queue.page_out(0, first.data()), 1U);
  EXPECT_EQ(queue.page_in(0, back_first.data()), 2U);
  EXPECT_EQ(queue.page_out(0, second.data()), 3U);
  EXPECT_EQ(queue.page_in(0, back_second.data()), 4U);
  queue.wait(4);
  EXPECT_EQ(back_first, first);
  EXPECT_EQ(back_second, second);
  queue.wait(1);  // long ended
  EXPECT_THROW(queue.wait(5), InternalError);
}

TEST_F(TransferQueueTest, MoreTransfersThanItsCapacityWait) {
  TransferQueue queue(file_, 2);
  const Page page = random_page(kQueuePage, 3);
  for (int i = 0; i < 50; ++i) queue.page_out(static_cast<std::size_t>(i % 4), page.data());
  queue.wait(50);
  EXPECT_EQ(queue.totals().written, Bytes(50 * kQueuePage));
}

TEST_F(TransferQueueTest, CountsBytesAndTime) {
  TransferQueue queue(file_, 4);
  Page page = random_page(kQueuePage, 4);
  queue.page_out(0, page.data());
  queue.page_out(1, page.data());
  queue.wait(queue.page_in(1, page.data()));
  const TransferTotals totals = queue.totals();
  EXPECT_EQ(totals.written, Bytes(2 * kQueuePage));
  EXPECT_EQ(totals.read, Bytes(kQueuePage));
  EXPECT_GT(totals.writing, Seconds(0));
  EXPECT_GT(totals.reading, Seconds(0));
}

TEST_F(TransferQueueTest, EndsWhatIsUnderWay) {
  const Page page = random_page(kQueuePage, 5);
  {
    TransferQueue queue(file_, 4);
    for (std::size_t slot = 0; slot < 4; ++slot) queue.page_out(slot, page.data());
  }
  for (std::size_t slot = 0; slot < 4; ++slot) {
    Page back(kQueuePage);
    file_.read(slot, back.data());
    EXPECT_EQ(back, page);
  }
}

TEST_F(TransferQueueTest, AFailureEndsEverything) {
  TransferQueue queue(file_, 8);
  Page page = random_page(kQueuePage, 6);
  queue.wait(queue.page_out(0, page.data()));
  {
    const test::Instead full(test::descriptor_of(name()), "/dev/full");
    queue.page_out(1, page.data());
    try {
      queue.wait(2);
      FAIL() << "nothing can be written";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("page 1 of " + name() + ": cannot be written: No space left"));
    }
  }
  EXPECT_NO_THROW(queue.wait(1));  // that one is safe
  EXPECT_THROW(queue.wait(2), InputError);
  EXPECT_THROW(queue.page_in(0, page.data()), InputError);
  EXPECT_THROW(queue.page_out(0, page.data()), InputError);
  EXPECT_EQ(queue.totals().written, Bytes(kQueuePage));
}

TEST_F(TransferQueueTest, NothingIsCarriedOutAfterAFailure) {
  const Page page = random_page(kQueuePage, 7);
  file_.write(0, page.data());
  Page untouched(kQueuePage, std::byte{1});
  {
    TransferQueue queue(file_, 8);
    Page nowhere(kQueuePage);
    try {
      queue.page_in(3, nowhere.data());  // was never written
      queue.page_in(0, untouched.data());
    } catch (const InternalError&) {  // known before the second was issued
    }
    EXPECT_THROW(queue.wait(1), InternalError);
  }
  EXPECT_EQ(untouched, Page(kQueuePage, std::byte{1}));
}

/// A piece of memory that transfers go to and from, and what it must hold once the last of them has ended.
struct Place {
  Page memory = Page(kQueuePage);
  Page expected;
  std::uint64_t ticket = 0;
};

TEST_F(TransferQueueTest, ManyUnderWayGiveWhatOneByOneWould) {
  std::mt19937_64 random(8);
  std::vector<Page> stored(4);  // as the transfers issued so far will leave them
  std::vector<Place> places(6);
  TransferQueue queue(file_, 3);  // after the places, which are its own until it ends
  for (std::uint64_t i = 0; i < 300; ++i) {
    const std::size_t slot = random() % 4;
    Place& place = places[random() % places.size()];
    queue.wait(place.ticket);
    if (place.ticket != 0) {
      ASSERT_EQ(place.memory, place.expected) << i;
    }
    if (!stored[slot].empty() && random() % 2 == 0) {
      place.expected = stored[slot];
      place.ticket = queue.page_in(slot, place.memory.data());
    } else {
      place.memory = place.expected = stored[slot] = random_page(kQueuePage, i);
      place.ticket = queue.page_out(slot, place.memory.data());
    }
  }
}

}  // namespace
}  // namespace poet::runtime
