#pragma once

// The report of poet import.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "poet/base/units.h"
#include "poet/frontend/onnx/import.h"

namespace poet::cli {

/// Figures of one or several forward ops.
struct Sum {
  std::int64_t ops = 0;
  std::int64_t parameters = 0;  // of shared ones, those that it is the first to read
  Flops flops{};
  Bytes written{};  // values that it writes
  Bytes saved{};    // values that the backward pass reads
};

struct OpRow {
  OpId op;  // of the forward graph
  Sum sum;
};

struct Contents {
  std::vector<OpRow> ops;
  std::vector<std::pair<std::string, Sum>> kinds;  // in order of first occurrence
  Sum total;
  std::int64_t macs = 0;
};

/// Differentiates the forward graph to see what it saves. O(ops + values).
[[nodiscard]] Contents measure(const Graph& forward);

[[nodiscard]] nlohmann::ordered_json import_json(const std::string& file, const ImportedModel& model,
                                                 const Contents& contents);

/// With `every_op` a line per op, with `every_parameter` one per value that stays in RAM across steps.
[[nodiscard]] std::string import_text(const std::string& file, const ImportedModel& model,
                                      const Contents& contents, bool every_op, bool every_parameter);

}  // namespace poet::cli
