#include "poet/firmware/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "firmware/engine/poet_engine.h"
#include "poet/base/error.h"
#include "poet/graph/operators/schema.h"
#include "poet/graph/parts.h"
#include "poet/plan/machine.h"
#include "poet/runtime/data/data_input.h"
#include "poet/runtime/training/trainer_options.h"

namespace poet::firmware {
namespace {

constexpr std::int64_t kUnit = 4;           // bytes of an address
constexpr std::size_t kMostOperands = 255;  // a byte says how many
constexpr std::size_t kShapeAlignment = 8;

std::uint32_t blocks_of(std::int64_t bytes) {
  return static_cast<std::uint32_t>((bytes + POET_BLOCK - 1) / POET_BLOCK);
}

/// Of so many bytes in sealed blocks.
std::uint32_t sealed_blocks(std::size_t bytes) {
  return static_cast<std::uint32_t>((bytes + POET_SEALED - 1) / POET_SEALED);
}

std::string named(const Graph& graph, ValueId v) {
  return fmt::format("value {} \"{}\"", v.index, graph.values[v].name);
}

class Compiler {
 public:
  explicit Compiler(const PlanFile& file)
      : file_(file),
        graph_(file.instance.graph),
        storage_(storages(graph_)),
        place_(graph_.values.size(), kNowhere),
        page_(graph_.values.size(), kNoPage),
        row_number_(graph_.values.size(), kNoPage) {}

  Program run() {
    check();
    place_residents();
    lay_out_samples();
    place_pages();
    place_tables();
    name_blocks();
    write_code();
    std::uint32_t next = end_of_pages_;
    out_.code_first = next;
    next += sealed_blocks(out_.code.size());
    out_.names_first = next;
    next += static_cast<std::uint32_t>((out_.names.size() + POET_NAMES_PER_BLOCK - 1) / POET_NAMES_PER_BLOCK);
    out_.samples_first = next;
    out_.digest = digest();
    return std::move(out_);
  }

 private:
  static constexpr std::int64_t kNowhere = -1;
  static constexpr std::size_t kNoPage = static_cast<std::size_t>(-1);

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
    out_.record_blocks = 1 + blocks_of(next - out_.arena_bytes);
  }

  void place_pages() {
    std::uint32_t next = out_.record_first + 2 * out_.record_blocks;
    const IdVector<ValueId, char> updated = updated_values();
    const auto add = [&](ValueId v) {
      if (page_[v] != kNoPage || graph_.values[v].rows) return;
      page_[v] = out_.pages.size();
      Page page{v, next,
                blocks_of((graph_.values[v].bytes.value() + kUnit - 1) / kUnit * kUnit + POET_TRAILER), 1,
                graph_.values[v].paged};
      if (page.home && updated[v] != 0) page.slots = 2;
      next += page.blocks * static_cast<std::uint32_t>(page.slots);
      out_.pages.push_back(page);
    };
    for (const ValueId v : ids<ValueId>(graph_.values.size()))
      if (graph_.values[v].paged) add(v);
    for (const Step& step : file_.plan.steps)
      if (step.kind == StepKind::page_out || step.kind == StepKind::page_in) add(step.value);
    end_of_pages_ = next;
  }

  [[nodiscard]] IdVector<ValueId, char> updated_values() const {
    IdVector<ValueId, char> updated(graph_.values.size(), 0);
    for (const Op& op : graph_.ops)
      for (const ValueId v : op.updates) updated[storage_[v]] = 1;
    return updated;
  }

  /// Parts of the same columns share a table.
  void place_tables() {
    constexpr std::uint32_t kRowTrailer = 16;
    const IdVector<ValueId, char> updated = updated_values();
    std::map<std::string, std::size_t> tables;
    std::map<std::string, std::size_t> names;  // of inputs
    for (const ValueId v : ids<ValueId>(graph_.values.size())) {
      const Value& value = graph_.values[v];
      if (!value.rows) continue;
      const auto [table, is_new] = tables.emplace(at_home(value).name, out_.tables.size());
      if (is_new) {
        TableHome home{v, end_of_pages_, static_cast<std::uint32_t>(value.rows->of),
                       static_cast<std::uint32_t>(byte_count({value.shape[1]}, value.dtype).value()), 0};
        home.row_blocks = blocks_of(home.row_bytes + kRowTrailer);
        end_of_pages_ += home.rows * home.row_blocks;
        out_.tables.push_back(home);
      }
      if (stands_for_home(value)) out_.tables[table->second].value = v;
      row_number_[v] = out_.rows.size();
      const TableHome& home = out_.tables[table->second];
      TableRows rows{v, table->second, 0, names_in(value, home.rows, names),
                     static_cast<std::uint32_t>(value.shape[0])};
      if (value.part) rows.first += static_cast<std::uint32_t>(value.part->begin[0]);
      if (updated[v] != 0) {
        rows.journal = end_of_pages_;
        end_of_pages_ += 2 * rows.count * home.row_blocks;
      }
      out_.rows.push_back(rows);
    }
  }

  /// Where the list of numbers has those of the input that names a value's rows.
  std::uint32_t names_in(const Value& value, std::uint32_t of, std::map<std::string, std::size_t>& names) {
    const auto [found, is_new] = names.emplace(value.rows->indices, out_.row_names.size());
    if (is_new) {
      const auto count = static_cast<std::uint32_t>(tensor_shape(value)[0]);
      out_.row_names.push_back({by_tensor_.at(value.rows->indices), out_.row_numbers, count, of});
      out_.row_numbers += count;
    }
    RowNames& input = out_.row_names[found->second];
    input.rows = std::min(input.rows, of);
    return input.first;
  }

