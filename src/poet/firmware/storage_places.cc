#include "poet/firmware/storage_places.h"

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include "firmware/engine/poet_engine.h"
#include "poet/graph/parts.h"
#include "poet/runtime/data/data_input.h"

namespace poet::firmware {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

std::uint32_t blocks_of(std::int64_t bytes) {
  return static_cast<std::uint32_t>((bytes + POET_BLOCK - 1) / POET_BLOCK);
}

/// Of so many bytes in sealed blocks.
std::uint32_t sealed_blocks(std::size_t bytes) {
  return static_cast<std::uint32_t>((bytes + POET_SEALED - 1) / POET_SEALED);
}

class Placer {
 public:
  Placer(const PlanFile& file, Program& program)
      : file_(file), graph_(file.instance.graph), storage_(storages(graph_)), out_(program) {
    places_.page = IdVector<ValueId, std::size_t>(graph_.values.size(), kNone);
    places_.rows = IdVector<ValueId, std::size_t>(graph_.values.size(), kNone);
  }

  StoragePlaces run() {
    out_.record_blocks = 1 + blocks_of(out_.ram_bytes - out_.arena_bytes);
    lay_out_samples();
    place_pages();
    place_tables();
    name_blocks();
    return std::move(places_);
  }

 private:
  void lay_out_samples() {
    const std::vector<runtime::DataInput> inputs = runtime::data_inputs(graph_);
    out_.batch = static_cast<std::uint32_t>(runtime::samples_per_step(inputs));
    for (const runtime::DataInput& input : inputs) {
      const auto bytes = static_cast<std::uint32_t>(byte_count(input.sample, input.dtype).value());
      places_.field[tensor_name(graph_.values[input.value])] = out_.fields.size();
      out_.fields.push_back({out_.sample_bytes, bytes});
      out_.sample_bytes += bytes;
    }
    out_.sample_blocks = sealed_blocks(out_.sample_bytes);
  }

  void place_pages() {
    std::uint32_t next = out_.record_first + 2 * out_.record_blocks;
    const IdVector<ValueId, char> updated = updated_values();
    const auto add = [&](ValueId v) {
      if (places_.page[v] != kNone || graph_.values[v].rows) return;
      places_.page[v] = out_.pages.size();
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
    places_.end = next;
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
        TableHome home{v, places_.end, static_cast<std::uint32_t>(value.rows->of),
                       static_cast<std::uint32_t>(byte_count({value.shape[1]}, value.dtype).value()), 0};
        home.row_blocks = blocks_of(home.row_bytes + kRowTrailer);
        places_.end += home.rows * home.row_blocks;
        out_.tables.push_back(home);
      }
      if (stands_for_home(value)) out_.tables[table->second].value = v;
      places_.rows[v] = out_.rows.size();
      const TableHome& home = out_.tables[table->second];
      TableRows rows{v, table->second, 0, names_in(value, home.rows, names),
                     static_cast<std::uint32_t>(value.shape[0])};
      if (value.part) rows.first += static_cast<std::uint32_t>(value.part->begin[0]);
      if (updated[v] != 0) {
        rows.journal = places_.end;
        places_.end += 2 * rows.count * home.row_blocks;
      }
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
};

}  // namespace

StoragePlaces place_values(const PlanFile& file, Program& program) { return Placer(file, program).run(); }

void place_the_rest(std::uint32_t first, Program& program) {
  program.code_first = first;
  program.names_first = program.code_first + sealed_blocks(program.code.size());
  program.samples_first =
      program.names_first +
      static_cast<std::uint32_t>((program.names.size() + POET_NAMES_PER_BLOCK - 1) / POET_NAMES_PER_BLOCK);
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
