#pragma once

// What the workers of a sweep do with a point: pose its problem, run its method, have it judged.

#include <cstdint>
#include <optional>
#include <string>

#include "poet/pipeline/pose.h"
#include "poet/study/sweep_point.h"

namespace poet {

/// Lives in a worker process and keeps the instance of its last point, because points of one instance come in
/// a row.
class SweepWorker {
 public:
  /// Points whose training step has more than `op_limit` ops fail. `keep_plans`: answers bring the plan
  /// along.
  explicit SweepWorker(std::string poet_version, std::optional<std::int64_t> op_limit = {},
                       bool keep_plans = false)
      : version_(std::move(poet_version)), op_limit_(op_limit), keep_plans_(keep_plans) {}

  /// From to_text() of a point to the JSON text of its SweepResult, with `plan` beside its fields where a
  /// plan is to be kept: a plan file in base 64. Never throws for the point's sake: what goes wrong is the
  /// verdict `failed`.
  [[nodiscard]] std::string work(const std::string& item);

 private:
  struct Loaded {
    std::string key;
    std::string error;  // of an instance that cannot be built; the rest is empty then
    Workload workload;
    Figures figures;
  };
  const Loaded& load(const SweepPoint& point);

  std::string version_;
  std::optional<std::int64_t> op_limit_;
  bool keep_plans_;
  std::optional<Loaded> loaded_;
};

}  // namespace poet
