#include <fmt/format.h>

#include <map>

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
            fmt::format("the gap that begins at {} must not be empty", gap.lower));
    require(gap.lower >= end && gap.upper <= buffer.upper, buffer,
            fmt::format("the gap that begins at {} must be within the lifetime and after the gap before it",
                        gap.lower));
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

void check_bank(const RequestedBuffer& buffer, const std::vector<Bank>& banks,
                const std::optional<std::size_t>& in) {
  if (banks.empty() || !buffer.offset) return;
  require(in.has_value(), buffer, "a fixed offset needs a bank that it is in");
  const Bank& bank = banks[*in];
  require(buffer.bytes == 0 || *buffer.offset + buffer.bytes <= bank.bytes, buffer,
          fmt::format("it ends at {}, beyond the {} bytes of bank {}", *buffer.offset + buffer.bytes,
                      bank.bytes, bank.name));
}

[[noreturn]] void refuse_overlap(const RequestedBuffer& earlier, const RequestedBuffer& later) {
  const std::string other =
      earlier.id.empty() ? earlier.place : fmt::format("\"{}\" ({})", earlier.id, earlier.place);
  throw InputError(later.place, fmt::format("its fixed offset {} overlaps that of {}", *later.offset, other));
}

/// Per bank, or in the one arena.
void check_fixed(const PackProblem& problem, const std::vector<std::optional<std::size_t>>& banks) {
  struct Fixed {
    std::vector<Buffer> buffers;
    std::vector<std::int64_t> offsets;
    std::vector<std::size_t> index;  // in the problem
  };
  std::map<std::size_t, Fixed> in_bank;
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    const RequestedBuffer& asked = problem.buffers[b];
    if (!asked.offset) continue;
    Fixed& fixed = in_bank[banks[b].value_or(0)];
    fixed.buffers.push_back(
        {.lower = asked.lower, .upper = asked.upper, .size = asked.bytes, .gaps = asked.gaps});
    fixed.offsets.push_back(*asked.offset);
    fixed.index.push_back(b);
  }
  for (const auto& [bank, fixed] : in_bank)
    if (const auto met = overlap_in(fixed.buffers, fixed.offsets))
      refuse_overlap(problem.buffers[fixed.index[met->first]], problem.buffers[fixed.index[met->second]]);
}

}  // namespace

std::vector<std::optional<std::size_t>> banks_of(const PackProblem& problem) {
  std::map<std::string, std::size_t> by_name;
  for (const Bank& bank : problem.banks) by_name.emplace(bank.name, by_name.size());
  std::vector<std::optional<std::size_t>> banks;
  for (const RequestedBuffer& buffer : problem.buffers) {
    banks.emplace_back();
    if (buffer.bank.empty()) {
      if (problem.banks.size() == 1) banks.back() = 0;
      continue;
    }
    const auto found = by_name.find(buffer.bank);
    require(found != by_name.end(), buffer, fmt::format("there is no bank \"{}\"", buffer.bank));
    banks.back() = found->second;
  }
  return banks;
}

void check(const PackProblem& problem) {
  const std::vector<std::optional<std::size_t>> banks = banks_of(problem);
  std::int64_t sum = 0;
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    const RequestedBuffer& buffer = problem.buffers[b];
    check_alone(buffer);
    check_bank(buffer, problem.banks, banks[b]);
    sum += buffer.bytes + buffer.alignment;
    require(sum <= kMostBytes, buffer, "sizes and alignments must add up to at most 2^60 so far");
  }
  std::int64_t room = 0;
  for (const Bank& bank : problem.banks) {
    if (bank.bytes < 0 || bank.bytes > kMostBytes - room)
      throw InputError("bank " + bank.name, "banks must have from 0 to 2^60 bytes, all together");
    room += bank.bytes;
  }
  check_fixed(problem, banks);
}

}  // namespace poet
