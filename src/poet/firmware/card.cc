#include "poet/firmware/card.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <span>

#include "firmware/engine/poet_engine.h"
#include "poet/base/error.h"
#include "poet/graph/parts.h"

namespace poet::firmware {
namespace {

constexpr std::uint64_t kLeastBlocks = 128;  // 64 KiB
constexpr std::size_t kHeaderWords = 6;      // and their hash
constexpr std::size_t kStepsAt = 4;
constexpr std::size_t kRecordWords = 4;

using Words = std::array<std::uint32_t, POET_BLOCK / 4>;

std::uint32_t hash_of(const void* bytes, std::size_t count, std::uint32_t seed) {
  return poet_hash(bytes, static_cast<std::uint32_t>(count), seed);
}

std::uint32_t hash_of_record(std::uint32_t digest, const std::vector<std::byte>& residents,
                             std::uint32_t step, std::uint32_t loss) {
  return hash_of(residents.data(), residents.size(), (step * 31U) ^ loss ^ digest);
}

class Image {
 public:
  /// `name`: of the file in messages.
  Image(const std::filesystem::path& file, std::filesystem::path name, std::ios::openmode mode)
      : name_(std::move(name)), stream_(file, mode | std::ios::binary) {
    if (!stream_) throw InputError(name_.string(), "cannot be opened");
  }
  void write(std::uint64_t block, std::uint64_t skipped, const void* from, std::size_t bytes) {
    stream_.seekp(static_cast<std::streamoff>(block * POET_BLOCK + skipped));
    stream_.write(static_cast<const char*>(from), static_cast<std::streamsize>(bytes));
    if (!stream_) throw InputError(name_.string(), "cannot be written");
  }
  void read(std::uint64_t block, void* to, std::size_t bytes) {
    stream_.seekg(static_cast<std::streamoff>(block * POET_BLOCK));
    stream_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
    if (!stream_) throw InputError(name_.string(), "ends before what its header says is there");
  }
  void close() {
    stream_.close();
    if (!stream_) throw InputError(name_.string(), "cannot be written");
  }

 private:
  std::filesystem::path name_;
  std::fstream stream_;
};

void write_page(Image& image, const Page& page, const std::vector<std::byte>& bytes) {
  const std::array<std::uint32_t, 2> trailer = {0,
                                                hash_of(bytes.data(), bytes.size(), page.first)};  // step 0
  image.write(page.first, 0, bytes.data(), bytes.size());
  image.write(page.first + page.blocks - 1, POET_BLOCK - POET_TRAILER, trailer.data(), POET_TRAILER);
}

// ---- what only poet reads, in the header's block behind what the engine does: seed (8 bytes), bytes of
// text, a hash of these and the text; text

constexpr std::size_t kNotes = 64;
constexpr std::size_t kNotesHead = 16;

struct Notes {
  std::uint64_t seed = 0;
  std::string text{};
};

std::vector<char> bytes_of_notes(const Notes& notes) {
  const std::size_t length =
      notes.text.size() <= POET_BLOCK - kNotes - kNotesHead ? notes.text.size() : 0;  // whole or not at all
  std::vector<char> bytes(kNotesHead + length);
  const std::array<std::uint32_t, 3> head = {static_cast<std::uint32_t>(notes.seed),
                                             static_cast<std::uint32_t>(notes.seed >> 32U),
                                             static_cast<std::uint32_t>(length)};
  std::memcpy(bytes.data(), head.data(), sizeof head);
  std::copy_n(notes.text.begin(), length, bytes.begin() + kNotesHead);
  const std::uint32_t hash = hash_of(bytes.data(), bytes.size(), kNotes);  // its own place is 0 yet
  std::memcpy(bytes.data() + sizeof head, &hash, sizeof hash);
  return bytes;
}

std::optional<Notes> notes_in(const Words& block) {
  std::array<char, POET_BLOCK> all{};
  std::memcpy(all.data(), block.data(), sizeof all);
  const std::uint32_t* head = block.data() + kNotes / 4;
  if (head[2] > POET_BLOCK - kNotes - kNotesHead) return std::nullopt;
  Notes notes{head[0] | std::uint64_t{head[1]} << 32U,
              std::string(all.data() + kNotes + kNotesHead, head[2])};
  const std::vector<char> wanted = bytes_of_notes(notes);
  if (!std::equal(wanted.begin(), wanted.end(), all.begin() + kNotes)) return std::nullopt;
  return notes;
}

// ---- tables by index, as firmware/engine/poet_tables.c reads them

struct RowTrailer {
  std::uint32_t row = 0, step = 0, hash = 0, check = 0;
};
constexpr std::uint32_t kNoRow = 0xFFFFFFFFU;

std::uint32_t check_of(const RowTrailer& t) { return hash_of(&t, sizeof t - sizeof t.check, 0); }

std::uint32_t row_block(const TableHome& table, std::uint32_t row) {
  return table.first + row * table.row_blocks;
}

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

/// All rows after `step`: what its journal has goes before what is in the table, which a power cut may have
/// left half copied.
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

/// Bytes from `first` of a stream in sealed blocks on, each with its hash.
void write_sealed(Image& image, std::uint64_t first, const std::vector<std::uint8_t>& bytes) {
  std::array<std::uint8_t, POET_BLOCK> block{};
  for (std::size_t at = 0, next = 0; at < bytes.size(); at = next, ++first) {
    next = std::min<std::size_t>(at + POET_SEALED, bytes.size());
    block.fill(0);
    std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(at),
              bytes.begin() + static_cast<std::ptrdiff_t>(next), block.begin());
    const std::uint32_t hash = hash_of(block.data(), POET_SEALED, static_cast<std::uint32_t>(first));
    std::memcpy(block.data() + POET_SEALED, &hash, sizeof hash);
    image.write(first, 0, block.data(), block.size());
  }
}

std::vector<std::uint8_t> named_blocks(const Program& program) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < program.names.size(); ++i) {
    const NamedBlocks& named = program.names[i];
    std::array<char, POET_NAME> entry{};
    const std::array<std::uint32_t, 2> where = {named.first, named.count};
    std::memcpy(entry.data(), where.data(), sizeof where);
    std::copy_n(named.name.begin(), std::min(named.name.size(), entry.size() - sizeof where - 1),
                entry.begin() + sizeof where);
    bytes.resize(i / POET_NAMES_PER_BLOCK * POET_SEALED + i % POET_NAMES_PER_BLOCK * POET_NAME);
    bytes.insert(bytes.end(), entry.begin(), entry.end());
  }
  return bytes;
}

