#pragma once

// The one channel between RAM and storage, beside compute: a thread that carries transfers out in order.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "poet/runtime/storage/page_file.h"
#include "poet/runtime/storage/transfer_totals.h"

namespace poet::runtime {

/// First in, first out. Tickets count from 1. Nothing allocates after construction; at most `capacity`
/// transfers may be under way (a further one waits for the first to end). While there are any, the file and
/// the memory that they were given belong to the queue: make it after them. For one thread besides its own.
class TransferQueue {
 public:
  /// Throws InputError when the system has no thread to give.
  TransferQueue(PageFile& file, std::size_t capacity);
  ~TransferQueue();  // after what is under way has ended
  TransferQueue(const TransferQueue&) = delete;
  TransferQueue& operator=(const TransferQueue&) = delete;
  TransferQueue(TransferQueue&&) = delete;
  TransferQueue& operator=(TransferQueue&&) = delete;

  /// After a transfer has failed these throw as wait() does.
  std::uint64_t page_out(std::size_t slot, const std::byte* from);
  std::uint64_t page_in(std::size_t slot, std::byte* to);
  /// Rows of a table; `rows` is the queue's until that transfer has ended.
  std::uint64_t page_out(RowTransfer& rows, const std::byte* from);
  std::uint64_t page_in(RowTransfer& rows, std::byte* to);

  /// Until that transfer, and with it all before, has ended. Throws the InputError of the first transfer that
  /// failed if it is one of these; nothing after that one is carried out.
  void wait(std::uint64_t ticket);

  /// Since it was made.
  [[nodiscard]] TransferTotals totals() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace poet::runtime
