#pragma once

// Static memory allocation as other compilers pose it: buffers with lifetimes and sizes, to be placed in one
// arena or in several memories ("banks"). Times and bytes are whole numbers; what a time is is theirs to say.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "poet/base/stop.h"
#include "poet/plan/layout/arena/pack.h"

namespace poet {

struct RequestedBuffer {
  std::string id;                           // need not be unique
  std::int64_t lower = 0;                   // alive during [lower, upper)
  std::int64_t upper = 0;                   //
  std::int64_t bytes = 0;                   // 0: it takes no room, wherever its offset is fixed
  std::int64_t alignment = 1;               // bytes; the offset is a multiple of it
  std::vector<Lifetime> gaps = {};          // within its lifetime, in order: nothing is kept during these
  std::optional<std::int64_t> offset = {};  // fixed: bytes from the beginning of its bank
  std::string bank = {};                    // that it has to be in; empty: in any
  std::string place = {};                   // where it was read, for messages: "buffers.csv:3"
};

struct Bank {
  std::string name;
  std::int64_t bytes = 0;
};

struct PackProblem {
  std::vector<RequestedBuffer> buffers;
  std::vector<Bank> banks;                    // none: one arena
  std::optional<std::int64_t> capacity = {};  // of the one arena, in bytes; none: the least is sought
};

enum class PackVerdict {
  optimal,     // and no arena is smaller, fixed offsets being what they are
  feasible,    // within the capacity or the banks; without a capacity: the smallest arena found
  infeasible,  // proven: no packing is within the capacity or the banks
  unknown,     // none was found within the limits
};

[[nodiscard]] const char* to_string(PackVerdict verdict);

struct PackedBuffer {
  std::int64_t offset = 0;  // bytes from the beginning of its bank
  std::size_t bank = 0;
};

struct PackSolution {
  PackVerdict verdict = PackVerdict::unknown;
  std::vector<PackedBuffer> buffers;  // if optimal or feasible: one per buffer
  std::vector<std::int64_t> heights;  // with them: bytes used of each bank, or of the one arena
  std::int64_t least_height = 0;      // of one arena: of the best packing found, whatever its capacity
  std::int64_t lower_bound = 0;       // of one arena: no packing takes fewer bytes
  std::int64_t nodes = 0;             // of the search
};

/// Returns for each buffer the index of the bank that it has to be in: of the one that it names, or of the
/// only one; none: in any, or there are no banks. Throws InputError with the buffer's place for a bank that
/// there is not. O(buffers log banks).
[[nodiscard]] std::vector<std::optional<std::size_t>> banks_of(const PackProblem& problem);

/// Throws InputError with the buffer's place: for an empty lifetime, a negative size or offset, an alignment
/// below 1 or above 2^32, gaps that are not in order within the lifetime or leave nothing of it, an offset
/// that is no multiple of the alignment, a bank that there is not, an offset without one of several banks,
/// fixed buffers that overlap or end beyond their bank, sizes or banks that add up to more than 2^60.
/// O(periods log periods), where a buffer has one period more than gaps.
void check(const PackProblem& problem);

/// Checks the problem, then searches (plan/layout/arena/pack.h) until it is decided or `stop`; up to 2,000
/// buffers, beyond which first-fit alone decides. With a capacity or banks the question is whether everything
/// fits; without, what the least arena is. `effort`: of the search without a capacity, at most; that of
/// pack() by default is a few seconds. Same problem and effort, same solution, unless stopped. With several
/// banks the choice of banks is part of the search, so that `infeasible` is proven for every choice.
[[nodiscard]] PackSolution solve_packing(const PackProblem& problem, std::int64_t effort, const Stop& stop);

}  // namespace poet
