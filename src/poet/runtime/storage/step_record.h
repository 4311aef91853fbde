#pragma once

// What a run writes to its page file when a step is complete, so that it can be resumed after the process was
// killed. A record says how far the run has come, which page of each home is the step's, and what is in RAM.
// Two records alternate, so that one is whole while the other is written (docs/formats_run.md, "Page file").

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "poet/base/units.h"

namespace poet::runtime {

inline constexpr Bytes kRecordChecksum{8};  // behind the rest, XXH3-64

/// The page of a value that is at home on storage.
struct HomeRecord {
  std::uint32_t slot = 0;
  std::uint64_t checksum = 0;  // of the page as it is stored
};

struct StepRecord {
  Bytes size{};              // of the record, checksum included; 0: as much as there is room for
  std::uint64_t number = 0;  // of records, from 1
  std::int64_t step = 0;     // training steps done
  std::uint64_t seed = 0;
  float loss = 0;             // of the last step
  std::uint64_t network = 0;  // digests of what is trained
  std::uint64_t plan = 0;
  std::map<std::string, std::string> circumstances;  // what else decides the next bits
  std::vector<HomeRecord> homes;
};

/// Returns the bytes that encode() fills. Behind them the record has the resident values, then the checksum
/// of all before it.
[[nodiscard]] Bytes encoded_size(const StepRecord& record);
/// Fills `to`, which has encoded_size() bytes. Does not allocate.
void encode(const StepRecord& record, std::span<std::byte> to);
/// Returns the size that a record beginning with these bytes states, or `room` if it states none. Returns
/// nullopt if no record begins so, or if it is larger than `room`.
[[nodiscard]] std::optional<Bytes> record_size(std::span<const std::byte> bytes, Bytes room);
inline constexpr std::size_t kRecordSizeBytes = 20;  // what record_size() looks at
/// Returns the record with which the bytes begin; nullopt if they begin with none. Checks nothing else: that
/// takes the checksum.
[[nodiscard]] std::optional<StepRecord> decode(std::span<const std::byte> bytes);

}  // namespace poet::runtime