  void name_blocks() {
    for (const Page& page : out_.pages)
      out_.names.push_back(
          {graph_.values[page.value].name, page.first, page.blocks * static_cast<std::uint32_t>(page.slots)});
    for (const TableHome& t : out_.tables)
      out_.names.push_back({at_home(graph_.values[t.value]).name, t.first, t.rows * t.row_blocks});
    for (const TableRows& r : out_.rows)
      if (r.journal != 0)
        out_.names.push_back({"journal of " + graph_.values[r.value].name, r.journal,
                              2 * r.count * out_.tables[r.table].row_blocks});
  }

  void lay_out_samples() {
    const std::vector<runtime::DataInput> inputs = runtime::data_inputs(graph_);
    out_.batch = static_cast<std::uint32_t>(runtime::samples_per_step(inputs));
    for (const runtime::DataInput& input : inputs) {
      const auto bytes = static_cast<std::uint32_t>(byte_count(input.sample, input.dtype).value());
      by_tensor_[tensor_name(graph_.values[input.value])] = out_.fields.size();
      out_.fields.push_back({out_.sample_bytes, bytes});
      out_.sample_bytes += bytes;
    }
    out_.sample_blocks = sealed_blocks(out_.sample_bytes);
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

  std::size_t shape_number(OpId op) {
    const Lowered call = lowered(graph_, op);
    const std::size_t operands =
        graph_.ops[op].inputs.size() + graph_.ops[op].outputs.size() + graph_.ops[op].updates.size();
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

  /// Of everything that decides where things lie on the card and what is computed from them.
  [[nodiscard]] std::uint32_t digest() const {
    std::vector<std::uint32_t> numbers = {static_cast<std::uint32_t>(out_.arena_bytes),
                                          static_cast<std::uint32_t>(out_.ram_bytes),
                                          out_.record_first,
                                          out_.record_blocks,
                                          out_.code_first,
                                          out_.names_first,
                                          out_.samples_first,
                                          out_.sample_blocks,
                                          out_.batch};
    const auto add = [&](std::initializer_list<std::size_t> more) {
      for (const std::size_t n : more) numbers.push_back(static_cast<std::uint32_t>(n));
    };
    for (const ShapeEntry& shape : out_.shapes) add({shape.kernel, shape.operands, shape.first});
    for (const TableHome& t : out_.tables) add({t.first, t.rows, t.row_bytes, t.row_blocks});
    for (const TableRows& r : out_.rows) add({r.table, r.journal, r.first, r.count});
    std::uint32_t hash = 0;
    const auto mix = [&hash](const void* bytes, std::size_t count) {
      hash = poet_hash(bytes, static_cast<std::uint32_t>(count), hash);
    };
    for (const KernelFunction* kernel : out_.kernels) mix(kernel->name.data(), kernel->name.size());
    mix(numbers.data(), numbers.size() * sizeof numbers[0]);
    mix(out_.shape_bytes.data(), out_.shape_bytes.size());
    mix(out_.code.data(), out_.code.size());
    return hash;
  }

  /// What poet_shape has room for.
  void check_tables() const {
    constexpr std::size_t kMostKernels = 256;
    if (out_.kernels.size() > kMostKernels)
      throw InputError("the plan", fmt::format("calls more than {} kernels", kMostKernels));
  }

  void compute(OpId op, const std::vector<std::int64_t>& inputs) {
    const Op& o = graph_.ops[op];
    if (o.kind == "input") return input(o.outputs.at(0));
    put(POET_CALL);
    put_varint(shape_number(op));
    for (const std::int64_t at : inputs) put_address(at);
    for (const ValueId v : o.outputs) put_address(where(v));
    for (const ValueId v : o.updates) put_address(where(v));
    if (!is_loss(o)) return;
    put(POET_LOSS);
    put_address(where(o.outputs.at(0)));
  }

  void input(ValueId v) {
    const Value& value = graph_.values[v];
    const SampleField& field = out_.fields.at(by_tensor_.at(tensor_name(value)));
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
      put_varint(row_number_[step.value]);
      put_address(where(step.value));
      return;
    }
    const Page& page = out_.pages[page_[step.value]];
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
      for (; next < allocations.size() && allocations[next].begin == i; ++next)
        if (allocations[next].value.valid()) place_[allocations[next].value] = allocations[next].offset;
      switch (step.kind) {
        case StepKind::compute:
          compute(step.op, inputs);
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
  IdVector<ValueId, std::size_t> page_;
  IdVector<ValueId, std::size_t> row_number_;  // in Program::rows
  std::map<std::string, std::size_t> kernels_;
  std::map<std::string, std::size_t> shapes_;
  std::map<std::string, std::size_t> by_tensor_;
  std::uint32_t end_of_pages_ = 0;
  Program out_;
};

}  // namespace

Program program_of(const PlanFile& file) { return Compiler(file).run(); }

std::uint32_t digest_of(const Program& program, std::uint64_t seed) {
  return poet_hash(&seed, sizeof seed, program.digest);
}

}  // namespace poet::firmware
