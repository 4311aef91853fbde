// The order of the samples: a keyed permutation of any size, from a Feistel network over the next larger
// power of four and cycle walking (Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002).

#include <fmt/format.h>

#include <bit>
#include <numeric>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/runtime/data/dataset.h"
#include "poet/runtime/random.h"

namespace poet::runtime {
namespace {

class Permutation {
 public:
  Permutation(std::int64_t size, std::uint64_t key)
      : size_(static_cast<std::uint64_t>(size)),
        half_bits_((static_cast<unsigned>(std::bit_width(size_ - 1)) + 1U) / 2U),
        mask_((std::uint64_t{1} << half_bits_) - 1),
        key_(key) {}

  [[nodiscard]] std::int64_t operator()(std::int64_t i) const {
    // What lands outside is sent on until it lands inside: on its cycle that is `i` itself at the latest.
    auto x = static_cast<std::uint64_t>(i);
    do x = feistel(x);
    while (x >= size_);
    return static_cast<std::int64_t>(x);
  }

 private:
  [[nodiscard]] std::uint64_t feistel(std::uint64_t x) const {
    constexpr std::uint64_t kRounds = 8;
    std::uint64_t left = x >> half_bits_;
    std::uint64_t right = x & mask_;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const std::uint64_t next = left ^ (random_bits(subkey(key_, round), right) & mask_);
      left = right;
      right = next;
    }
    return left << half_bits_ | right;
  }

  std::uint64_t size_;
  unsigned half_bits_;
  std::uint64_t mask_;
  std::uint64_t key_;
};

}  // namespace

void batch_of_step(std::int64_t step, std::int64_t samples, std::optional<std::uint64_t> seed,
                   std::span<std::int64_t> batch) {
  ensure(step >= 1 && !batch.empty(), "steps count from 1, and a batch has samples");
  const auto size = static_cast<std::int64_t>(batch.size());
  if (samples < size) {
    throw InputError("data set",
                     fmt::format("has {}, fewer than the {} of one batch", counted(samples, "sample"), size));
  }
  const std::int64_t steps_per_epoch = samples / size;
  const std::int64_t epoch = (step - 1) / steps_per_epoch;
  const std::int64_t first = (step - 1) % steps_per_epoch * size;
  if (!seed) return std::iota(batch.begin(), batch.end(), first);
  const Permutation order(samples, subkey(*seed, static_cast<std::uint64_t>(epoch)));
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i] = order(first + static_cast<std::int64_t>(i));
}

}  // namespace poet::runtime
