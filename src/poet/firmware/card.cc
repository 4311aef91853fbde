#include "poet/firmware/card.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "poet/base/error.h"
#include "poet/firmware/card_image.h"
#include "poet/firmware/card_tables.h"
#include "poet/graph/parts.h"

namespace poet::firmware {
namespace {

constexpr std::uint64_t kLeastBlocks = 128;  // 64 KiB
constexpr std::size_t kRecordWords = 4;

std::uint32_t hash_of_record(std::uint32_t digest, const std::vector<std::byte>& residents,
                             std::uint32_t step, std::uint32_t loss) {
  return hash_of(residents.data(), residents.size(), (step * 31U) ^ loss ^ digest);
}

void write_page(Image& image, const Page& page, const std::vector<std::byte>& bytes) {
  const std::array<std::uint32_t, 2> trailer = {0,
                                                hash_of(bytes.data(), bytes.size(), page.first)};  // step 0
  image.write(page.first, 0, bytes.data(), bytes.size());
  image.write(page.first + page.blocks - 1, POET_BLOCK - POET_TRAILER, trailer.data(), POET_TRAILER);
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
  write_notes(image, {options.seed, options.data, options.optimizer});
  image.close();
  std::error_code error;
  std::filesystem::resize_file(file, image_blocks(blocks, options.power_of_two) * POET_BLOCK, error);
  if (error) throw InputError(name.string(), "cannot be written: " + error.message());
}

OptimizerSettings optimizer_of_card(const std::filesystem::path& file) {
  Image image(file, file, std::ios::in);
  return read_header(file, image).notes.optimizer;
}

bool is_card_of(const std::filesystem::path& file, const Program& program) {
  Image image(file, file, std::ios::in);
  const CardHeader header = read_header(file, image);
  return header.digest() == digest_of(program, header.notes.seed);
}

void set_steps(const std::filesystem::path& file, const Program& program, std::uint32_t steps) {
  Image image(file, file, std::ios::in | std::ios::out);
  CardHeader header = read_header(file, image);
  if (header.digest() != digest_of(program, header.notes.seed))
    throw InputError(file.string(), "is the image for another plan");
  header.words[kStepsAt] = steps;
  write_header(image, header.words);
  image.close();
}

CardState read_card(const std::filesystem::path& file, const Graph& graph, const Program& program) {
  Image image(file, file, std::ios::in);
  const CardHeader header = read_header(file, image);
  if (header.digest() != digest_of(program, header.notes.seed))
    throw InputError(file.string(), "is the image for another plan");
  const std::uint32_t digest = header.digest();
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
  found->seed = header.notes.seed;
  found->data = header.notes.text;
  found->schedule = header.notes.optimizer.schedule;
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