// ---- the header

using Header = std::array<std::uint32_t, kHeaderWords>;

void write_header(Image& image, const Header& header) {
  const std::uint32_t hash = hash_of(header.data(), sizeof header, 0);
  image.write(0, 0, header.data(), sizeof header);
  image.write(0, sizeof header, &hash, sizeof hash);
}

struct Opened {
  Header header{};
  Notes notes;
  [[nodiscard]] std::uint32_t digest() const { return header[2]; }
};

Opened open_card(const std::filesystem::path& file, Image& image) {
  Words block;
  image.read(0, block.data(), sizeof block);
  if (block[0] != POET_CARD_MAGIC) throw InputError(file.string(), "is no image of a card of poet's");
  if (block[1] != POET_CARD_VERSION)
    throw InputError(file.string(), fmt::format("is a card of format {}, and this is poet for format {}",
                                                block[1], static_cast<int>(POET_CARD_VERSION)));
  Opened opened;
  std::copy_n(block.begin(), kHeaderWords, opened.header.begin());
  const std::optional<Notes> notes = notes_in(block);
  if (!notes || hash_of(opened.header.data(), sizeof opened.header, 0) != block[kHeaderWords])
    throw InputError(file.string(), "its header is damaged");
  opened.notes = *notes;
  return opened;
}

}  // namespace

std::uint64_t card_blocks(const Program& program, std::int64_t samples) {
  return program.samples_first + static_cast<std::uint64_t>(samples) * program.sample_blocks;
}

std::uint64_t image_blocks(std::uint64_t blocks, bool power_of_two) {
  return power_of_two ? std::bit_ceil(std::max(blocks, kLeastBlocks))
                      : (blocks + kLeastBlocks - 1) / kLeastBlocks * kLeastBlocks;
}

