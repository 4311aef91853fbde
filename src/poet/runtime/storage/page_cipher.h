#pragma once

// AES-256-GCM for pages, chunk by chunk, with a key that exists in this process's memory only: what is left
// on the storage, even after a crash, can be read by nobody.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace poet::runtime {

/// What decrypting one page needs besides the key. Kept in RAM.
struct PageSeal {
  std::array<unsigned char, 12> nonce{};
  std::array<unsigned char, 16> tag{};
};

/// Whether poet was built with it.
[[nodiscard]] bool can_encrypt();

class PageCipher {
 public:
  /// A new random key. Throws InputError where poet was built without encryption, or the system has no
  /// random numbers.
  PageCipher();
  ~PageCipher();  // the key is overwritten
  PageCipher(const PageCipher&) = delete;
  PageCipher& operator=(const PageCipher&) = delete;
  PageCipher(PageCipher&&) = delete;
  PageCipher& operator=(PageCipher&&) = delete;

  // A page: start, its chunks in order, finish. None of these allocates. Pages do not interleave.
  void start_encrypting(PageSeal& seal);  // a nonce that this key has not seen
  void encrypt(std::span<const std::byte> plain, std::byte* stored);
  void finish_encrypting(PageSeal& seal);

  void start_decrypting(const PageSeal& seal);
  void decrypt(std::span<const std::byte> stored, std::byte* plain);
  /// Whether the page is, bit by bit, what was encrypted. Until then its plain bytes are not to be trusted.
  [[nodiscard]] bool finish_decrypting(const PageSeal& seal);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace poet::runtime
