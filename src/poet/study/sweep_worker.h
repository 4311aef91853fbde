#pragma once

// The workers of a sweep: pose the problem of a point, run its method and judge the plan.

#include <cstdint>
#include <optional>
#include <string>

#include "poet/pipeline/pose.h"
#include "poet/study/sweep_point.h"

namespace poet {

/// Lives in a worker process and caches the instance of its last point, since points of one instance are
/// consecutive.
class SweepWorker {
 public:
  /// Points whose training step has more than `op_limit` ops fail. With `keep_plans` answers include the
  /// plan.
  explicit SweepWorker(std::string poet_version, std::optional<std::int64_t> op_limit = {},
                       bool keep_plans = false)
      : version_(std::move(poet_version)), op_limit_(op_limit), keep_plans_(keep_plans) {}

  /// Takes to_text() of a point and returns the JSON text of its SweepResult, with an additional member
  /// `plan`, a plan file in base 64, if plans are kept. Errors of a point become the verdict `failed`.
  [[nodiscard]] std::string work(const std::string& item);

 private:
  struct Loaded {
    std::string key;
    std::string error;  // if the instance cannot be built; the rest is then empty
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
