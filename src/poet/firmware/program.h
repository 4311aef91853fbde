#pragma once

// A plan as the program of a board: a stream of instructions (firmware/engine/poet_engine.h) with addresses
// in RAM and on storage, and the shapes of kernels.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "firmware/engine/poet_rate.h"
#include "poet/firmware/lowered.h"
#include "poet/plan/file/plan_file.h"
#include "poet/runtime/training/hyperparameters.h"
#include "poet/runtime/training/learning_rate.h"

namespace poet::firmware {

inline constexpr std::int64_t kUnit = 4;  // bytes: of an address, and of what a transfer counts

/// The pages of a value on storage, in blocks of 512 bytes.
struct Page {
  ValueId value;
  std::uint32_t first = 0;   // block
  std::uint32_t blocks = 0;  // of one slot
  int slots = 1;             // 2: a step reads one and writes the other
  bool home = false;         // of a parameter or optimiser state
};

/// A table at home on the storage, of which steps bring in rows by index (Value::rows). A row is blocks of
/// its own (firmware/engine/poet_tables.c).
struct TableHome {
  ValueId value;            // that stands for it
  std::uint32_t first = 0;  // block of row 0
  std::uint32_t rows = 0;
  std::uint32_t row_bytes = 0;
  std::uint32_t row_blocks = 0;
};

/// Rows that a value has of a table.
struct TableRows {
  ValueId value;
  std::size_t table = 0;      // in Program::tables
  std::uint32_t journal = 0;  // block; 0: no step changes them
  std::uint32_t first = 0;    // in the list of all numbers of rows
  std::uint32_t count = 0;
};

/// An input of the step whose numbers name rows.
struct RowIndices {
  std::size_t field = 0;  // in Program::fields
  std::uint32_t first = 0;
  std::uint32_t count = 0;  // of a batch
  std::uint32_t rows = 0;   // of the smallest of the tables
};

/// Blocks that have a name in messages.
struct NamedBlocks {
  std::string name;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// A resident parameter or optimiser state.
struct Resident {
  ValueId value;
  std::int64_t at = 0;  // byte in RAM
};

/// What a sample has of one input, in order of data_inputs().
struct SampleField {
  std::uint32_t first = 0;  // byte in the sample
  std::uint32_t bytes = 0;
};

struct ShapeEntry {
  std::size_t kernel = 0;  // in Program::kernels
  std::size_t operands = 0;
  std::size_t first = 0;  // byte in Program::shape_bytes, a multiple of 8
};

/// What is said about the optimiser when firmware is made.
struct OptimizerSettings {
  runtime::Hyperparameters hyperparameters{};
  runtime::LearningRateSchedule schedule{};
};

struct Program {
  std::vector<const KernelFunction*> kernels;  // that the plan needs, in the order in which it needs them
  std::vector<ShapeEntry> shapes;
  std::vector<std::byte> shape_bytes;
  std::vector<std::uint8_t> code;
  std::uint32_t digest = 0;  // of all of these and of where everything lies

  // RAM: the arena, then what is resident.
  std::int64_t arena_bytes = 0;
  std::int64_t ram_bytes = 0;
  int address_bytes = 2;
  std::vector<Resident> residents;

  // The storage: header, two records, pages, program, names, samples.
  std::uint32_t record_first = 1;
  std::uint32_t record_blocks = 0;
  std::vector<Page> pages;
  std::vector<TableHome> tables;
  std::vector<TableRows> rows;
  std::vector<RowIndices> row_indices;
  std::uint32_t row_numbers = 0;  // that a step's inputs have of rows, in all: 4 bytes of RAM each
  std::vector<NamedBlocks> names;
  std::uint32_t code_first = 0;
  std::uint32_t names_first = 0;
  std::uint32_t samples_first = 0;
  std::vector<SampleField> fields;
  std::uint32_t sample_bytes = 0;
  std::uint32_t sample_blocks = 0;
  std::uint32_t batch = 1;

  std::uint32_t steps_per_update = 1;
  poet_schedule schedule{};  // of the learning rate
};

/// Of a plan that the verifier accepts, for device semantics. Throws InputError naming the op or value that
/// boards cannot have: a kind without a kernel, parameters outside the budget, elements of more than 4
/// bytes, float32 copies without workspace. O(steps + edges).
[[nodiscard]] Program program_of(const PlanFile& file, const runtime::LearningRateSchedule& schedule);

/// What firmware and card must have in common: the program's, and the seed of data order and dropout.
[[nodiscard]] std::uint32_t digest_of(const Program& program, std::uint64_t seed);

}  // namespace poet::firmware
