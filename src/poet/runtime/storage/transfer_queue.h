#pragma once

// The one channel between RAM and storage, beside compute: a thread that carries transfers out in order.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "poet/base/units.h"
#include "poet/runtime/storage/page_file.h"

namespace poet::runtime {

/// Since the queue was made or since the last reset.
struct TransferTotals {
  Seconds reading{};  // the channel's own time
  Seconds writing{};
  Bytes read{};
  Bytes written{};
};

/// First in, first out. Tickets count from 1. Nothing allocates after construction; at most `capacity`
/// transfers may be under way (a further one waits for the first to end).
class TransferQueue {
 public:
  TransferQueue(PageFile& file, std::size_t capacity);
  ~TransferQueue();  // ends what is under way
  TransferQueue(const TransferQueue&) = delete;
  TransferQueue& operator=(const TransferQueue&) = delete;
  TransferQueue(TransferQueue&&) = delete;
  TransferQueue& operator=(TransferQueue&&) = delete;

  std::uint64_t page_out(std::size_t slot, const std::byte* from);
  std::uint64_t page_in(std::size_t slot, std::byte* to);

  /// Until that transfer, and with it all before, has ended. Throws the InputError of a transfer that failed;
  /// after one, nothing more is carried out.
  void wait(std::uint64_t ticket);

  [[nodiscard]] TransferTotals totals() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace poet::runtime
