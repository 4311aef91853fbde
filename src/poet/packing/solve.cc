// Banks become one arena: one above the other, parted by fixed buffers that live throughout. Where a buffer
// lies in it says in which bank it is, so that the search for addresses is the search for banks.

#include <algorithm>
#include <numeric>

#include "poet/base/error.h"
#include "poet/packing/problem.h"

namespace poet {
namespace {

struct Joint {
  std::vector<Buffer> buffers;                    // those of the problem, then the partitions
  std::vector<std::optional<std::size_t>> banks;  // per buffer of the problem: that it has to be in
  std::vector<std::int64_t> origins;              // of the banks
  std::int64_t height = 0;                        // all banks
};

/// Every bank begins at a multiple of all alignments.
std::int64_t grain_of(const std::vector<RequestedBuffer>& buffers) {
  constexpr std::int64_t kMost = std::int64_t{1} << 32;
  std::int64_t grain = 1;
  for (const RequestedBuffer& buffer : buffers) {
    grain = std::lcm(grain, buffer.alignment);
    if (grain > kMost)
      throw InputError(buffer.place,
                       "the alignments must have a common multiple up to 2^32, as there are banks");
  }
  return grain;
}

Joint joined(const PackProblem& problem) {
  Joint joint;
  const std::int64_t grain = problem.banks.size() > 1 ? grain_of(problem.buffers) : 1;
  for (const Bank& bank : problem.banks) {
    joint.origins.push_back(joint.origins.empty() ? 0 : aligned(joint.height + 1, grain));
    joint.height = joint.origins.back() + bank.bytes;
  }
  if (problem.banks.empty()) joint.origins.push_back(0);
  joint.banks = banks_of(problem);
  std::int64_t first = 0, last = 1;
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    const RequestedBuffer& asked = problem.buffers[b];
    first = std::min(first, asked.lower);
    last = std::max(last, asked.upper);
    Buffer buffer{.lower = asked.lower,
                  .upper = asked.upper,
                  .size = asked.bytes,
                  .alignment = asked.alignment,
                  .gaps = asked.gaps};
    if (const auto bank = joint.banks[b]) {
      buffer.from = joint.origins[*bank];
      buffer.to = joint.origins[*bank] + problem.banks[*bank].bytes;
    }
    if (asked.offset) {
      buffer.from += *asked.offset;
      buffer.to = buffer.from + buffer.size;
    }
    joint.buffers.push_back(std::move(buffer));
  }
  for (std::size_t bank = 1; bank < problem.banks.size(); ++bank) {
    const std::int64_t below = joint.origins[bank - 1] + problem.banks[bank - 1].bytes;
    joint.buffers.push_back({.lower = first,
                             .upper = last,
                             .size = joint.origins[bank] - below,
                             .from = below,
                             .to = joint.origins[bank]});
  }
  return joint;
}

/// A buffer that has to be in a bank which is smaller than it is.
bool is_too_large(const Buffer& buffer) { return buffer.to - buffer.from < buffer.size; }

/// The better packing, what is known by both, and the nodes of both.
Packing better_of(Packing a, Packing b) {
  Packing& better = b.height < a.height ? b : a;
  better.lower_bound = std::max(a.lower_bound, b.lower_bound);
  better.nodes = a.nodes + b.nodes;
  return std::move(better);
}

/// pack() aims at the lower bound with most of its effort, which may be in vain: so in rounds of four times
/// the effort, and after each, an eighth of the distance at a time, as long as that succeeds. Not without a
/// search: rounds would repeat the same first-fits, whose number pack() limits.
Packing least(const std::vector<Buffer>& buffers, PackOptions options) {
  const auto taking_room =
      std::count_if(buffers.begin(), buffers.end(), [](const Buffer& buffer) { return buffer.size > 0; });
  if (static_cast<std::size_t>(taking_room) > kMostSearched) return pack(buffers, options);
  const std::int64_t most = options.effort;
  options.effort = std::min<std::int64_t>(most, 200'000'000);
  Packing best = pack(buffers, options);
  const auto open = [&] { return best.height > best.lower_bound && !options.stop(); };
  while (open() && options.effort < most / 4) {
    for (bool lower = true; lower && open();) {
      PackOptions step = options;
      step.good_enough = best.height - 1 - (best.height - best.lower_bound) / 8;
      step.capacity = step.good_enough;
      best = better_of(std::move(best), pack(buffers, step));
      lower = best.height <= step.good_enough;
    }
    options.effort *= 4;
    if (open()) best = better_of(std::move(best), pack(buffers, options));
  }
  return best;
}

void add_addresses(PackSolution& solution, const PackProblem& problem, const Joint& joint,
                   const std::vector<std::int64_t>& offsets) {
  solution.heights.assign(joint.origins.size(), 0);
  for (std::size_t b = 0; b < problem.buffers.size(); ++b) {
    const auto above = std::upper_bound(joint.origins.begin(), joint.origins.end(), offsets[b]);
    // The fixed offset of a buffer that takes no room may be beyond its bank.
    const std::size_t bank =
        joint.banks[b].value_or(static_cast<std::size_t>(above - joint.origins.begin() - 1));
    const std::int64_t offset = offsets[b] - joint.origins[bank];
    solution.buffers.push_back({offset, bank});
    if (problem.buffers[b].bytes > 0)
      solution.heights[bank] = std::max(solution.heights[bank], offset + problem.buffers[b].bytes);
  }
}

}  // namespace

const char* to_string(PackVerdict verdict) {
  switch (verdict) {
    case PackVerdict::optimal:
      return "optimal";
    case PackVerdict::feasible:
      return "feasible";
    case PackVerdict::infeasible:
      return "infeasible";
    case PackVerdict::unknown:
      return "unknown";
  }
  return "";
}

PackSolution solve_packing(const PackProblem& problem, std::int64_t effort, const Stop& stop) {
  check(problem);
  const Joint joint = joined(problem);
  PackSolution solution;
  if (std::any_of(joint.buffers.begin(), joint.buffers.end(), is_too_large)) {
    solution.verdict = PackVerdict::infeasible;
    return solution;
  }
  PackOptions options;
  options.effort = effort;
  options.stop = stop;
  const bool has_banks = !problem.banks.empty();
  const bool has_capacity = has_banks || problem.capacity;
  if (has_capacity) options.capacity = options.good_enough = has_banks ? joint.height : *problem.capacity;
  const Packing packing = has_capacity ? pack(joint.buffers, options) : least(joint.buffers, options);
  solution.nodes = packing.nodes;
  if (!has_banks) {
    solution.least_height = packing.height;
    solution.lower_bound = packing.lower_bound;
  }
  if (packing.height > options.capacity || packing.offsets.size() < joint.buffers.size()) {
    solution.verdict =
        packing.lower_bound > options.capacity ? PackVerdict::infeasible : PackVerdict::unknown;
    return solution;
  }
  const bool is_least = !has_banks && packing.height == packing.lower_bound;
  solution.verdict = is_least ? PackVerdict::optimal : PackVerdict::feasible;
  add_addresses(solution, problem, joint, packing.offsets);
  return solution;
}

}  // namespace poet
