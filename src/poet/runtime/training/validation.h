#pragma once

// A data set that the network is measured on while it trains.

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
  std::int64_t step = 0;           // after which
  double loss = 0;                 // mean over all samples
  std::optional<double> accuracy;  // part of the rows whose target has the largest logit; of cross-entropy
  Seconds took{};
  bool saved = false;   // as the best so far, in a checkpoint
  std::string cause{};  // of a loss that is not finite, where it is known
};

/// Throws InputError for a plan that breaks a rule.
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

  /// Every sample once, in the order of the set. The last batch is filled up with copies of the last sample,
  /// whose part is taken off again. Persistent values stay as they are. `pages`: the training's, where there
  /// are some. Throws InputError of a transfer or a data set that failed.
  [[nodiscard]] ValidationFigures run(std::int64_t step, const PersistentValues& persistent, PageFile* pages);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace poet::runtime
