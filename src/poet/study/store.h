#pragma once

// The results store: an SQLite file that persists between sweeps. Its table `points` has a row per point,
// with the fields of SweepResult as columns; any SQLite program can read it, also during a sweep.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "poet/study/sweep_result.h"

namespace poet {

/// One ResultsStore writes at a time. Every put() is a separate transaction: once it has returned, the row
/// survives a crash of the process or system.
class ResultsStore {
 public:
  /// Opens or creates the store. Throws InputError naming the file if it is not a results store, of an
  /// unknown format, in use by another ResultsStore, or cannot be written.
  explicit ResultsStore(const std::filesystem::path& file);
  ~ResultsStore();
  ResultsStore(const ResultsStore&) = delete;
  ResultsStore& operator=(const ResultsStore&) = delete;
  ResultsStore(ResultsStore&&) = delete;
  ResultsStore& operator=(ResultsStore&&) = delete;

  /// Returns the row with this key, if any. Throws InputError if the file cannot be read.
  [[nodiscard]] std::optional<SweepResult> find(const std::string& key);

  /// Adds the row, or replaces that of the same key; `plan`, if not empty, is a plan file that is kept in the
  /// table `plans`. Throws InputError if the file cannot be written.
  void put(const SweepResult& result, const std::string& plan = {});

  /// Returns the plan file kept with the row of this key, or an empty string. Throws InputError if the file
  /// cannot be read.
  [[nodiscard]] std::string plan(const std::string& key);
  [[nodiscard]] bool has_plan(const std::string& key);

  /// Returns the number of rows.
  [[nodiscard]] std::size_t size();

 private:
  class Database;
  std::unique_ptr<Database> database_;
};

}  // namespace poet
