#pragma once

// The channel between RAM and storage: a thread that executes transfers in order while compute runs.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "poet/runtime/storage/page_file.h"
#include "poet/runtime/storage/transfer_totals.h"

namespace poet::runtime {

/// A FIFO queue. Tickets count from 1. Does not allocate after construction; at most `capacity` transfers may
/// be pending (a further one waits for the first to end). While transfers are pending, the file and their
/// memory belong to the queue and must outlive it. To be used by one thread.
class TransferQueue {
 public:
  /// Throws InputError if no thread can be started.
  TransferQueue(PageFile& file, std::size_t capacity);
  ~TransferQueue();  // waits for pending transfers
  TransferQueue(const TransferQueue&) = delete;
  TransferQueue& operator=(const TransferQueue&) = delete;
  TransferQueue(TransferQueue&&) = delete;
  TransferQueue& operator=(TransferQueue&&) = delete;

  /// Issue a transfer and return its ticket. After a transfer has failed they throw as wait() does.
  std::uint64_t page_out(std::size_t slot, const std::byte* from);
  std::uint64_t page_in(std::size_t slot, std::byte* to);
  /// Rows of a table; `rows` is the queue's until that transfer has ended.
  std::uint64_t page_out(RowTransfer& rows, const std::byte* from);
  std::uint64_t page_in(RowTransfer& rows, std::byte* to);

  /// Waits for that transfer and all before it. Throws the InputError of the first transfer that failed if it
  /// is one of these; later ones are not executed.
  void wait(std::uint64_t ticket);

  /// Since it was made.
  [[nodiscard]] TransferTotals totals() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace poet::runtime
