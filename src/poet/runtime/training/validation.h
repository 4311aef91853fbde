#pragma once

// A data set that the network is measured on while it trains.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "poet/plan/file/plan_file.h"
#include "poet/runtime/training/trainer_options.h"

namespace poet::runtime {

class PageFile;
class PersistentValues;
class Program;

struct ValidationFigures {
  std::int64_t step = 0;           // after which
  double loss = 0;                 // mean over all samples
  std::optional<double> accuracy;  // part of the rows whose target has the largest logit; of cross-entropy
  Seconds took{};
};

/// Opens `options.validation` for the inputs of `graph`. Throws InputError as open_dataset(), and where it
/// has fewer samples than a batch.
[[nodiscard]] std::unique_ptr<Dataset> open_validation(const Graph& graph, const TrainerOptions& options);

class Validation {
 public:
  /// By `plan`, a forward pass of the same parameters (poet/evaluation.h), in the memory of `host`, the
  /// program of the training graph. Graph and host must outlive this. Throws InputError for a plan that
  /// breaks a rule, for one of another network, and as open_validation().
  Validation(PlanFile plan, const TrainerOptions& options, const Graph& training, const Program& host);
  ~Validation();
  Validation(const Validation&) = delete;
  Validation& operator=(const Validation&) = delete;
  Validation(Validation&&) = delete;
  Validation& operator=(Validation&&) = delete;

  /// Every sample once, in the order of the set. The last batch is filled up with copies of the last sample,
  /// whose part is taken off again. Persistent values stay as they are. `pages`: the training's, where there
  /// are some. Throws InputError of a transfer or a data set that failed.
  [[nodiscard]] ValidationFigures run(std::int64_t step, const PersistentValues& persistent, PageFile* pages);

  /// "raw tensors, 100 samples" for people.
  [[nodiscard]] std::string description() const;
  /// Of the validation's plan: how much of the training's arena it works in.
  [[nodiscard]] Bytes arena() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace poet::runtime
