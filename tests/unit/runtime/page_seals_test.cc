// What guards pages, by itself: PageFile asks both the checksum and the cipher, so that neither would be
// missed there.

#include <gtest/gtest.h>

#include <set>

#include "poet/runtime/storage/page_checksum.h"
#include "poet/runtime/storage/page_cipher.h"
#include "tests/support/pages.h"

namespace poet::runtime {
namespace {

using test::Page;
using test::random_page;

TEST(PageChecksum, IsXxh3) {
  PageChecksum checksum;
  // The published value of XXH3-64 for no bytes and seed 0.
  EXPECT_EQ(checksum.value(), 0x2d06800538d394c2U);
}

TEST(PageChecksum, DoesNotDependOnTheChunks) {
  const Page page = random_page(10'000, 1);
  PageChecksum whole;
  whole.add(page);
  for (const std::size_t cut : {1, 255, 4096, 9999}) {
    PageChecksum parts;
    parts.add(random_page(5, 2));
    parts.start();  // forgets these
    parts.add(std::span(page).first(cut));
    parts.add(std::span(page).subspan(cut));
    EXPECT_EQ(parts.value(), whole.value());
  }
}

class PageCipherTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_encrypt()) GTEST_SKIP() << "built without encryption";
    cipher_ = std::make_unique<PageCipher>();
    other_ = std::make_unique<PageCipher>();
    encrypt();
  }

  void encrypt() {
    cipher_->start_encrypting(seal_);
    cipher_->encrypt(std::span(plain_).first(300), stored_.data());
    cipher_->encrypt(std::span(plain_).subspan(300), stored_.data() + 300);
    cipher_->finish_encrypting(seal_);
  }

  bool decrypts(PageCipher& cipher, const Page& stored, const PageSeal& seal) {
    cipher.start_decrypting(seal);
    cipher.decrypt(std::span(stored).first(700), back_.data());
    cipher.decrypt(std::span(stored).subspan(700), back_.data() + 700);
    return cipher.finish_decrypting(seal);
  }

  std::unique_ptr<PageCipher> cipher_;
  std::unique_ptr<PageCipher> other_;
  const Page plain_ = random_page(1000, 3);
  Page stored_ = Page(1000);
  Page back_ = Page(1000);
  PageSeal seal_;
};

TEST_F(PageCipherTest, GivesBackWhatItTook) {
  EXPECT_NE(stored_, plain_);
  EXPECT_TRUE(decrypts(*cipher_, stored_, seal_));
  EXPECT_EQ(back_, plain_);
}

TEST_F(PageCipherTest, NoticesEveryChange) {
  Page stored = stored_;
  stored[999] ^= std::byte{1};
  EXPECT_FALSE(decrypts(*cipher_, stored, seal_));
  PageSeal seal = seal_;
  seal.tag[15] ^= 1;
  EXPECT_FALSE(decrypts(*cipher_, stored_, seal));
  seal = seal_;
  seal.nonce[0] ^= 1;
  EXPECT_FALSE(decrypts(*cipher_, stored_, seal));
  EXPECT_TRUE(decrypts(*cipher_, stored_, seal_));  // and goes on after that
}

TEST_F(PageCipherTest, EveryCipherHasAKeyOfItsOwn) {
  EXPECT_FALSE(decrypts(*other_, stored_, seal_));
  EXPECT_NE(back_, plain_);
}

TEST_F(PageCipherTest, NoNonceTwice) {
  std::set<std::array<unsigned char, 12>> seen;
  for (int i = 0; i < 1000; ++i) {
    encrypt();
    EXPECT_TRUE(seen.insert(seal_.nonce).second);
  }
}

}  // namespace
}  // namespace poet::runtime
