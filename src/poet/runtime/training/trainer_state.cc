#include "poet/runtime/training/trainer_state.h"
#include "poet/graph/precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/graph/parts.h"
#include "poet/runtime/sensors/process_memory.h"
#include "poet/runtime/training/plan_digest.h"
#include "poet/runtime/training/resume_pages.h"

namespace poet::runtime {
namespace {

/// Refused before it is touched: the system would end some process instead. `had`: what is released first.
void check_machine(Bytes needed, Bytes had = {}) {
  const Bytes available = available_memory() + had;
  if (needed > available)
    throw InputError("RAM", fmt::format("the plan takes {}, this machine has {} to give",
                                        format_bytes(needed), format_bytes(available)));
}

Bytes total(const MemoryMap& map) { return map.arena + map.persistent + map.excluded + map.workspace; }

/// Whether its page file can outlive this process, and its pages be read then.
bool is_resumable(const PageFileOptions& storage) {
  std::error_code ignored;
  return !storage.encrypt && !storage.where.empty() && !std::filesystem::is_directory(storage.where, ignored);
}

/// What the checkpoint was made under and this run is not: the bits are another run's from here on.
std::vector<std::string> changed_circumstances(const RunState& from,
                                               const std::map<std::string, std::string>& now) {
  std::vector<std::string> notices;
  for (const auto& [name, value] : now) {
    const auto before = from.circumstances.find(name);
    if (before != from.circumstances.end() && before->second != value)
      notices.push_back(fmt::format("{} {} the checkpoint's: {}, before {}", name,
                                    name.ends_with('s') ? "differ from" : "differs from", value,
                                    before->second));
  }
  return notices;
}

/// Throws InputError for a plan that breaks a rule; `which` plan it is of several.
PlannedFigures judged(const PlanFile& file, const std::string& which) {
  PlannedFigures found;
  found.limits = file.limits;
  found.report = replay(file.instance, file.plan, file.semantics, file.limits);
  check_rules(file.semantics);
  if (!found.report.valid) throw InputError(which, "is invalid: " + found.report.violation);
  found.arena = replay_layout(file.instance, file.plan, file.layout, file.semantics, file.limits);
  if (!found.arena.valid) throw InputError(which + "'s addresses", "are invalid: " + found.arena.violation);
  found.persistent = file.instance.costs.persistent;
  return found;
}

const KernelOptions& set_up(const KernelOptions& kernels) {
  set_up_kernels(kernels);
  return kernels;
}

}  // namespace

Trainer::State::State(PlanFamily family, const TrainerOptions& options)
    : storage(storage_of(options)), kernels(set_up(options.kernels)) {
  file.instance = std::move(family.instance);
  file.semantics = family.semantics;
  plans = std::move(family.plans);
  ensure(!plans.empty() && options.plan.value_or(0) < plans.size(), "a trainer begins by one of its plans");
  judge();
  set_hyperparameters(file.instance.graph, options.hyperparameters);
  check_schedule(options.schedule);
  schedule = options.schedule;
  steps_per_update = runtime::steps_per_update(file.instance.graph);
  const Graph& graph = file.instance.graph;
  const bool goes_on = goes_on_from_pages(options);
  use_plan(goes_on ? plan_left(look_at_left_run(storage.where))
                   : largest_that_fits(options.plan.value_or(0)));
  program = std::make_unique<Program>(file, kernels, slots);
  if (!goes_on) check_storage(storage);
  setup.kernels = kernels_description(options.kernels);
  setup.map = program->map();
  check_machine(total(setup.map));
  run = first_state(options);
  data = choose_data(graph, options, run.seed);
  setup.data = describe_data(*data.data, options);
  std::map<std::string, std::string> circumstances = circumstances_of(graph, *data.data, options);
  circumstances["batch size"] = fmt::format("{}", file.instance.batch_size);
  circumstances["precision"] = to_string(precision_of(graph));
  if (goes_on)
    go_on(circumstances);
  else
    start(options, circumstances);
  batches =
      std::make_unique<Batches>(graph, *data.data, options.shuffle ? std::optional(run.seed) : std::nullopt);
  validation_plans = options.validation_plans;
  ensure(validation_plans.empty() || validation_plans.size() == plans.size(),
         "every plan has one for the validation");
  if (!validation_plans.empty()) {
    for (const PlanFile& plan : validation_plans) check_validation_plan(plan);
    validation_data = choose_validation(graph, options);
    ensure(validation_data.data != nullptr, "a validation has data");
    setup.validation = validation_data.data->description();
  }
  make_validation();
  run.circumstances = std::move(circumstances);
}

void Trainer::State::judge() {
  std::vector<Pager> pagers;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    use_plan(i);
    setup.plans.push_back(judged(file, has_several() ? fmt::format("plan {}", i + 1) : "the plan"));
    digests.push_back(plan_digest(file));
    put_back();
    pagers.push_back({plans[i].paged, &plans[i].plan});
  }
  digests = family_digests(digests);
  slots = page_slots(file.instance.graph, pagers);
}

