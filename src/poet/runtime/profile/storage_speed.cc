#include "poet/runtime/profile/storage_speed.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <numeric>
#include <thread>
#include <vector>

#include "poet/base/median.h"
#include "poet/runtime/storage/quiet_thread.h"
#include "poet/runtime/storage/transfer_queue.h"

namespace poet::runtime {
namespace {

constexpr std::array<std::int64_t, 8> kSizes = {4 << 10, 16 << 10, 64 << 10, 256 << 10,
                                                1 << 20, 2 << 20,  4 << 20,  8 << 20};
constexpr std::int64_t kLargestBesideCompute = 1 << 20;
constexpr std::int64_t kPlaces = 4;           // in memory, that transfers take turns in
constexpr std::int64_t kMostFilePlaces = 16;  // on the file, for each size
constexpr int kLeastRounds = 3;
constexpr int kMostRounds = 100;
constexpr int kRepetitions = 3;  // of what is timed beside compute

using Clock = std::chrono::steady_clock;

/// Never zero, whatever the clock's grain.
template <class Action>
Seconds time_of(const Action& action) {
  const Clock::time_point begin = Clock::now();
  action();
  const std::chrono::duration<double> time = Clock::now() - begin;
  return Seconds(std::max(time.count(), 1e-9));
}

/// Bytes that no device can shorten.
std::vector<std::byte> noise(std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::uint64_t state = 1;
  for (std::byte& b : bytes) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    b = static_cast<std::byte>(state >> 56);
  }
  return bytes;
}

/// On the file, for each size.
std::size_t places_of(Bytes footprint) {
  const std::int64_t all = std::accumulate(kSizes.begin(), kSizes.end(), std::int64_t{0});
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>((footprint.value() + all - 1) / all, 1, kMostFilePlaces));
}

/// All sizes, `places` times.
std::vector<Bytes> slots_of_all_sizes(std::size_t places) {
  std::vector<Bytes> slots;
  for (std::size_t place = 0; place < places; ++place)
    for (const std::int64_t size : kSizes) slots.emplace_back(size);
  return slots;
}

/// The transfers of one page file, timed: as a run has them, from and to memory that was not in use just now.
class Transfers {
 public:
  Transfers(PageFile& file, std::size_t places)
      : file_(file), places_(places), memory_(noise(static_cast<std::size_t>(kPlaces * kSizes.back()))) {}

  /// From now on only sizes up to the first whose round trip takes more than `most`; at least two.
  void warm_up(Seconds most) {
    sizes_ = 0;
    while (sizes_ < kSizes.size()) {
      const std::size_t slot = sizes_++;
      Seconds time = out(slot);
      time += in(slot);
      if (time > most && sizes_ >= 2) break;
    }
  }

  /// Every size, beginning with another one each time. Writes to one place on the file, and reads what was
  /// written longest ago, or of the first rounds what half of them ago.
  void round(std::size_t number, TransferQueue& queue) {
    const auto time = [&](std::vector<TransferSample>& samples, std::size_t slot, const auto& issue) {
      samples.push_back({Bytes(kSizes[slot]), time_of([&] { queue.wait(issue(slot)); })});
    };
    const std::size_t written = (number % places_) * kSizes.size();
    const std::size_t read = (number < places_ ? number / 2 : (number + 1) % places_) * kSizes.size();
    for (std::size_t i = 0; i < sizes_; ++i)
      time(out_, (i + number) % sizes_,
           [&](std::size_t slot) { return queue.page_out(written + slot, next()); });
    for (std::size_t i = 0; i < sizes_; ++i)
      time(in_, (i + number) % sizes_, [&](std::size_t slot) { return queue.page_in(read + slot, next()); });
  }

  [[nodiscard]] Bytes largest() const { return Bytes(kSizes[sizes_ - 1]); }
  [[nodiscard]] std::size_t sizes() const { return sizes_; }
  [[nodiscard]] std::byte* memory() { return memory_.data(); }
  [[nodiscard]] TransferFit page_out() const { return fit_transfers(out_); }
  [[nodiscard]] TransferFit page_in() const { return fit_transfers(in_); }

 private:
  Seconds out(std::size_t slot) {
    return time_of([&] { file_.write(slot, memory_.data()); });
  }
  Seconds in(std::size_t slot) {
    return time_of([&] { file_.read(slot, memory_.data()); });
  }
  std::byte* next() {
    place_ = (place_ + 1) % kPlaces;
    return memory_.data() + place_ * kSizes.back();
  }

  PageFile& file_;
  std::size_t places_;
  std::vector<std::byte> memory_;
  std::int64_t place_ = 0;
  std::size_t sizes_ = 0;
  std::vector<TransferSample> out_;
  std::vector<TransferSample> in_;
};

