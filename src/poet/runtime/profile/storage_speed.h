#pragma once

// How fast this machine pages, as a plan will: through a PageFile, checksums and encryption included.

#include <functional>
#include <string>

#include "poet/base/units.h"
#include "poet/runtime/profile/transfer_fit.h"
#include "poet/runtime/storage/page_file.h"

namespace poet::runtime {

/// Transfers run beside compute when both together take less than this part of one after the other. Half is
/// perfect, all is one at a time; in between a processor that is short of cores shares itself out.
inline constexpr double kConcurrentBelow = 0.75;

struct StorageSpeed {
  TransferFit page_out;
  TransferFit page_in;
  /// Time of transfers and compute together over the sum of their times alone.
  double together = 1;
  bool concurrent = false;      // together < kConcurrentBelow
  bool beside_compute = false;  // the fits are of transfers beside compute
  Bytes largest{};              // the largest transfer tried
  int rounds = 0;               // transfers of every size and direction that the fits are from
  bool in_ram = false;          // it is RAM that was measured, not storage
  std::string storage;          // PageFile::description()
  Seconds took{};
};

/// Measures a page file made at `file.where`. Method: a loop of arithmetic in the cache alone, transfers of
/// up to 1 MiB through a TransferQueue alone, and both at once, three times; the medians say whether
/// transfers run beside compute. Then transfers of 4 KiB to 8 MiB one by one, as a run issues them and waits
/// for them: beside `beside`, which is called again and again meanwhile, where they do; else, or without it,
/// alone. Sizes are interleaved so that no size meets another state of the device than the rest, all writes
/// of a round before its reads; sizes above the first whose round trip takes more than a twentieth of
/// `budget` are left out; as many rounds as fit three fifths of the budget, at least three. Takes about the
/// budget, more only on storage so slow that three rounds of two sizes do not fit, and until the last call of
/// `beside` returns. Pages are spread over about `footprint` bytes of the file, 15.4 MiB at least and 246 MiB
/// at most, and read some time after they were written: what a run has on storage is more than a cache on the
/// way to it holds (of a virtual machine, or in the device), and a page that is read just after it was
/// written comes up to twice as fast. Throws what PageFile throws. Uses some 40 MiB of RAM.
[[nodiscard]] StorageSpeed measure_storage(const PageFileOptions& file,
                                           const std::function<void()>& beside = {},
                                           Seconds budget = Seconds(4), Bytes footprint = {});

}  // namespace poet::runtime
