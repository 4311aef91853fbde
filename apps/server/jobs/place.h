#pragma once

// Places for work of which only so much may be under way at once.

#include <atomic>

namespace poet::server {

/// One more is under way while it lives.
class Place {
 public:
  Place(std::atomic<int>& count, int most) : count_(count), free_(++count <= most) {}
  ~Place() { --count_; }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  Place(Place&&) = delete;
  Place& operator=(Place&&) = delete;
  /// Returns whether no more were under way than may be, with this one.
  [[nodiscard]] bool free() const { return free_; }

 private:
  std::atomic<int>& count_;
  bool free_;
};

}  // namespace poet::server
