#pragma once

// What poet import says of a model.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "poet/base/units.h"
#include "poet/frontend/onnx/import.h"

namespace poet::cli {

/// Of one forward op, or of several together.
struct Sum {
  std::int64_t ops = 0;
  std::int64_t parameters = 0;  // of shared ones, those that it is the first to read
  Flops flops{};
  Bytes written{};  // values that it makes
  Bytes saved{};    // those of them that the backward pass reads
};

struct OpRow {
  OpId op;  // of the forward graph
  Sum sum;
};

struct Contents {
  std::vector<OpRow> ops;
  std::vector<std::pair<std::string, Sum>> kinds;  // in the order in which the graph has them first
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
