#include "poet/firmware/readme.h"

#include <fmt/format.h>

#include "poet/base/amounts.h"

namespace poet::firmware {
namespace {

bool is_host(const Board& board) { return board.ram_bytes == 0; }

std::string row(const std::string& what, std::int64_t bytes, const std::string& of = "") {
  return fmt::format("| {} | {}{} |\n", what, of, format_count(bytes));
}

std::string memory_table(const Memory& m, const Board& board) {
  std::string text = "| RAM | bytes |\n|---|---|\n";
  text += row("arena of the plan: activations, gradients, pages under way", m.arena_bytes);
  text += row("parameters and optimiser state that stay in RAM", m.resident_bytes);
  if (is_host(board)) return text + "\nStack and buffers are this machine's.\n";
  text += row("buffers of the engine and of the board", m.buffer_bytes);
  text += row(m.deepest_kernel.empty() ? "stack" : fmt::format("stack, deepest in `{}`", m.deepest_kernel),
              m.stack_bytes);
  text += row(fmt::format("in all, of {}", format_count(board.ram_bytes)), m.ram_bytes());
  text += "\n| flash | bytes |\n|---|---|\n";
  text += row("code", m.code_bytes, "at most ");
  text += row("shapes of operands, tables of the plan", m.shape_bytes);
  text += m.program_on_card ? "| program | on the card |\n" : row("program", m.program_bytes);
  text += row(fmt::format("in all, of {}", format_count(board.flash_bytes)), m.flash_bytes(), "at most ");
  text +=
      "\nThe stack is that of the deepest chain of calls from start-up on, with an interrupt on top of it. "
      "`make` computes it\nagain from what the compiler has made, and fails where it is more than what is "
      "reserved; the linker fails where RAM in all\nis more than stated here. `make size` prints what the "
      "linker has placed.\n";
  return text;
}

std::string running(const Board& board, const std::vector<Memory>& memory) {
  if (is_host(board))
    return "make\nmake run          # build/firmware card.img\n```\n"
           "`make CC=clang` takes another compiler; `make BOARD_FLAGS=-fsanitize=address,undefined` looks "
           "for "
           "mistakes.\n";
  std::string text = "make              # arm-none-eabi-gcc\n";
  if (board.machine.empty())
    return text +
           "```\nNo emulator has this board, and nobody has run this firmware on one: it compiles and links, "
           "and that is what was\ntested. Flash `build/firmware.elf` with the tool of your debugger. Text "
           "goes "
           "out by the UART, 115,200 baud; pins\nare in `board/poet_board.h`.\n";
  text += "make run          # in QEMU; the command is\n";
  text += fmt::format(
      "qemu-system-arm {} -display none -monitor none -serial none -semihosting-config "
      "enable=on,target=native -kernel build/firmware.elf\n```\n",
      board.machine);
  text += "Text comes by semihosting, on stderr. `make run COUNT=1` also counts instructions, by kernel.\n";
  constexpr std::int64_t kOfCortexM0 = 32768;  // boards/lm3s6965evb/board.mk
  if (memory.size() > 1 && memory[1].ram_bytes() <= kOfCortexM0)
    text += "`make CORE=m0` and `make run CORE=m0`: code for a Cortex-M0, in 32 KiB.\n";
  return text;
}

std::string card_section(const Board& board, const Description& d) {
  std::string text = fmt::format("## The card\n{}\n", d.storage);
  if (board.has_sd_card && !board.machine.empty()) text += "QEMU takes the image itself as the card. ";
  if (board.has_sd_card)
    text +=
        "Onto a real card, which it overwrites (`lsblk` says which device that is):\n```\n"
        "dd if=card.img of=/dev/sdX bs=1M conv=fsync\n```\n"
        "and back, as many bytes as the image has:\n```\n"
        "dd if=/dev/sdX of=card.img bs=1M iflag=count_bytes count=$(stat -c %s card.img) conv=notrunc\n```\n";
  else
    text += "On this board the storage is the file `card.img` in the folder where the firmware runs.\n";
  return text + fmt::format(
                    "What training has left on it, as a checkpoint of `poet run`:\n```\n"
                    "poet card {} card.img --checkpoint trained.safetensors\n```\n"
                    "A run that is cut off goes on after its last complete step. `poet codegen` into "
                    "this folder makes a new `card.img`: read\nthe old one first.\n",
                    d.plan);
}

constexpr const char* kExitCodes = R"(
## Exit codes
| code | what has happened |
|---|---|
| 0 | the header's number of steps is complete |
| 3 | a fault: an access outside of the firmware's memory, or a stack that is too small (Cortex-M) |
| 10, 11, 12 | no card; a card smaller than the image; no poet card image on it |
| 13, 14 | an image for another plan; no whole record of a step |
| 15, 16 | a damaged page, header or record; a page of another step |
| 17, 18 | reading or writing fails; the program is damaged |
| 19, 20 | a sample names a class that does not exist; the loss is not finite |
| 21 | a sample names a row of a table that does not exist |

## Another board
A board is the folder `board/`: `board.mk` (compiler, flags, how to run), and the functions under *what a port gives* in
`engine/poet_engine.h`: text out, and storage in blocks of 512 bytes, with start and poll. On a Cortex-M also `memory.ld` (where flash
and RAM are) and `poet_board.h` (whether there is an MPU, clock, pins, `poet_board_start()`, `poet_board_exit()`); `start.c` and
`link.ld` stay as they are: vectors, memory at start, faults; the stack at the bottom of RAM, so that it faults where it
overflows. The array `poet_ram` of POET_RAM_BYTES is the port's as well, aligned to 4 bytes.
)";

std::string files(const Board& board, const Memory& m) {
  std::string text =
      "\n## Files\n| file | what it is |\n|---|---|\n"
      "| `plan.c`, `poet_plan.h`, `plan.mk` | of this plan: kernels, shapes of operands, places on "
      "the card, bytes of RAM |\n";
  text += m.program_on_card
              ? "| (program) | the steps as instructions: too many for the flash, read from the card |\n"
              : "| `program.bin`, `program.S` | the steps as instructions, and how they come into flash |\n";
  text +=
      "| `engine/` | goes through the program: transfers in order, records, samples |\n"
      "| `kernels/` | what computes |\n";
  text += is_host(board)
              ? "| `board/` | text and storage on this machine |\n"
              : "| `board/` | start-up, linker script, text, storage; `stack.awk` computes the stack |\n";
  return text +
         "| `card.img` | header, two records, pages, program, names, samples |\n"
         "| `files.txt` | what `poet codegen` has written and will replace; other files stay |\n";
}

}  // namespace

