#include "poet/firmware/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "firmware/engine/poet_engine.h"
#include "poet/base/error.h"
#include "poet/firmware/calls.h"
#include "poet/firmware/families.h"
#include "poet/firmware/storage_places.h"
#include "poet/graph/float32_copies.h"
#include "poet/graph/operators/schema.h"
#include "poet/graph/parts.h"
#include "poet/plan/machine.h"
#include "poet/runtime/training/hyperparameters.h"
#include "poet/runtime/training/schedule_in_c.h"
#include "poet/runtime/training/trainer_options.h"

namespace poet::firmware {
namespace {

constexpr std::size_t kMostOperands = 255;  // a byte says how many
constexpr std::size_t kShapeAlignment = 8;

std::string named(const Graph& graph, ValueId v) {
  return fmt::format("value {} \"{}\"", v.index, graph.values[v].name);
}

class Compiler {
 public:
  Compiler(const PlanFile& file, const runtime::LearningRateSchedule& schedule)
      : file_(file),
        graph_(file.instance.graph),
        storage_(storages(graph_)),
        place_(graph_.values.size(), kNowhere) {
    out_.steps_per_update = static_cast<std::uint32_t>(small(runtime::steps_per_update(graph_)));
    out_.schedule = runtime::schedule_in_c(schedule);
  }

  Program run() {
    check();
    place_residents();
    storage_places_ = place_values(file_, out_);
    write_code();
    place_the_rest(storage_places_.end, out_);
    out_.digest = digest_of(out_);
    return std::move(out_);
  }

 private:
  static constexpr std::int64_t kNowhere = -1;

  void check() const {
    runtime::check_rules(file_.semantics);
    check_kinds(graph_);
    for (const ValueId v : ids<ValueId>(graph_.values.size())) {
      const Value& value = graph_.values[v];
      if (!value.alias_of.valid() && value.bytes > Bytes(0) &&
          file_.instance.costs.values[v].bytes == Bytes(0))
        throw InputError(named(graph_, v), "is outside the plan's RAM budget: a board has no other memory");
      if (size_of(value.dtype) > Bytes(kUnit))
        throw InputError(named(graph_, v), "has elements of more than 4 bytes, which no kernel in C has");
    }
    for (const OpId op : ids<OpId>(graph_.ops.size())) {
      const Bytes needed = float32_copies(graph_, op).bytes, planned = file_.instance.costs.ops[op].workspace;
      if (needed > planned)
        throw InputError(fmt::format("op \"{}\"", graph_.ops[op].name),
                         fmt::format("works on {} bytes of float32 copies, for which the plan has {}: solve "
                                     "again",
                                     needed.value(), planned.value()));
    }
    for (const Allocation& a : file_.layout.allocations)
      if (a.offset % kUnit != 0)
        throw InputError("the plan's addresses", "must be multiples of 4, the size of a number");
  }

  void place_residents() {
    out_.arena_bytes = (file_.layout.arena.value() + kUnit - 1) / kUnit * kUnit;
    std::int64_t next = out_.arena_bytes;
    for (const ValueId v : ids<ValueId>(graph_.values.size())) {
      const Value& value = graph_.values[v];
      if (!is_resident(value) || value.alias_of.valid()) continue;
      place_[v] = next;
      out_.residents.push_back({v, next});
      next += value.bytes.value();
    }
    out_.ram_bytes = next;
    out_.address_bytes = next <= (std::int64_t{1} << 16U) * kUnit ? 2 : 3;
    if (next > (std::int64_t{1} << 24U) * kUnit)
      throw InputError("the plan", "takes more than 64 MiB of RAM: it is for no board");
  }

  // ---- instructions

  void put(std::uint8_t byte) { out_.code.push_back(byte); }
  void put_varint(std::uint64_t n) {
    for (; n > 127; n >>= 7U) put(static_cast<std::uint8_t>(128U | (n & 127U)));
    put(static_cast<std::uint8_t>(n));
  }
  void put_address(std::int64_t at) {
    auto unit = static_cast<std::uint32_t>(at / kUnit);
    for (int i = 0; i < out_.address_bytes; ++i, unit >>= 8U) put(static_cast<std::uint8_t>(unit & 255U));
  }

  /// Of a value's storage; tensors without elements have none and lie anywhere.
  [[nodiscard]] std::int64_t where(ValueId v) const { return std::max<std::int64_t>(place_[storage_[v]], 0); }

  std::size_t shape_number(OpId op, const Lowered& call, std::size_t operands) {
    if (operands > kMostOperands)
      throw InputError(fmt::format("op \"{}\"", graph_.ops[op].name),
                       fmt::format("has {} operands, more than {}", operands, kMostOperands));
    const auto [kernel, is_new] = kernels_.emplace(call.kernel->name, out_.kernels.size());
    if (is_new) out_.kernels.push_back(call.kernel);
    std::string key = fmt::format("{} {} ", kernel->second, operands);
    key.append(reinterpret_cast<const char*>(call.shape.data()), call.shape.size());
    const auto [found, is_other] = shapes_.emplace(std::move(key), out_.shapes.size());
    if (is_other) {
      out_.shapes.push_back({kernel->second, operands, out_.shape_bytes.size()});
      out_.shape_bytes.insert(out_.shape_bytes.end(), call.shape.begin(), call.shape.end());
      out_.shape_bytes.resize((out_.shape_bytes.size() + kShapeAlignment - 1) / kShapeAlignment *
                              kShapeAlignment);
      check_tables();
    }
    return found->second;
  }

