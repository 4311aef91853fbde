#include "poet/firmware/folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>

#include "poet/base/amounts.h"
#include "poet/base/data_dir.h"
#include "poet/base/error.h"
#include "poet/base/folder.h"
#include "poet/base/nearest.h"
#include "poet/firmware/memory.h"
#include "poet/firmware/readme.h"

namespace poet::firmware {
namespace {

namespace fs = std::filesystem;

void write_text(const fs::path& file, std::string_view text) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out) throw InputError(file.string(), "cannot be written");
}

void copy_files(const fs::path& from, const fs::path& to, const std::set<std::string>* names) {
  std::error_code error;
  fs::create_directories(to, error);
  std::error_code unreadable;
  const std::vector<fs::path> files = entries_of(from, unreadable);
  if (unreadable) throw InputError(from.string(), "cannot be read: " + unreadable.message());
  for (const fs::path& file : files) {
    if (!fs::is_regular_file(file)) continue;
    const std::string name = file.filename().string();
    if (names != nullptr && !names->contains(name) && file.extension() != ".h") continue;
    fs::copy_file(file, to / name, fs::copy_options::overwrite_existing, error);
    if (error) break;
  }
  if (error) throw InputError(to.string(), "cannot be written: " + error.message());
}

/// Adds `file` and, by its includes, those whose functions it calls.
void add_kernel_file(const fs::path& folder, const std::string& file, std::set<std::string>& files) {
  if (!fs::exists(folder / file) || !files.insert(file).second) return;
  std::ifstream source(folder / file);
  const std::string_view include = "#include \"";
  for (std::string line; std::getline(source, line);) {
    if (!line.starts_with(include)) continue;
    const std::string header = line.substr(include.size(), line.find('"', include.size()) - include.size());
    add_kernel_file(folder, header, files);
    add_kernel_file(folder, fs::path(header).replace_extension(".c").string(), files);
  }
  // Else what it includes would be missing in the firmware.
  if (!source.eof()) throw InputError((folder / file).string(), "cannot be read");
}

std::set<std::string> kernel_files(const fs::path& folder, const Program& program) {
  std::set<std::string> files;
  add_kernel_file(folder, "poet_elements.c", files);  // starts of sums
  add_kernel_file(folder, "poet_math.c", files);      // of the learning rate
  for (const KernelFunction* kernel : program.kernels) add_kernel_file(folder, kernel->file, files);
  return files;
}

/// Items in rows of so many.
std::string in_rows(const std::vector<std::string>& items, std::size_t per_row) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i)
    text += fmt::format("{}{}{}", i == 0 ? "" : ",", i % per_row == 0 ? "\n    " : " ", items[i]);
  return text;
}

/// In every bit.
std::string c_double(double x) { return fmt::format("{:a}", x); }

std::string rows_c(const Program& p) {
  std::vector<std::string> names, rows;
  for (const RowIndices& n : p.row_indices)
    names.push_back(fmt::format("{{{}, {}, {}, {}, {}}}", p.fields[n.field].first, p.fields[n.field].bytes,
                                n.first, n.count, n.rows));
  for (const TableRows& r : p.rows) {
    const TableHome& t = p.tables[r.table];
    rows.push_back(fmt::format("{{{}, {}, {}, {}, {}, {}}}", t.first, r.journal, t.row_bytes, t.row_blocks,
                               r.first, r.count));
  }
  const PlanArrays arrays = plan_arrays(p);
  std::string numbers = fmt::format("int32_t poet_row_numbers[{}];\nvoid* poet_operands[{}];\n\n",
                                    arrays.row_numbers, arrays.operands);
  if (rows.empty()) return numbers;
  return fmt::format(
             "/* Inputs that name rows of tables, and the rows that they name. */\n"
             "static const poet_indices indices[] = {{{}}};\n\n"
             "static const poet_table_rows rows[] = {{{}}};\n\n",
             in_rows(names, 4), in_rows(rows, 4)) +
         numbers;
}

