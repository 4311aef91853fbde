#include "poet/runtime/storage/transfer_queue.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "poet/base/error.h"
#include "poet/runtime/storage/quiet_thread.h"

namespace poet::runtime {
namespace {

struct QueuedTransfer {
  std::size_t slot = 0;
  const std::byte* from = nullptr;  // to page out
  std::byte* to = nullptr;          // to page in
  RowTransfer* rows = nullptr;      // instead of a slot's page
  Bytes bytes{};
};

Bytes moved(const RowTransfer& rows) {
  const auto count =
      std::count_if(rows.rows.begin(), rows.rows.end(), [](auto row) { return row != kOtherRow; });
  return static_cast<std::int64_t>(count) * rows.row;
}

}  // namespace

// Transfers issued but not ended are those numbered ended + 1 to issued; number n lies at ring[n % capacity].
struct TransferQueue::State {
  State(PageFile& pages, std::size_t capacity) : file(pages), ring(capacity) {}

  std::uint64_t issue(const QueuedTransfer& transfer);
  void serve();
  void carry_out(const QueuedTransfer& transfer);
  void end_one(const QueuedTransfer& transfer, Seconds time, std::exception_ptr failure);

  PageFile& file;
  std::vector<QueuedTransfer> ring;

  std::mutex mutex;  // of all below
  std::condition_variable changed;
  std::uint64_t issued = 0;
  std::uint64_t ended = 0;
  std::uint64_t failed = 0;  // the first that failed
  std::exception_ptr failure;
  bool closing = false;
  TransferTotals totals;

  std::thread thread;
};

std::uint64_t TransferQueue::State::issue(const QueuedTransfer& transfer) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return issued - ended < ring.size(); });
  if (failure) std::rethrow_exception(failure);
  ++issued;
  ring[issued % ring.size()] = transfer;
  changed.notify_all();
  return issued;
}

void TransferQueue::State::serve() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return closing || ended < issued; });
    if (ended == issued) return;
    const QueuedTransfer transfer = ring[(ended + 1) % ring.size()];
    const bool skip = failure != nullptr;
    lock.unlock();
    std::exception_ptr failed_now;
    const auto begin = std::chrono::steady_clock::now();
    try {
      if (!skip) carry_out(transfer);
    } catch (...) {
      failed_now = std::current_exception();
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    lock.lock();
    end_one(transfer, Seconds(time.count()), std::move(failed_now));
  }
}

void TransferQueue::State::carry_out(const QueuedTransfer& transfer) {
  if (transfer.rows != nullptr && transfer.from != nullptr)
    file.write_rows(*transfer.rows, transfer.from);
  else if (transfer.rows != nullptr)
    file.read_rows(*transfer.rows, transfer.to);
  else if (transfer.from != nullptr)
    file.write(transfer.slot, transfer.from);
  else
    file.read(transfer.slot, transfer.to);
}

void TransferQueue::State::end_one(const QueuedTransfer& transfer, Seconds time,
                                   std::exception_ptr failed_now) {
  ++ended;
  if (failed_now) {
    failure = std::move(failed_now);
    failed = ended;
  } else if (!failure && transfer.from != nullptr) {
    totals.writing += time;
    totals.written += transfer.bytes;
  } else if (!failure) {
    totals.reading += time;
    totals.read += transfer.bytes;
  }
  changed.notify_all();
}

TransferQueue::TransferQueue(PageFile& file, std::size_t capacity) {
  ensure(capacity > 0, "a transfer queue has room for a transfer");
  state_ = std::make_unique<State>(file, capacity);
  state_->thread = quiet_thread("the thread for transfers", [state = state_.get()] { state->serve(); });
}

TransferQueue::~TransferQueue() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->closing = true;
  }
  state_->changed.notify_all();
  state_->thread.join();
}

std::uint64_t TransferQueue::page_out(std::size_t slot, const std::byte* from) {
  return state_->issue(QueuedTransfer{.slot = slot, .from = from, .bytes = state_->file.bytes(slot)});
}

std::uint64_t TransferQueue::page_in(std::size_t slot, std::byte* to) {
  return state_->issue(QueuedTransfer{.slot = slot, .to = to, .bytes = state_->file.bytes(slot)});
}

std::uint64_t TransferQueue::page_out(RowTransfer& rows, const std::byte* from) {
  return state_->issue(QueuedTransfer{.from = from, .rows = &rows, .bytes = moved(rows)});
}

std::uint64_t TransferQueue::page_in(RowTransfer& rows, std::byte* to) {
  return state_->issue(QueuedTransfer{.to = to, .rows = &rows, .bytes = moved(rows)});
}

void TransferQueue::wait(std::uint64_t ticket) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  ensure(ticket <= s.issued, "only what was issued can be waited for");
  s.changed.wait(lock, [&] { return s.ended >= ticket; });
  if (s.failure && s.failed <= ticket) std::rethrow_exception(s.failure);
}

TransferTotals TransferQueue::totals() const {
  const std::lock_guard lock(state_->mutex);
  return state_->totals;
}

}  // namespace poet::runtime