void Trainer::State::use_plan(std::size_t number) {
  FamilyPlan& plan = plans[number];
  file.instance = with_paged(std::move(file.instance), plan.paged);
  file.limits = plan.limits;
  file.plan = std::move(plan.plan);
  file.layout = std::move(plan.layout);
  setup.plan = number;
  if (number >= setup.plans.size()) return;
  setup.planned = setup.plans[number].report;
  setup.arena = setup.plans[number].arena;
}

void Trainer::State::put_back() {
  plans[setup.plan].plan = std::move(file.plan);
  plans[setup.plan].layout = std::move(file.layout);
}

Bytes Trainer::State::memory_of(std::size_t number) const {
  return setup.plans[number].arena.arena + setup.plans[number].persistent;
}

std::size_t Trainer::State::largest_that_fits(std::size_t number) const {
  const Bytes available = has_several() ? available_memory() : Bytes(0);
  while (number + 1 < plans.size() && memory_of(number) > available) ++number;
  return number;
}

std::size_t Trainer::State::plan_left(const LeftRun& left) const {
  check_same_network(left.record(), file.instance.graph, storage.where);
  return same_plan(left.record(), digests, storage.where);
}

void Trainer::State::start(const TrainerOptions& options,
                           const std::map<std::string, std::string>& circumstances) {
  const Graph& graph = file.instance.graph;
  if (slots.has_homes && is_resumable(storage)) log = new_log(identity(run.seed, circumstances));
  if (keeps_pages()) open_pages(PageFileUse::resumable);
  persistent = std::make_unique<PersistentValues>(graph, *program, pages.get());
  setup.seeded = start_weights(graph, *persistent, options, run, setup.notices);
  for (std::string& changed : changed_circumstances(run, circumstances))
    setup.notices.push_back(std::move(changed));
  if (const std::string less = short_update(run, graph); options.resume && !less.empty())
    setup.notices.push_back(less);
  if (log) persistent->keep(*log, run.step, run.loss);
}

void Trainer::State::go_on(const std::map<std::string, std::string>& circumstances) {
  const Graph& graph = file.instance.graph;
  check_same_circumstances(look_at_left_run(storage.where).record(), circumstances, storage.where);
  log = new_log(identity(run.seed, circumstances));
  open_pages(PageFileUse::go_on);
  const LeftRun left(storage.where);  // now that it is this run's
  run = state_of(left.record());
  persistent = std::make_unique<PersistentValues>(graph, *program, pages.get());
  persistent->go_on(*log, left);
  setup.goes_on = unsaved = true;
}

StepRecord Trainer::State::identity(std::uint64_t seed,
                                    const std::map<std::string, std::string>& circumstances) const {
  StepRecord record;
  record.seed = seed;
  record.network = network_digest(file.instance.graph);
  record.plan = digests[setup.plan];
  record.circumstances = circumstances;
  return record;
}