std::string plan_c(const Program& p, bool on_card, std::uint64_t seed) {
  std::vector<std::string> shapes, words, kernels, names;
  for (const ShapeEntry& s : p.shapes)
    shapes.push_back(fmt::format("{{{}, {}, {}}}", s.first / 8, s.kernel, s.operands));
  for (std::size_t i = 0; i < p.shape_bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, p.shape_bytes.data() + i, sizeof word);
    words.push_back(fmt::format("0x{:x}U", word));
  }
  for (const KernelFunction* k : p.kernels) {
    kernels.push_back(k->name);
    names.push_back(fmt::format("\"{}\"", k->name));
  }
  const std::vector<std::string> numbers = {
      fmt::format("0x{:08x}U, /* digest */", digest_of(p, seed)),
      fmt::format("{}, {}, /* RAM: bytes, the first of resident values */", p.ram_bytes, p.arena_bytes),
      fmt::format("{}, {}, /* records: first block, blocks of one */", p.record_first, p.record_blocks),
      fmt::format("{}, {}, {}, /* samples: first block, blocks of one, how many a step takes */",
                  p.samples_first, p.sample_blocks, p.batch),
      fmt::format("{}, /* program: first block */", p.code_first),
      fmt::format("{}, {}, /* names of pages: first block, how many */", p.names_first, p.names.size()),
      fmt::format("{}U, {}U, /* seed */", seed & 0xFFFFFFFFU, seed >> 32U),
      fmt::format("{}, {{{}, {}U, {}U, 0, {}}}, /* learning rate: steps of an update, schedule */",
                  p.steps_per_update, p.schedule.kind, p.schedule.warmup, p.schedule.length,
                  c_double(p.schedule.number)),
      fmt::format("{}, {}, {}, /* rows of tables by index */", p.row_indices.size(), p.rows.size(),
                  p.rows.empty() ? "0, 0" : "indices, rows"),
  };
  return fmt::format(
      "/* Made by poet codegen for one plan: what its steps call and where everything lies. */\n"
      "#include \"poet_engine.h\"\n\n"
      "/* Where a shape begins, in units of 8 bytes; kernel, operands. */\n"
      "static const poet_shape shapes[] = {{{}}};\n\n"
      "static const uint64_t shape_bytes[] = {{{}}};\n\n"
      "static const poet_kernel kernels[] = {{{}}};\n\n"
      "static const char* const names[] = {{{}}};\n\n{}{}"
      "const poet_plan_data poet_the_plan = {{\n    {}\n    {}, shapes, shape_bytes, kernels, names}};\n",
      in_rows(shapes, 8), in_rows(words, 6), in_rows(kernels, 4), in_rows(names, 4), rows_c(p),
      on_card ? "" : "extern const uint8_t poet_code[];\n\n", fmt::join(numbers, "\n    "),
      on_card ? "0" : "poet_code");
}

/// What the linker and the check of the stack need to know.
std::string plan_mk(const Program& program, const Board& board, const std::vector<Memory>& memory) {
  std::vector<std::string> kernels;
  for (const KernelFunction* k : program.kernels) kernels.push_back(k->name);
  std::string text = fmt::format(
      "# The RAM that the firmware may touch.\nWINDOW_BYTES := {}\n"
      "# What the engine calls.\nKERNELS := {}\n",
      board.ram_bytes, fmt::join(kernels, " "));
  for (const Memory& m : memory) {
    if (m.processor.empty()) continue;
    text += fmt::format(
        "# RAM for the stack, and for all else.\nSTACK_BYTES.{0} := {1}\nSTATIC_BYTES.{0} := {2}\n",
        m.processor, m.stack_bytes, m.ram_bytes() - m.stack_bytes);
  }
  return text;
}

}  // namespace

