#include "poet/runtime/storage/page_cipher.h"

#include "poet/base/error.h"

#ifdef POET_HAS_OPENSSL
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#endif

namespace poet::runtime {

#ifdef POET_HAS_OPENSSL

namespace {

struct FreeCipher {
  void operator()(EVP_CIPHER* cipher) const { EVP_CIPHER_free(cipher); }
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;
using Key = std::array<unsigned char, 32>;

/// Overwrites the key when it goes out of scope, however that happens.
struct KeyEraser {
  Key& key;
  ~KeyEraser() { OPENSSL_cleanse(key.data(), key.size()); }
};

Context new_context() {
  Context context(EVP_CIPHER_CTX_new());
  if (!context) throw InputError("encryption of pages", "OpenSSL has no memory");
  return context;
}

}  // namespace

bool can_encrypt() { return true; }

// The library's contexts hold the expanded key; they overwrite it when they are freed.
struct PageCipher::State {
  std::unique_ptr<EVP_CIPHER, FreeCipher> cipher{EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr)};
  Context encrypting = new_context();
  Context decrypting = new_context();
  std::uint64_t pages = 0;
};

PageCipher::PageCipher() : state_(std::make_unique<State>()) {
  State& s = *state_;
  if (!s.cipher) throw InputError("encryption of pages", "this OpenSSL has no AES-256-GCM");
  Key key;
  const KeyEraser eraser{key};
  if (RAND_bytes(key.data(), static_cast<int>(key.size())) != 1)
    throw InputError("encryption of pages", "the system gives no random key");
  // With the first nonce at once: whatever the library allocates on first use, it allocates now.
  const PageSeal first;
  ensure(
      EVP_EncryptInit_ex2(s.encrypting.get(), s.cipher.get(), key.data(), first.nonce.data(), nullptr) == 1 &&
          EVP_DecryptInit_ex2(s.decrypting.get(), s.cipher.get(), key.data(), first.nonce.data(), nullptr) ==
              1,
      "OpenSSL takes a key of 32 bytes for AES-256-GCM");
}

PageCipher::~PageCipher() = default;

void PageCipher::start_encrypting(PageSeal& seal) {
  // A counter never repeats, and the key is this process's own: no two pages share a nonce.
  std::uint64_t number = ++state_->pages;
  for (std::size_t i = 0; i < sizeof number; ++i, number >>= 8)
    seal.nonce[i] = static_cast<unsigned char>(number & 0xff);
  ensure(EVP_EncryptInit_ex2(state_->encrypting.get(), nullptr, nullptr, seal.nonce.data(), nullptr) == 1,
         "AES-256-GCM takes a nonce of 12 bytes");
}

void PageCipher::encrypt(std::span<const std::byte> plain, std::byte* stored) {
  int written = 0;
  const int ok =
      EVP_EncryptUpdate(state_->encrypting.get(), reinterpret_cast<unsigned char*>(stored), &written,
                        reinterpret_cast<const unsigned char*>(plain.data()), static_cast<int>(plain.size()));
  ensure(ok == 1 && static_cast<std::size_t>(written) == plain.size(), "AES-256-GCM encrypts byte for byte");
}

void PageCipher::finish_encrypting(PageSeal& seal) {
  unsigned char none = 0;
  int written = 0;
  EVP_CIPHER_CTX* const context = state_->encrypting.get();
  ensure(EVP_EncryptFinal_ex(context, &none, &written) == 1 && written == 0 &&
             EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, static_cast<int>(seal.tag.size()),
                                 seal.tag.data()) == 1,
         "AES-256-GCM gives a tag of 16 bytes");
}

void PageCipher::start_decrypting(const PageSeal& seal) {
  ensure(EVP_DecryptInit_ex2(state_->decrypting.get(), nullptr, nullptr, seal.nonce.data(), nullptr) == 1,
         "AES-256-GCM takes a nonce of 12 bytes");
}

void PageCipher::decrypt(std::span<const std::byte> stored, std::byte* plain) {
  int written = 0;
  const int ok = EVP_DecryptUpdate(state_->decrypting.get(), reinterpret_cast<unsigned char*>(plain),
                                   &written, reinterpret_cast<const unsigned char*>(stored.data()),
                                   static_cast<int>(stored.size()));
  ensure(ok == 1 && static_cast<std::size_t>(written) == stored.size(), "AES-256-GCM decrypts byte for byte");
}

bool PageCipher::finish_decrypting(const PageSeal& seal) {
  EVP_CIPHER_CTX* const context = state_->decrypting.get();
  // The library's interface takes what it only reads as if it might write to it.
  auto* const tag = const_cast<unsigned char*>(seal.tag.data());
  ensure(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, static_cast<int>(seal.tag.size()), tag) == 1,
         "AES-256-GCM takes a tag of 16 bytes");
  unsigned char none = 0;
  int written = 0;
  return EVP_DecryptFinal_ex(context, &none, &written) == 1;
}

#else

bool can_encrypt() { return false; }

struct PageCipher::State {};

PageCipher::PageCipher() {
  throw InputError("encryption of pages", "this poet was built without it (POET_ENCRYPTION=OFF)");
}
PageCipher::~PageCipher() = default;
void PageCipher::start_encrypting(PageSeal&) {}
void PageCipher::encrypt(std::span<const std::byte>, std::byte*) {}
void PageCipher::finish_encrypting(PageSeal&) {}
void PageCipher::start_decrypting(const PageSeal&) {}
void PageCipher::decrypt(std::span<const std::byte>, std::byte*) {}
bool PageCipher::finish_decrypting(const PageSeal&) { return false; }

#endif

}  // namespace poet::runtime
