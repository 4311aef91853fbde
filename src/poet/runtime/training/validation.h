#pragma once

// Validation on a second data set during training.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "poet/plan/file/plan_file.h"
#include "poet/runtime/data/dataset.h"
#include "poet/runtime/kernels/kernel_options.h"
#include "poet/runtime/storage/page_file_options.h"

namespace poet::runtime {

class PageFile;
class PersistentValues;
class Program;

struct ValidationFigures {
  std::int64_t step = 0;           // the last step before it
  double loss = 0;                 // mean over all samples
  std::optional<double> accuracy;  // part of the rows whose target has the largest logit; of cross-entropy
  Seconds took{};
  bool saved = false;   // a checkpoint of the best so far was written
  std::string cause{};  // of a loss that is not finite, if known
};

/// Throws InputError for an invalid plan.
void check_validation_plan(const PlanFile& plan);

class Validation {
 public:
  /// On all of `data`, by `plan`, a forward pass of the same parameters (pipeline/evaluation.h) that
  /// check_validation_plan() accepts, in the memory of `host`, the program of the training graph. `storage`:
  /// the training's. Plan, data, graph and host must outlive this. Throws InputError for a plan of another
  /// network, and as PageFile.
  Validation(const PlanFile& plan, const Dataset& data, const KernelOptions& kernels,
             const PageFileOptions& storage, const Graph& training, const Program& host);
  ~Validation();
  Validation(const Validation&) = delete;
  Validation& operator=(const Validation&) = delete;
  Validation(Validation&&) = delete;
  Validation& operator=(Validation&&) = delete;

  /// Evaluates every sample once, in the order of the set. The last batch is padded with copies of the last
  /// sample, whose contribution is subtracted. Persistent values are unchanged. `pages`: the training's,
  /// where there are some. Throws InputError of a transfer or a data set that failed.
  [[nodiscard]] ValidationFigures run(std::int64_t step, const PersistentValues& persistent, PageFile* pages);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace poet::runtime