  /// What poet_shape has room for.
  void check_tables() const {
    constexpr std::size_t kMostKernels = 256;
    if (out_.kernels.size() > kMostKernels)
      throw InputError("the plan", fmt::format("calls more than {} kernels", kMostKernels));
  }

  void compute(OpId op, const std::vector<std::int64_t>& inputs, std::int64_t workspace) {
    const Op& o = graph_.ops[op];
    if (o.kind == "input") return input(o.outputs.at(0));
    const auto at = [&](const CallOperand& operand) {
      switch (operand.place) {
        case CallOperand::Place::input:
          return inputs.at(operand.position);
        case CallOperand::Place::output:
          return where(o.outputs.at(operand.position));
        case CallOperand::Place::update:
          return where(o.updates.at(operand.position));
        case CallOperand::Place::workspace:
          break;
      }
      return workspace + operand.offset;
    };
    for (const Call& call : calls_of(graph_, op)) {
      put(POET_CALL);
      put_varint(shape_number(op, call.lowered, call.operands.size()));
      for (const CallOperand& operand : call.operands) put_address(at(operand));
    }
    if (!is_loss(o)) return;
    put(POET_LOSS);
    put_address(where(o.outputs.at(0)));
  }

  void input(ValueId v) {
    const Value& value = graph_.values[v];
    const SampleField& field = out_.fields.at(storage_places_.field.at(tensor_name(value)));
    std::vector<std::pair<std::int64_t, std::int64_t>> runs;
    for_each_run_of_part(value, [&](std::int64_t first, std::int64_t, std::int64_t count) {
      runs.emplace_back(first, count);
    });
    put(POET_INPUT);
    put_varint(field.first / kUnit);
    put_varint(field.bytes / kUnit);
    put_varint(runs.size());
    put_address(where(v));
    for (const auto& [first, count] : runs) {
      put_varint(static_cast<std::uint64_t>(first));
      put_varint(static_cast<std::uint64_t>(count));
    }
  }

  void transfer(const Step& step) {
    if (graph_.values[step.value].rows) {
      put(step.kind == StepKind::page_out ? POET_WRITE_ROWS : POET_READ_ROWS);
      put_varint(storage_places_.rows[step.value]);
      put_address(where(step.value));
      return;
    }
    const Page& page = out_.pages[storage_places_.page[step.value]];
    const bool out = step.kind == StepKind::page_out;
    ensure(!out || !page.home || page.slots == 2, "only what a step updates is brought home");
    put(!page.home        ? (out ? POET_WRITE : POET_READ)
        : page.slots == 1 ? POET_READ_FIXED
        : out             ? POET_WRITE_HOME
                          : POET_READ_HOME);
    put_varint(page.first);
    put_varint(static_cast<std::uint64_t>((graph_.values[step.value].bytes.value() + kUnit - 1) / kUnit));
    put_address(where(step.value));
  }

  void write_code() {
    const bool waits = has_waits(file_.instance, file_.semantics);
    const std::vector<Allocation>& allocations = file_.layout.allocations;
    IdVector<ValueId, std::size_t> ticket(graph_.values.size(), 0);
    std::size_t issued = 0;
    std::size_t next = 0;
    for (int i = 0; i < static_cast<int>(file_.plan.steps.size()); ++i) {
      const Step& step = file_.plan.steps[static_cast<std::size_t>(i)];
      std::vector<std::int64_t> inputs;  // a result may lie over an operand, so operands come first
      if (step.kind == StepKind::compute)
        for (const ValueId v : graph_.ops[step.op].inputs) inputs.push_back(where(v));
      std::int64_t workspace = 0;
      for (; next < allocations.size() && allocations[next].begin == i; ++next)
        (allocations[next].value.valid() ? place_[allocations[next].value] : workspace) =
            allocations[next].offset;
      switch (step.kind) {
        case StepKind::compute:
          compute(step.op, inputs, workspace);
          break;
        case StepKind::page_out:
        case StepKind::page_in:
          transfer(step);
          if (graph_.values[step.value]
                  .rows) {  // done when the instruction is; waits, to be safe, for all before it
            ticket[step.value] = issued;
            break;
          }
          ticket[step.value] = ++issued;
          if (!waits) {
            put(POET_WAIT);
            put_varint(0);
          }
          break;
        case StepKind::wait:
          put(POET_WAIT);
          put_varint(issued - ticket[step.value]);
          break;
        case StepKind::free:
          break;
      }
    }
    put(POET_END);
  }

  const PlanFile& file_;
  const Graph& graph_;
  const IdVector<ValueId, ValueId> storage_;
  IdVector<ValueId, std::int64_t> place_;  // where each value is as the steps go by
  StoragePlaces storage_places_;
  std::map<std::string, std::size_t> kernels_;
  std::map<std::string, std::size_t> shapes_;
  Program out_;
};

}  // namespace

Program program_of(const PlanFile& file, const runtime::LearningRateSchedule& schedule) {
  return Compiler(file, schedule).run();
}

}  // namespace poet::firmware
