#pragma once

// A page file that a run has left behind, by being killed or stopped, as the one finds it that is to go on.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>

#include "poet/runtime/storage/file_io.h"
#include "poet/runtime/storage/page_file_header.h"
#include "poet/runtime/storage/step_record.h"

namespace poet::runtime {

/// Whether the file is one that run with --resume takes for a page file; false for what cannot be read.
[[nodiscard]] bool is_page_file(const std::filesystem::path& file);

class LeftRun {
 public:
  /// Of the last complete step: the whole record with the higher number. Throws InputError naming the file
  /// when it cannot be read, and when there is none.
  explicit LeftRun(const std::filesystem::path& file);

  [[nodiscard]] const PageFileHeader& header() const { return header_; }
  [[nodiscard]] const StepRecord& record() const { return record_; }
  /// What the record has of values in RAM, and into memory of as many bytes. Throws InputError.
  [[nodiscard]] Bytes resident_bytes() const { return resident_; }
  void read_resident(std::span<const std::span<std::byte>> pieces) const;

 private:
  std::filesystem::path file_;
  Descriptor descriptor_;
  PageFileHeader header_;
  StepRecord record_;
  Bytes resident_at_{};  // on the file
  Bytes resident_{};
};

/// Of an open page file: the steps that can be resumed; none where no record is whole.
[[nodiscard]] std::optional<StepRecord> last_record(int descriptor);

/// LeftRun, where no other run has the file open. Throws InputError also where one has.
[[nodiscard]] LeftRun look_at_left_run(const std::filesystem::path& file);

}  // namespace poet::runtime