void write_card(const std::filesystem::path& file, const Graph& graph, const Program& program,
                const Contents& first, const runtime::Dataset& data, const CardOptions& options) {
  const std::uint64_t blocks = card_blocks(program, data.samples());
  const std::filesystem::path& name = options.name.empty() ? file : options.name;
  if (blocks > std::numeric_limits<std::uint32_t>::max())
    throw InputError(name.string(), "would have more than 2 TiB");
  Image image(file, name, std::ios::in | std::ios::out | std::ios::trunc);
  const auto written = [&](std::uint64_t so_far) {
    if (options.progress) options.progress(so_far);
  };
  const auto contents_of = [&](ValueId v) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(at_home(graph.values[v]).bytes.value()));
    first(v, bytes.data());
    return bytes;
  };
  for (const Page& page : program.pages) {
    written(page.first);
    if (page.home) write_page(image, page, contents_of(page.value));
  }
  for (const TableHome& table : program.tables) {
    written(table.first);
    write_table(image, table, contents_of(table.value));
  }
  std::vector<std::byte> residents(static_cast<std::size_t>(program.ram_bytes - program.arena_bytes));
  for (const Resident& r : program.residents) {
    const std::vector<std::byte> bytes = contents_of(r.value);
    std::copy(bytes.begin(), bytes.end(), residents.begin() + (r.at - program.arena_bytes));
  }
  const std::uint32_t digest = digest_of(program, options.seed);
  const std::array<std::uint32_t, kRecordWords> record = {POET_CARD_MAGIC, 0, 0,
                                                          hash_of_record(digest, residents, 0, 0)};
  image.write(program.record_first, 0, record.data(), sizeof record);
  image.write(program.record_first + 1, 0, residents.data(), residents.size());
  write_sealed(image, program.code_first, program.code);
  write_sealed(image, program.names_first, named_blocks(program));
  std::vector<std::uint8_t> bytes(program.sample_bytes);
  for (std::int64_t sample = 0; sample < data.samples(); ++sample) {
    const std::uint64_t at =
        program.samples_first + static_cast<std::uint64_t>(sample) * program.sample_blocks;
    written(at);
    for (std::size_t i = 0; i < program.fields.size(); ++i)
      data.read(
          i, std::span(&sample, 1),
          std::as_writable_bytes(std::span(bytes).subspan(program.fields[i].first, program.fields[i].bytes))
              .data());
    write_sealed(image, at, bytes);
  }
  write_header(image, {POET_CARD_MAGIC, POET_CARD_VERSION, digest, static_cast<std::uint32_t>(blocks),
                       options.steps, static_cast<std::uint32_t>(data.samples())});
  const std::vector<char> notes = bytes_of_notes({options.seed, options.data});
  image.write(0, kNotes, notes.data(), notes.size());
  image.close();
  std::error_code error;
  std::filesystem::resize_file(file, image_blocks(blocks, options.power_of_two) * POET_BLOCK, error);
  if (error) throw InputError(name.string(), "cannot be written: " + error.message());
}

bool is_card_of(const std::filesystem::path& file, const Program& program) {
  Image image(file, file, std::ios::in);
  const Opened opened = open_card(file, image);
  return opened.digest() == digest_of(program, opened.notes.seed);
}

void set_steps(const std::filesystem::path& file, const Program& program, std::uint32_t steps) {
  Image image(file, file, std::ios::in | std::ios::out);
  Opened opened = open_card(file, image);
  if (opened.digest() != digest_of(program, opened.notes.seed))
    throw InputError(file.string(), "is the image for another plan");
  opened.header[kStepsAt] = steps;
  write_header(image, opened.header);
  image.close();
}

CardState read_card(const std::filesystem::path& file, const Graph& graph, const Program& program) {
  Image image(file, file, std::ios::in);
  const Opened opened = open_card(file, image);
  if (opened.digest() != digest_of(program, opened.notes.seed))
    throw InputError(file.string(), "is the image for another plan");
  const std::uint32_t digest = opened.digest();
  Words block;
  std::optional<CardState> found;
  std::vector<std::byte> residents(static_cast<std::size_t>(program.ram_bytes - program.arena_bytes));
  std::vector<std::byte> latest;
  for (std::uint32_t number = 0; number < 2; ++number) {
    const std::uint32_t at = program.record_first + number * program.record_blocks;
    image.read(at, block.data(), sizeof block);
    image.read(at + 1, residents.data(), residents.size());
    if (block[0] != POET_CARD_MAGIC || block[3] != hash_of_record(digest, residents, block[1], block[2]))
      continue;
    if (found && found->step > block[1]) continue;
    found.emplace();
    found->step = block[1];
    found->loss = std::bit_cast<float>(block[2]);
    latest = residents;
  }
  if (!found) throw InputError(file.string(), "has no whole record of a step");
  found->seed = opened.notes.seed;
  found->data = opened.notes.text;
  found->contents = IdVector<ValueId, std::vector<std::byte>>(graph.values.size());
  for (const Resident& r : program.residents) {
    const auto begin = latest.begin() + (r.at - program.arena_bytes);
    found->contents[r.value].assign(begin, begin + graph.values[r.value].bytes.value());
  }
  for (const Page& page : program.pages) {
    if (!page.home) continue;
    std::vector<std::byte>& bytes = found->contents[page.value];
    const std::uint32_t step = page.slots == 2 ? found->step : 0;
    const std::uint32_t at = page.first + (page.slots == 2 ? step % 2 * page.blocks : 0);
    bytes.resize(static_cast<std::size_t>(graph.values[page.value].bytes.value()));
    image.read(at, bytes.data(), bytes.size());
    image.read(at + page.blocks - 1, block.data(), sizeof block);
    if (block[POET_BLOCK / 4 - 2] != step ||
        block[POET_BLOCK / 4 - 1] != hash_of(bytes.data(), bytes.size(), at ^ step))
      throw InputError(file.string(), fmt::format("\"{}\" is damaged on it", graph.values[page.value].name));
  }
  read_tables(file, image, graph, program, *found);
  return std::move(*found);
}

}  // namespace poet::firmware
