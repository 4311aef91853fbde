#include "poet/firmware/storage_places.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <utility>
#include <vector>

#include "firmware/engine/poet_engine.h"
#include "poet/base/error.h"
#include "poet/graph/parts.h"
#include "poet/runtime/data/data_input.h"

namespace poet::firmware {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();  // of blocks; of a sample's bytes

std::uint64_t blocks_of(std::int64_t bytes) {
  return (static_cast<std::uint64_t>(bytes) + POET_BLOCK - 1) / POET_BLOCK;
}

/// Of so many bytes in sealed blocks.
std::uint64_t sealed_blocks(std::size_t bytes) { return (bytes + POET_SEALED - 1) / POET_SEALED; }

/// Blocks of the storage, one after another.
class Blocks {
 public:
  explicit Blocks(std::uint64_t first) : next_(first) {}
  [[nodiscard]] std::uint32_t next() const { return static_cast<std::uint32_t>(next_); }
  /// Takes `count` times so many blocks, and returns the first.
  std::uint32_t take(std::uint64_t blocks, std::uint64_t count = 1) {
    if (count > 0 && blocks > (kMost - next_) / count)
      throw InputError("the plan", "takes more than 2 TiB of storage, which cards do not have");
    const std::uint32_t first = next();
    next_ += blocks * count;
    return first;
  }

 private:
  std::uint64_t next_;
};

class Placer {
 public:
  Placer(const PlanFile& file, Program& program)
      : file_(file), graph_(file.instance.graph), storage_(storages(graph_)), out_(program) {
    places_.page = IdVector<ValueId, std::size_t>(graph_.values.size(), kNone);
    places_.rows = IdVector<ValueId, std::size_t>(graph_.values.size(), kNone);
  }

  StoragePlaces run() {
    out_.record_blocks = static_cast<std::uint32_t>(1 + blocks_of(out_.ram_bytes - out_.arena_bytes));
    blocks_ = Blocks(out_.record_first);
    blocks_.take(out_.record_blocks, 2);
    lay_out_samples();
    place_pages();
    place_tables();
    places_.end = blocks_.next();
    name_blocks();
    return std::move(places_);
  }

 private:
  void lay_out_samples() {
    const std::vector<runtime::DataInput> inputs = runtime::data_inputs(graph_);
    out_.batch = static_cast<std::uint32_t>(runtime::samples_per_step(inputs));
    std::int64_t all = 0;
    for (const runtime::DataInput& input : inputs) {
      const std::int64_t bytes = byte_count(input.sample, input.dtype).value();
      places_.field[tensor_name(graph_.values[input.value])] = out_.fields.size();
      if (bytes > kMost - all)
        throw InputError("the plan", "has samples of more than 4 GiB, which boards do not read");
      out_.fields.push_back({static_cast<std::uint32_t>(all), static_cast<std::uint32_t>(bytes)});
      all += bytes;
    }
    out_.sample_bytes = static_cast<std::uint32_t>(all);
    out_.sample_blocks = static_cast<std::uint32_t>(sealed_blocks(out_.sample_bytes));
  }