std::string readme(const Program& program, const Board& board, const std::vector<Memory>& memories,
                   const Description& d) {
  const Memory& memory = memories.front();
  const std::string instructions =
      memory.instructions_per_step ? fmt::format("\nA step takes about {:.1f} million instructions{}.\n",
                                                 static_cast<double>(*memory.instructions_per_step) / 1e6,
                                                 board.has_sd_card ? ", without moving bytes over SPI" : "")
                                   : "";
  return fmt::format(
             "# Firmware that trains\n"
             "Made by `poet codegen` from the plan `{}` for the board {}: {}.\n\n"
             "The network: {}; a step takes {}. C99, without a heap{}. Each step reads "
             "samples, computes\nthe loss and all gradients, updates the parameters and writes a record to "
             "the "
             "card. The bits are those of\n`poet run --kernels reference` (seed {}), the optimiser is "
             "{}.\n\n",
             d.plan, board.name, board.description, d.network,
             counted(static_cast<std::int64_t>(program.batch), "sample"),
             is_host(board) ? "" : " and without a C library", d.seed, d.optimizer) +
         memory_table(memory, board) + instructions + "\n## Build and run\n```\n" + running(board, memories) +
         "\n" + card_section(board, d) + kExitCodes + files(board, memory);
}

}  // namespace poet::firmware