std::unique_ptr<StepLog> Trainer::State::new_log(StepRecord record) {
  const Graph& graph = file.instance.graph;
  auto made = std::make_unique<StepLog>(graph, *program, record, has_several());
  if (room_for_record > Bytes(0)) return made;
  room_for_record = made->record_bytes();
  if (!has_several()) return made;
  const PersistentKinds kinds = persistent_kinds(graph);
  for (const FamilyPlan& plan : plans) {
    Bytes in_ram{};
    record.homes.clear();
    for (const ValueId v : kinds.all) {
      const bool paged = std::binary_search(plan.paged.begin(), plan.paged.end(), v);
      if (paged || kinds.updated[v] == 0)
        record.homes.emplace_back();
      else
        in_ram += graph.values[v].bytes;
    }
    record.homes.resize(record.homes.size() + program->tables().size());
    record.size = Bytes(1);  // as large as any number
    room_for_record = std::max(room_for_record, encoded_size(record) + in_ram + kRecordChecksum);
  }
  return made;
}

void Trainer::State::open_pages(PageFileUse use) {
  if (pages || (slots.bytes.empty() && program->tables().empty())) return;
  pages = log ? std::make_unique<PageFile>(storage, log->slots(), use, room_for_record, program->tables())
              : std::make_unique<PageFile>(storage, slots.bytes, PageFileUse::transient, Bytes(0),
                                           program->tables());
  pages->name_slots([this](std::size_t slot) {
    return file.instance.graph.values[log ? log->owner(slot) : slots.owners[slot]].name;
  });
  if (!program->tables().empty())
    pages->rows().name_tables([this](std::size_t table) {
      return at_home(file.instance.graph.values[program->table_owner(table)]).name;
    });
  paging = {pages->description(), pages->in_ram(), pages->size(), log ? log->record_bytes() : Bytes(0)};
}

void Trainer::State::make_program(std::size_t number) {
  put_back();
  use_plan(number);
  program = std::make_unique<Program>(file, kernels, slots);
  setup.map = program->map();
}

void Trainer::State::make_validation() {
  if (validation_plans.empty()) return;
  const PlanFile& plan = validation_plans[setup.plan];
  setup.validation_arena = plan.layout.arena;
  validation = std::make_unique<Validation>(plan, *validation_data.data, kernels, storage,
                                            file.instance.graph, *program);
}

void Trainer::State::fill_program(std::uint64_t records) {
  persistent->enter(*program);
  if (room_for_record == Bytes(0)) return;
  StepRecord record = identity(run.seed, run.circumstances);
  record.number = records;
  log = new_log(std::move(record));
  persistent->keep(*log, run.step, run.loss);
  paging.record = log->record_bytes();
}

std::optional<std::string> Trainer::State::lacks_memory(std::size_t number) const {
  try {
    check_machine(memory_of(number) + setup.map.excluded + setup.map.workspace, total(setup.map));
  } catch (const InputError& error) {
    return error.what();
  }
  return std::nullopt;
}

std::optional<std::string> Trainer::State::change_plan(std::size_t number) {
  ensure(number < plans.size(), "a run has the plans of its family");
  ensure(!failed, "a plan is changed between steps");
  if (number == setup.plan) return std::nullopt;
  std::optional<std::string> declined = lacks_memory(number);
  if (declined) return declined;
  const std::size_t before = setup.plan;
  executor.reset();  // and its thread
  persistent->leave();
  const std::uint64_t records = log ? log->number() : 0;
  log.reset();
  validation.reset();
  program.reset();
  reset_peak_memory();
  try {
    make_program(number);
  } catch (const InputError& error) {
    declined = error.what();
    make_program(before);  // whose memory there was a moment ago
  }
  fill_program(records);
  make_validation();
  return declined;
}

}  // namespace poet::runtime