/// Arithmetic that stays in the first cache: what is in its way is the processor's other work alone.
void compute(std::int64_t passes) {
  std::array<float, 1024> numbers{};
  for (std::int64_t pass = 0; pass < passes; ++pass)
    for (float& number : numbers) number = number * 0.999F + 0.5F;
  volatile float used = numbers[static_cast<std::size_t>(passes) % numbers.size()];
  static_cast<void>(used);
}

std::int64_t passes_that_take(Seconds time) {
  std::int64_t passes = 64;
  Seconds measured = time_of([&] { compute(passes); });
  for (; measured < 0.25 * time; measured = time_of([&] { compute(passes); })) passes *= 2;
  return std::max<std::int64_t>(1,
                                static_cast<std::int64_t>(static_cast<double>(passes) * (time / measured)));
}

/// Round trips of a page, all queued at once so that whoever queues them has nothing more to do.
struct RoundTrips {
  TransferQueue& queue;
  std::size_t slot;
  std::byte* memory;
  int round_trips;

  [[nodiscard]] std::uint64_t issue() const {
    std::uint64_t last = 0;
    for (int i = 0; i < round_trips; ++i) {
      queue.page_out(slot, memory);
      last = queue.page_in(slot, memory);
    }
    return last;
  }
};

/// (time together) / (time alone + time alone), of something like `time` each.
double together_over_sum(PageFile& file, Transfers& transfers, Seconds time) {
  std::size_t slot = 0;
  while (slot + 1 < transfers.sizes() && kSizes[slot + 1] <= kLargestBesideCompute) ++slot;
  const Seconds once = time_of([&] {
    file.write(slot, transfers.memory());
    file.read(slot, transfers.memory());
  });
  const int round_trips = static_cast<int>(std::clamp(time / once, 2.0, 2000.0));
  TransferQueue queue(file, static_cast<std::size_t>(2 * round_trips));
  const RoundTrips series{queue, slot, transfers.memory(), round_trips};
  const std::int64_t passes = passes_that_take(time_of([&] { queue.wait(series.issue()); }));

  std::vector<double> alone_computing;
  std::vector<double> alone_paging;
  std::vector<double> both;
  for (int i = 0; i < kRepetitions; ++i) {
    alone_computing.push_back(time_of([&] { compute(passes); }).value());
    alone_paging.push_back(time_of([&] { queue.wait(series.issue()); }).value());
    both.push_back(time_of([&] {
                     const std::uint64_t last = series.issue();
                     compute(passes);
                     queue.wait(last);
                   }).value());
  }
  return median(both) / (median(alone_computing) + median(alone_paging));
}

/// `beside` again and again until `work`, on a thread of its own, is done. Throws what either throws.
void run_beside(const std::function<void()>& beside, const std::function<void()>& work) {
  std::atomic<bool> done = false;
  std::exception_ptr failure;
  std::thread worker = quiet_thread("the thread that times transfers", [&] {
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    done = true;
  });
  std::exception_ptr failure_beside;
  try {
    while (!done) beside();
  } catch (...) {
    failure_beside = std::current_exception();
  }
  worker.join();
  if (failure_beside) std::rethrow_exception(failure_beside);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

StorageSpeed measure_storage(const PageFileOptions& options, const std::function<void()>& beside,
                             Seconds budget, Bytes footprint) {
  const Clock::time_point begin = Clock::now();
  const auto since = [](Clock::time_point then) {
    return Seconds(std::chrono::duration<double>(Clock::now() - then).count());
  };
  const std::size_t places = places_of(footprint);
  PageFile file(options, slots_of_all_sizes(places));
  Transfers transfers(file, places);
  transfers.warm_up(0.05 * budget);

  StorageSpeed speed;
  // Three of each alone, three of both, and one to find out how long each is: 14 of them in two fifths.
  speed.together = together_over_sum(file, transfers, (0.4 / 14) * budget);
  speed.concurrent = speed.together < kConcurrentBelow;
  const auto rounds = [&] {
    TransferQueue queue(file, 1);
    const Clock::time_point first = Clock::now();
    while (speed.rounds < kLeastRounds || (speed.rounds < kMostRounds && since(first) < 0.6 * budget))
      transfers.round(static_cast<std::size_t>(speed.rounds++), queue);
  };
  speed.beside_compute = speed.concurrent && beside;
  if (speed.beside_compute)
    run_beside(beside, rounds);
  else
    rounds();
  speed.page_out = transfers.page_out();
  speed.page_in = transfers.page_in();
  speed.largest = transfers.largest();
  speed.in_ram = file.in_ram();
  speed.storage = file.description();
  speed.took = since(begin);
  return speed;
}

}  // namespace poet::runtime