const std::vector<Board>& boards() {
  constexpr std::int64_t kKiB = 1024;
  const std::vector<std::string> with_file = {"start.c", "port.c",     "timer.c", "semihosting_storage.c",
                                              "link.ld", "cortex-m.mk"};
  const std::vector<std::string> with_card = {"start.c",     "port.c",  "timer.c",    "sd_card.c",
                                              "spi_pl022.c", "link.ld", "cortex-m.mk"};
  const std::vector<std::string> with_dma = {"start.c",   "timer.c", "sd_card.c",
                                             "spi_nrf.c", "link.ld", "cortex-m.mk"};
  static const std::vector<Board> all = {
      {"host", "this machine: the same C as a program, the storage a file", {}, 0, 0},
      {"lm3s6965evb",
       "Cortex-M4F, 64 KiB, emulated; an SD card in SPI mode",
       with_card,
       64 * kKiB,
       256 * kKiB,
       {"cortex-m4", "cortex-m0"},
       "-M lm3s6965evb -cpu cortex-m4 -drive if=sd,format=raw,file=card.img",
       true},
      {"microbit",
       "Cortex-M0, 32 KiB, emulated; the storage a file of the host's",
       with_file,
       32 * kKiB,
       256 * kKiB,
       {"cortex-m0"},
       "-M microbit -global nrf51-soc.sram-size=32768"},
      {"mps2-an386",
       "Cortex-M4F, 256 KiB, emulated; the storage a file of the host's",
       with_file,
       256 * kKiB,
       4096 * kKiB,
       {"cortex-m4"},
       "-M mps2-an386",
       false,
       4096 * kKiB},
      {"nrf52840",
       "Nordic's Cortex-M4F, 256 KiB, an SD card in SPI mode; never run yet",
       with_dma,
       256 * kKiB,
       1024 * kKiB,
       {"cortex-m4"},
       "",
       true},
  };
  return all;
}

Board with_ram(const Board& board, std::int64_t ram_bytes) {
  const std::int64_t most = std::max(board.most_ram_bytes, board.ram_bytes);
  if (most == 0) throw InputError("--ram", fmt::format("{} has no limit to change", board.name));
  if (!std::has_single_bit(static_cast<std::uint64_t>(ram_bytes)) || ram_bytes > most)
    throw InputError("--ram", fmt::format("must be a power of two up to {}, the most that {} can have",
                                          format_ram(Bytes(most)), board.name));
  Board other = board;
  other.ram_bytes = ram_bytes;
  return other;
}

const Board& board(const std::string& name) {
  std::vector<std::string> names;
  for (const Board& b : boards()) {
    if (same_name(b.name, name)) return b;
    names.push_back(b.name);
  }
  throw InputError("--board", not_one_of(name, names));
}

void write_folder(const fs::path& folder, const Program& program, const Board& board,
                  const std::vector<Memory>& memory, const Description& description) {
  const fs::path source = firmware_dir();
  const std::set<std::string> kernels = kernel_files(source / "kernels", program);
  const bool on_card = memory.front().program_on_card;
  copy_files(source / "engine", folder / "engine", nullptr);
  copy_files(source / "kernels", folder / "kernels", &kernels);
  copy_files(source / "boards" / board.name, folder / "board", nullptr);
  std::set<std::string> shared(board.shared_files.begin(), board.shared_files.end());
  if (!shared.empty()) {
    shared.insert("stack.awk");
    copy_files(source / "cortex-m", folder / "board", &shared);
  }
  copy_files(source, folder, nullptr);
  write_text(folder / "plan.mk", plan_mk(program, board, memory));
  if (!on_card) {
    write_text(folder / "program.bin",
               {reinterpret_cast<const char*>(program.code.data()), program.code.size()});
    write_text(folder / "program.S",
               "/* The program, where it lies in flash. */\n"
               "  .section .rodata.poet_code, \"a\"\n  .global poet_code\npoet_code:\n  .incbin "
               "\"program.bin\"\n"
               "  .section .note.GNU-stack, \"\", %progbits\n");
  }
  write_text(folder / "poet_plan.h",
             fmt::format("/* Made by poet codegen. */\n#ifndef POET_PLAN_H\n#define POET_PLAN_H\n\n"
                         "#define POET_RAM_BYTES {}\n#define POET_ADDRESS_BYTES {}\n\n#endif\n",
                         program.ram_bytes, program.address_bytes));
  write_text(folder / "plan.c", plan_c(program, on_card, description.seed));
  write_text(folder / "README.md", readme(program, board, memory, description));
}

}  // namespace poet::firmware
