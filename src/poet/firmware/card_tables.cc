#include "poet/firmware/card_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "poet/base/error.h"
#include "poet/graph/parts.h"

namespace poet::firmware {
namespace {

struct RowTrailer {
  std::uint32_t row = 0, step = 0, hash = 0, check = 0;
};
constexpr std::uint32_t kNoRow = 0xFFFFFFFFU;

std::uint32_t check_of(const RowTrailer& t) { return hash_of(&t, sizeof t - sizeof t.check, 0); }

std::uint32_t row_block(const TableHome& table, std::uint32_t row) {
  return table.first + row * table.row_blocks;
}

RowTrailer read_trailer(Image& image, const TableHome& table, std::uint32_t block) {
  Words last;
  RowTrailer trailer;
  image.read(block + table.row_blocks - 1, last.data(), sizeof last);
  std::memcpy(static_cast<void*>(&trailer), last.data() + last.size() - sizeof trailer / 4, sizeof trailer);
  return trailer;
}

/// The row at `block`, which is in the table or in the journal; nothing where it is not whole, or not of a
/// step from `earliest` to `latest`.
std::optional<std::uint32_t> read_row(Image& image, const TableHome& table, std::uint32_t block,
                                      std::uint32_t earliest, std::uint32_t latest,
                                      std::vector<std::byte>& to) {
  const RowTrailer trailer = read_trailer(image, table, block);
  if (trailer.check != check_of(trailer) || trailer.step < earliest || trailer.step > latest)
    return std::nullopt;
  if (trailer.row == kNoRow) return kNoRow;
  std::vector<std::byte> bytes(table.row_bytes);
  image.read(block, bytes.data(), bytes.size());
  if (trailer.row >= table.rows ||
      trailer.hash != hash_of(bytes.data(), bytes.size(), row_block(table, trailer.row) ^ trailer.step))
    return std::nullopt;
  std::copy(
      bytes.begin(), bytes.end(),
      to.begin() + static_cast<std::ptrdiff_t>(trailer.row) * static_cast<std::ptrdiff_t>(bytes.size()));
  return trailer.row;
}

/// The row that a journal's entry names, where it is in the table already.
std::optional<std::uint32_t> copied_row(Image& image, const TableHome& table, std::uint32_t entry,
                                        std::uint32_t step, std::vector<std::byte>& to) {
  const RowTrailer trailer = read_trailer(image, table, entry);
  if (trailer.check != check_of(trailer) || trailer.step != step || trailer.row >= table.rows)
    return std::nullopt;
  return read_row(image, table, row_block(table, trailer.row), step, step, to);
}

}  // namespace

void write_table(Image& image, const TableHome& table, const std::vector<std::byte>& bytes) {
  for (std::uint32_t row = 0; row < table.rows; ++row) {
    const std::byte* from = bytes.data() + static_cast<std::size_t>(row) * table.row_bytes;
    const std::uint32_t block = row_block(table, row);
    RowTrailer trailer{row, 0, hash_of(from, table.row_bytes, block), 0};
    trailer.check = check_of(trailer);
    image.write(block, 0, from, table.row_bytes);
    image.write(block + table.row_blocks - 1, POET_BLOCK - sizeof trailer, &trailer, sizeof trailer);
  }
}

void read_tables(const std::filesystem::path& file, Image& image, const Graph& graph, const Program& program,
                 CardState& state) {
  for (std::size_t t = 0; t < program.tables.size(); ++t) {
    const TableHome& table = program.tables[t];
    const Value home = at_home(graph.values[table.value]);
    const auto refuse = [&](std::uint32_t row) {
      throw InputError(file.string(),
                       fmt::format("row {} of \"{}\" is damaged on it, or of a later step than its record",
                                   row, home.name));
    };
    std::vector<std::byte>& bytes = state.contents[table.value];
    bytes.resize(static_cast<std::size_t>(home.bytes.value()));
    std::vector<char> is_there(table.rows, 0);
    for (const TableRows& rows : program.rows) {
      if (rows.table != t || rows.journal == 0 || state.step == 0) continue;
      for (std::uint32_t i = 0; i < rows.count; ++i) {
        const std::uint32_t at = rows.journal + (state.step % 2 * rows.count + i) * table.row_blocks;
        std::optional<std::uint32_t> row = read_row(image, table, at, state.step, state.step, bytes);
        if (!row) row = copied_row(image, table, at, state.step, bytes);
        if (!row)
          throw InputError(file.string(), fmt::format("a new row of \"{}\" is damaged on it", home.name));
        if (*row != kNoRow) is_there[*row] = 1;
      }
    }
    for (std::uint32_t row = 0; row < table.rows; ++row)
      if (is_there[row] == 0 && read_row(image, table, row_block(table, row), 0, state.step, bytes) != row)
        refuse(row);
  }
}

}  // namespace poet::firmware
