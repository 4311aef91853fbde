#include "poet/runtime/training/trainer.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "poet/base/error.h"
#include "poet/runtime/training/checkpoint.h"
#include "poet/runtime/training/trainer_state.h"

namespace poet::runtime {

Trainer::Trainer(PlanFile file, const TrainerOptions& options)
    : state_(std::make_unique<State>(
          [&] {
            std::vector<PlanFile> one;
            one.push_back(std::move(file));
            return family_of(std::move(one), "the plan");
          }(),
          options)) {}

Trainer::Trainer(PlanFamily family, const TrainerOptions& options)
    : state_(std::make_unique<State>(std::move(family), options)) {}

Trainer::~Trainer() = default;

void Trainer::open_storage() {
  State& state = *state_;
  if (state.executor) return;
  state.open_pages();
  state.executor =
      std::make_unique<Executor>(state.file, *state.program, *state.persistent, state.pages.get());
}

void Trainer::discard_storage() {
  if (state_->pages) state_->pages->keep(false);
}

void Trainer::close_storage() {
  state_->executor.reset();
  if (!state_->keeps_pages()) state_->pages.reset();
}

void Trainer::change_plan(std::size_t plan) {
  const bool was_open = state_->executor != nullptr;
  const std::optional<std::string> declined = state_->change_plan(plan);
  if (was_open) open_storage();
  if (declined) throw InputError(*declined);
}

StepFigures Trainer::step() {
  open_storage();
  State& state = *state_;
  // Values in RAM may be half updated: what is on the page file is to stay as it is.
  if (state.log && state.failed)
    throw InputError(state.storage.where.string(),
                     "has the run as it was before a step failed: start again with `resume`");
  state.failed = true;
  const std::int64_t number = state.run.step + 1;
  state.persistent->forget();
  state.batches->select(number);
  state.executor->run(
      number, state.run.seed, [&state](OpId input, std::byte* to) { state.batches->read(input, to); }, {},
      state.rate_factor_of(number));
  state.failed = false;
  state.run.step = number;
  state.run.loss = state.executor->loss();
  return {number, state.run.loss, state.executor->makespan(), state.executor->stalled(),
          state.executor->fetching(),
          // Between updates it would be that of the sum so far.
          number % state.steps_per_update == 0 ? state.executor->gradient_norm() : std::nullopt};
}

ValidationFigures Trainer::validate(const std::optional<std::filesystem::path>& best) {
  State& state = *state_;
  ensure(state.validation != nullptr, "a trainer that validates has data for it");
  open_storage();
  ValidationFigures found = state.validation->run(state.run.step, *state.persistent, state.pages.get());
  const bool is_best =
      std::isfinite(found.loss) && (state.run.best_step < 0 || found.loss < state.run.best_loss);
  if (!is_best || !state.finite()) return found;
  const double before_loss = std::exchange(state.run.best_loss, found.loss);
  const std::int64_t before_step = std::exchange(state.run.best_step, found.step);
  if (!best) return found;
  try {
    save(*best);
  } catch (...) {  // whoever goes on from another checkpoint is not to count on that one
    state.run.best_loss = before_loss;
    state.run.best_step = before_step;
    throw;
  }
  found.saved = true;
  return found;
}

/// Counted from the steps, so that a run that is resumed counts on.
std::int64_t Trainer::validations_since_best(std::int64_t every) const {
  return state_->run.step / every - std::max<std::int64_t>(state_->run.best_step, 0) / every;
}

void Trainer::recall_best(const std::filesystem::path& best) {
  State& state = *state_;
  if (!state.setup.goes_on || state.run.best_step >= 0 || !std::filesystem::exists(best)) return;
  const RunState found = read_run_state(best);
  state.run.best_step = found.best_step;
  state.run.best_loss = found.best_loss;
}

void Trainer::save(const std::filesystem::path& checkpoint) const {
  write_checkpoint(checkpoint, state_->file.instance.graph, *state_->persistent, state_->run);
}

const PlanFile& Trainer::file() const { return state_->file; }
const TrainerSetup& Trainer::setup() const { return state_->setup; }
const PagingSetup& Trainer::paging() const { return state_->paging; }
const RunState& Trainer::state() const { return state_->run; }
double Trainer::learning_rate(std::int64_t step) const {
  for (const Op& op : state_->file.instance.graph.ops) {
    const auto rate = op.attributes.find("learning_rate");
    if (op.pass == Pass::update && rate != op.attributes.end())
      return std::get<double>(rate->second) * state_->rate_factor_of(step);
  }
  return 0;
}
const std::byte* Trainer::persistent(ValueId v) const { return state_->persistent->contents(v); }
std::string Trainer::not_finite_data() const {
  return state_->run.step > 0 ? state_->batches->not_finite() : "";
}
const Program& Trainer::program() const { return *state_->program; }

const std::vector<double>& Trainer::seconds() const {
  ensure(state_->executor != nullptr, "the storage is open");
  return state_->executor->seconds();
}

}  // namespace poet::runtime
