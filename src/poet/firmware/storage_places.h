#pragma once

// Where a program has what on the storage, in blocks of 512 bytes: header, records, pages, tables by index
// and their journals, the instructions, names, samples.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "poet/firmware/program.h"
#include "poet/plan/file/plan_file.h"

namespace poet::firmware {

struct StoragePlaces {
  IdVector<ValueId, std::size_t> page;       // in Program::pages, of what a step reads or writes as pages
  IdVector<ValueId, std::size_t> rows;       // in Program::rows, of rows of tables
  std::map<std::string, std::size_t> field;  // in Program::fields, of inputs by the tensor's name
  std::uint32_t end = 0;                     // block behind all of these
};

/// Fills in what the program says of records, pages, tables, names and a sample. Its RAM is known. Throws
/// InputError where numbers of blocks, or of a sample's bytes, would have more than 32 bits. O(steps +
/// values).
[[nodiscard]] StoragePlaces place_values(const PlanFile& file, Program& program);

/// From block `first` on what comes behind the values: how long the code is is known then.
void place_the_rest(std::uint32_t first, Program& program);

/// Of a whole program.
[[nodiscard]] std::uint32_t digest_of(const Program& program);

}  // namespace poet::firmware
