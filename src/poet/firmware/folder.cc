#include "poet/firmware/folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>

#include "firmware/engine/poet_engine.h"
#include "poet/base/data_dir.h"
#include "poet/base/error.h"

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
  for (const fs::directory_entry& entry : fs::directory_iterator(from, error)) {
    if (!entry.is_regular_file()) continue;
    const std::string name = entry.path().filename().string();
    if (names != nullptr && !names->contains(name) && entry.path().extension() != ".h") continue;
    fs::copy_file(entry.path(), to / name, fs::copy_options::overwrite_existing, error);
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
}

std::set<std::string> kernel_files(const fs::path& folder, const Program& program) {
  std::set<std::string> files;
  add_kernel_file(folder, "poet_elements.c", files);  // starts of sums
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

std::string plan_c(const Program& p, bool on_card, std::uint64_t seed) {
  std::vector<std::string> shapes, words, kernels, names;
  for (const ShapeEntry& s : p.shapes)
    shapes.push_back(fmt::format("{{{}, {}, {}}}", s.kernel, s.operands, s.first / 8));
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
      fmt::format("0x{:08x}U, /* digest */", p.digest),
      fmt::format("{}, {}, /* RAM: bytes, the first of resident values */", p.ram_bytes, p.arena_bytes),
      fmt::format("{}, {}, /* records: first block, blocks of one */", p.record_first, p.record_blocks),
      fmt::format(
          "{}, {}, {}, {}, /* samples: first block, blocks and bytes of one, how many a step takes */",
          p.samples_first, p.sample_blocks, p.sample_bytes, p.batch),
      fmt::format("{}, {}, /* program: first block, bytes */", p.code_first, p.code.size()),
      fmt::format("{}, {}, /* names of pages: first block, how many */", p.names_first, p.pages.size()),
      fmt::format("{}U, {}U, /* seed */", seed & 0xFFFFFFFFU, seed >> 32U),
  };
  return fmt::format(
      "/* Made by poet codegen for one plan: what its steps call and where everything lies. */\n"
      "#include \"poet_engine.h\"\n\n"
      "/* Kernel, operands, and where its shape begins, in units of 8 bytes. */\n"
      "static const poet_shape shapes[] = {{{}}};\n\n"
      "static const uint64_t shape_bytes[] = {{{}}};\n\n"
      "static const poet_kernel kernels[] = {{{}}};\n\n"
      "static const char* const names[] = {{{}}};\n\n{}"
      "const poet_plan_data poet_the_plan = {{\n    {}\n    {}, shapes, shape_bytes, kernels, names}};\n",
      in_rows(shapes, 8), in_rows(words, 6), in_rows(kernels, 4), in_rows(names, 4),
      on_card ? "" : "extern const uint8_t poet_code[];\n\n", fmt::join(numbers, "\n    "),
      on_card ? "0" : "poet_code");
}

}  // namespace

bool code_is_on_card(const Program& program, const Board& board) {
  constexpr std::int64_t kOfTheEngine = 96 * 1024;  // and the kernels, at most
  const auto bytes =
      static_cast<std::int64_t>(program.code.size() + program.shape_bytes.size() + 4 * program.shapes.size());
  return board.flash_bytes > 0 && bytes + kOfTheEngine > board.flash_bytes;
}

const std::vector<Board>& boards() {
  constexpr std::int64_t kKiB = 1024;
  const std::vector<std::string> with_file = {"start.c", "port.c", "semihosting_storage.c", "link.ld",
                                              "cortex-m.mk"};
  const std::vector<std::string> with_card = {"start.c",     "port.c",  "sd_card.c",
                                              "spi_pl022.c", "link.ld", "cortex-m.mk"};
  const std::vector<std::string> with_dma = {"start.c", "sd_card.c", "spi_nrf.c", "link.ld", "cortex-m.mk"};
  static const std::vector<Board> all = {
      {"host", "this machine: the same C as a program, the storage a file", {}, 0, 0},
      {"lm3s6965evb", "Cortex-M4F, 64 KiB, emulated; an SD card in SPI mode", with_card, 64 * kKiB,
       256 * kKiB},
      {"microbit", "Cortex-M0, 32 KiB, emulated; the storage a file of the host's", with_file, 32 * kKiB,
       256 * kKiB},
      {"mps2-an386", "Cortex-M4F, 256 KiB, emulated; the storage a file of the host's", with_file, 256 * kKiB,
       4096 * kKiB},
  };
  return all;
}

const Board& board(const std::string& name) {
  std::vector<std::string> names;
  for (const Board& b : boards()) {
    if (b.name == name) return b;
    names.push_back(b.name);
  }
  throw InputError("--board", fmt::format("is one of {}, not \"{}\"", fmt::join(names, ", "), name));
}

void write_folder(const fs::path& folder, const Program& program, const Board& board, std::uint64_t seed) {
  const fs::path source = firmware_dir();
  const std::set<std::string> kernels = kernel_files(source / "kernels", program);
  const bool on_card = code_is_on_card(program, board);
  copy_files(source / "engine", folder / "engine", nullptr);
  copy_files(source / "kernels", folder / "kernels", &kernels);
  copy_files(source / "boards" / board.name, folder / "board", nullptr);
  const std::set<std::string> shared(board.shared_files.begin(), board.shared_files.end());
  if (!shared.empty()) copy_files(source / "cortex-m", folder / "board", &shared);
  copy_files(source, folder, nullptr);
  write_text(folder / "plan.mk",
             fmt::format("# The RAM that the firmware may touch.\nWINDOW_BYTES := {}\n", board.ram_bytes));
  write_text(folder / "program.bin",
             {reinterpret_cast<const char*>(program.code.data()), program.code.size()});
  write_text(
      folder / "program.S",
      "/* The program, where it lies in flash. */\n"
      "  .section .rodata.poet_code, \"a\"\n  .global poet_code\npoet_code:\n  .incbin \"program.bin\"\n"
      "  .section .note.GNU-stack, \"\", %progbits\n");
  write_text(folder / "poet_plan.h",
             fmt::format("/* Made by poet codegen. */\n#ifndef POET_PLAN_H\n#define POET_PLAN_H\n\n"
                         "#define POET_RAM_BYTES {}\n#define POET_ADDRESS_BYTES {}\n\n#endif\n",
                         program.ram_bytes, program.address_bytes));
  write_text(folder / "plan.c", plan_c(program, on_card, seed));
}

}  // namespace poet::firmware
