#pragma once

// A page file that a killed or stopped run has left behind, for the run that goes on from it.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>

#include "poet/runtime/storage/file_io.h"
#include "poet/runtime/storage/page_file_header.h"
#include "poet/runtime/storage/step_record.h"

namespace poet::runtime {

/// Returns whether `poet run --resume` takes the file for a page file; false for what cannot be read.
[[nodiscard]] bool is_page_file(const std::filesystem::path& file);

class LeftRun {
 public:
  /// Reads the record of the last complete step: of the records that are whole, the one with the higher
  /// number. Throws InputError naming the file if it cannot be read or has no such record.
  explicit LeftRun(const std::filesystem::path& file);

  [[nodiscard]] const PageFileHeader& header() const { return header_; }
  [[nodiscard]] const StepRecord& record() const { return record_; }
  /// Returns the size of the values in RAM that the record has.
  [[nodiscard]] Bytes resident_bytes() const { return resident_; }
  /// Reads these values into memory of as many bytes. Throws InputError.
  void read_resident(std::span<const std::span<std::byte>> pieces) const;

 private:
  std::filesystem::path file_;
  Descriptor descriptor_;
  PageFileHeader header_;
  StepRecord record_;
  Bytes resident_at_{};  // on the file
  Bytes resident_{};
};

/// Returns the record of an open page file from which a run can go on; nullopt if no record is whole.
[[nodiscard]] std::optional<StepRecord> last_record(int descriptor);

/// Returns the run that was left. Throws InputError as LeftRun does, and if another run has the file open.
[[nodiscard]] LeftRun look_at_left_run(const std::filesystem::path& file);

}  // namespace poet::runtime
