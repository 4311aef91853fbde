#pragma once

// Tables of buffers: comma-separated values with a heading, as MiniMalloc reads and writes them.

#include <string>
#include <vector>

#include "poet/packing/problem.h"

namespace poet {

struct BufferTable {
  std::vector<std::string> heading;
  std::vector<std::vector<std::string>> rows;  // as written, one cell per column
  std::vector<RequestedBuffer> buffers;        // what they say
};

/// Reads a heading with, in any order, the columns id (or buffer, buffer_id), lower (begin, start), upper, or
/// end, which is the last time at which a buffer is alive, and size; and, if wanted, alignment, gaps
/// ("3-5 8-9", in times as those of the lifetime), offset (fixed; may be empty), bank (may be empty) and
/// hint, which is ignored. Then a row per buffer. `name` is that of the file. Throws InputError "NAME:LINE:
/// ..." for anything else; a buffer's values are check()'s concern. O(text).
[[nodiscard]] BufferTable read_buffer_table(const std::string& text, const std::string& name);

/// Returns the table with the column `offset`, and with `bank` if the problem has banks, filled in: replaced
/// where the table has them, else last. The solution has a packing.
[[nodiscard]] std::string buffer_table_text(const BufferTable& table, const std::vector<Bank>& banks,
                                            const PackSolution& solution);

}  // namespace poet