  void place_pages() {
    const IdVector<ValueId, char> updated = updated_values();
    const auto add = [&](ValueId v) {
      if (places_.page[v] != kNone || graph_.values[v].rows) return;
      places_.page[v] = out_.pages.size();
      const std::uint64_t blocks =
          blocks_of((graph_.values[v].bytes.value() + kUnit - 1) / kUnit * kUnit + POET_TRAILER);
      Page page{v, 0, static_cast<std::uint32_t>(blocks), 1, graph_.values[v].paged};
      if (page.home && updated[v] != 0) page.slots = 2;
      page.first = blocks_.take(blocks, static_cast<std::uint64_t>(page.slots));
      out_.pages.push_back(page);
    };
    for (const ValueId v : ids<ValueId>(graph_.values.size()))
      if (graph_.values[v].paged) add(v);
    for (const Step& step : file_.plan.steps)
      if (step.kind == StepKind::page_out || step.kind == StepKind::page_in) add(step.value);
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
        const std::int64_t row_bytes = byte_count({value.shape[1]}, value.dtype).value();
        const std::uint64_t row_blocks = blocks_of(row_bytes + kRowTrailer);
        const std::uint32_t first = blocks_.take(row_blocks, static_cast<std::uint64_t>(value.rows->of));
        out_.tables.push_back({v, first, static_cast<std::uint32_t>(value.rows->of),
                               static_cast<std::uint32_t>(row_bytes),
                               static_cast<std::uint32_t>(row_blocks)});
      }
      if (stands_for_home(value)) out_.tables[table->second].value = v;
      places_.rows[v] = out_.rows.size();
      const TableHome& home = out_.tables[table->second];
      TableRows rows{v, table->second, 0, names_in(value, home.rows, names),
                     static_cast<std::uint32_t>(value.shape[0])};
      if (value.part) rows.first += static_cast<std::uint32_t>(value.part->begin[0]);
      if (updated[v] != 0) rows.journal = blocks_.take(home.row_blocks, 2 * std::uint64_t{rows.count});
      out_.rows.push_back(rows);
    }
  }

  /// Where the list of numbers has those of the input that names a value's rows.
  std::uint32_t names_in(const Value& value, std::uint32_t of, std::map<std::string, std::size_t>& names) {
    const auto [found, is_new] = names.emplace(value.rows->indices, out_.row_indices.size());
    if (is_new) {
      const auto count = static_cast<std::uint32_t>(tensor_shape(value)[0]);
      out_.row_indices.push_back({places_.field.at(value.rows->indices), out_.row_numbers, count, of});
      out_.row_numbers += count;
    }
    RowIndices& input = out_.row_indices[found->second];
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

  const PlanFile& file_;
  const Graph& graph_;
  const IdVector<ValueId, ValueId> storage_;
  Program& out_;
  StoragePlaces places_;
  Blocks blocks_{0};
};

}  // namespace

StoragePlaces place_values(const PlanFile& file, Program& program) { return Placer(file, program).run(); }

void place_the_rest(std::uint32_t first, Program& program) {
  Blocks blocks(first);
  program.code_first = blocks.take(sealed_blocks(program.code.size()));
  program.names_first = blocks.take((program.names.size() + POET_NAMES_PER_BLOCK - 1) / POET_NAMES_PER_BLOCK);
  program.samples_first = blocks.next();
}

/// Of everything that decides where things lie on the card and what is computed from them.
std::uint32_t digest_of(const Program& program) {
  std::vector<std::uint32_t> numbers = {static_cast<std::uint32_t>(program.arena_bytes),
                                        static_cast<std::uint32_t>(program.ram_bytes),
                                        program.record_first,
                                        program.record_blocks,
                                        program.code_first,
                                        program.names_first,
                                        program.samples_first,
                                        program.sample_blocks,
                                        program.batch};
  const auto add = [&](std::initializer_list<std::size_t> more) {
    for (const std::size_t n : more) numbers.push_back(static_cast<std::uint32_t>(n));
  };
  for (const ShapeEntry& shape : program.shapes) add({shape.kernel, shape.operands, shape.first});
  for (const TableHome& t : program.tables) add({t.first, t.rows, t.row_bytes, t.row_blocks});
  for (const TableRows& r : program.rows) add({r.table, r.journal, r.first, r.count});
  std::uint32_t hash = 0;
  const auto mix = [&hash](const void* bytes, std::size_t count) {
    hash = poet_hash(bytes, static_cast<std::uint32_t>(count), hash);
  };
  for (const KernelFunction* kernel : program.kernels) mix(kernel->name.data(), kernel->name.size());
  mix(numbers.data(), numbers.size() * sizeof numbers[0]);
  mix(&program.schedule, sizeof program.schedule);
  mix(program.shape_bytes.data(), program.shape_bytes.size());
  mix(program.code.data(), program.code.size());
  return hash;
}

std::uint32_t digest_of(const Program& program, std::uint64_t seed) {
  return poet_hash(&seed, sizeof seed, program.digest);
}

}  // namespace poet::firmware
