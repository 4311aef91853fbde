#include <fmt/format.h>

#include <algorithm>

#include "poet/base/error.h"
#include "poet/packing/problem.h"

namespace poet {
namespace {

constexpr std::int64_t kMostAlignment = std::int64_t{1} << 32;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;

void require(bool holds, const RequestedBuffer& buffer, const std::string& rule) {
  if (!holds) throw InputError(buffer.place, rule);
}

void check_gaps(const RequestedBuffer& buffer) {
  std::int64_t end = buffer.lower, absent = 0;
  for (const Lifetime& gap : buffer.gaps) {
    require(gap.upper > gap.lower, buffer,
            fmt::format("the gap {}-{} must end after it begins", gap.lower, gap.upper));
    require(gap.lower >= end && gap.upper <= buffer.upper, buffer,
            fmt::format("the gap {}-{} must be within the lifetime and after the gap before it", gap.lower,
                        gap.upper));
    end = gap.upper;
    absent += gap.upper - gap.lower;
  }
  require(absent < buffer.upper - buffer.lower, buffer, "gaps must leave some of the lifetime");
}

void check_alone(const RequestedBuffer& buffer) {
  require(buffer.upper > buffer.lower, buffer,
          fmt::format("the lifetime from {} to {} must not be empty", buffer.lower, buffer.upper));
  require(buffer.upper <= kMostBytes && buffer.lower >= -kMostBytes, buffer, "times must be within 2^60");
  require(buffer.bytes >= 0 && buffer.bytes <= kMostBytes, buffer,
          fmt::format("the size {} must be from 0 to 2^60", buffer.bytes));
  require(buffer.alignment >= 1 && buffer.alignment <= kMostAlignment, buffer,
          fmt::format("the alignment {} must be from 1 to 2^32", buffer.alignment));
  check_gaps(buffer);
  if (!buffer.offset) return;
  require(*buffer.offset >= 0 && *buffer.offset <= kMostBytes, buffer,
          fmt::format("the offset {} must be from 0 to 2^60", *buffer.offset));
  require(
      *buffer.offset % buffer.alignment == 0, buffer,
      fmt::format("the offset {} must be a multiple of the alignment {}", *buffer.offset, buffer.alignment));
}

void check_bank(const RequestedBuffer& buffer, const std::vector<Bank>& banks) {
  if (banks.empty()) {
    require(buffer.bank.empty(), buffer, fmt::format("there is no bank \"{}\"", buffer.bank));
    return;
  }
  const auto named = [&](const Bank& bank) { return bank.name == buffer.bank; };
  const auto found = banks.size() == 1 && buffer.bank.empty()
                         ? banks.begin()
                         : std::find_if(banks.begin(), banks.end(), named);
  require(buffer.bank.empty() || found != banks.end(), buffer,
          fmt::format("there is no bank \"{}\"", buffer.bank));
  if (!buffer.offset) return;
  require(found != banks.end(), buffer, "a fixed offset needs a bank that it is in");
  require(*buffer.offset + buffer.bytes <= found->bytes, buffer,
          fmt::format("it ends at {}, beyond the {} bytes of bank {}", *buffer.offset + buffer.bytes,
                      found->bytes, found->name));
}

bool live_together(const RequestedBuffer& a, const RequestedBuffer& b) {
  const auto periods = [](const RequestedBuffer& one) {
    return periods_of({.lower = one.lower, .upper = one.upper, .gaps = one.gaps});
  };
  for (const Lifetime& one : periods(a))
    for (const Lifetime& other : periods(b))
      if (one.lower < other.upper && other.lower < one.upper) return true;
  return false;
}

/// Neighbours in address that overlap; by begin, all before the end of one are tried.
void check_fixed(const std::vector<RequestedBuffer>& buffers) {
  std::vector<const RequestedBuffer*> fixed;
  for (const RequestedBuffer& buffer : buffers)
    if (buffer.offset && buffer.bytes > 0) fixed.push_back(&buffer);
  std::stable_sort(fixed.begin(), fixed.end(), [](const RequestedBuffer* a, const RequestedBuffer* b) {
    return std::pair(a->bank, *a->offset) < std::pair(b->bank, *b->offset);
  });
  for (auto a = fixed.begin(); a != fixed.end(); ++a)
    for (auto b = a + 1;
         b != fixed.end() && (*b)->bank == (*a)->bank && *(*b)->offset < *(*a)->offset + (*a)->bytes; ++b)
      if (live_together(**a, **b))
        throw InputError((*b)->place, fmt::format("its fixed offset {} overlaps that of \"{}\" ({})",
                                                  *(*b)->offset, (*a)->id, (*a)->place));
}

}  // namespace

void check(const PackProblem& problem) {
  std::int64_t sum = 0;
  for (const RequestedBuffer& buffer : problem.buffers) {
    check_alone(buffer);
    check_bank(buffer, problem.banks);
    sum += buffer.bytes + buffer.alignment;
    require(sum <= kMostBytes, buffer, "sizes and alignments must add up to at most 2^60 so far");
  }
  std::int64_t room = 0;
  for (const Bank& bank : problem.banks) {
    if (bank.bytes < 0 || bank.bytes > kMostBytes - room)
      throw InputError("bank " + bank.name, "banks must have from 0 to 2^60 bytes, all together");
    room += bank.bytes;
  }
  check_fixed(problem.buffers);
}

}  // namespace poet
