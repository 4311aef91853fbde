#pragma once

#include <unistd.h>

#include <utility>

namespace poet {

/// Owns an open file or folder.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      number_ = other.release();
    }
    return *this;
  }

  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool valid() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }
  void close() {
    if (valid()) ::close(release());
  }

 private:
  int number_;
};

}  // namespace poet
