#pragma once

// The results store: one SQLite file that outlives the sweeps that fill it. A table `points` has a row per
// point, with the fields of SweepResult as columns; any SQLite program can read it, also during a sweep.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "poet/study/sweep_result.h"

namespace poet {

/// One process writes at a time. Every put() is a transaction of its own: once it has returned, neither a
/// crash nor a killed process loses the row.
class ResultsStore {
 public:
  /// Opens the store, or creates it. Throws InputError naming the file when it is something else, of another
  /// format, in use by another process, or cannot be written.
  explicit ResultsStore(const std::filesystem::path& file);
  ~ResultsStore();
  ResultsStore(const ResultsStore&) = delete;
  ResultsStore& operator=(const ResultsStore&) = delete;
  ResultsStore(ResultsStore&&) = delete;
  ResultsStore& operator=(ResultsStore&&) = delete;

  /// The row of that key. Throws InputError when the file cannot be read.
  [[nodiscard]] std::optional<SweepResult> find(const std::string& key);

  /// Adds the row, or replaces that of the same key; with the plan file behind it, where one is to be kept,
  /// in a table of its own, `plans`. Throws InputError when the file cannot be written.
  void put(const SweepResult& result, const std::string& plan = {});

  /// The plan file that was kept with the row of that key; empty: none. Throws InputError when the file
  /// cannot be read.
  [[nodiscard]] std::string plan(const std::string& key);
  [[nodiscard]] bool has_plan(const std::string& key);

  /// How many rows there are.
  [[nodiscard]] std::size_t size();

 private:
  class Database;
  std::unique_ptr<Database> database_;
};

}  // namespace poet
