#include "apps/cli/codegen/answer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "firmware/engine/poet_engine.h"
#include "poet/base/amounts.h"
#include "poet/firmware/card.h"

namespace poet::cli {

using Json = nlohmann::ordered_json;

std::string answer_text(const firmware::Memory& m, const firmware::Board& board,
                        const firmware::Program& program, const runtime::Dataset& data,
                        const std::filesystem::path& card) {
  const auto bytes = [](std::int64_t n) { return format_count(n); };
  std::string text;
  if (board.ram_bytes == 0) {
    text = fmt::format(
        "RAM       {} B: arena {}, resident values {}; stack and buffers are this machine's\n"
        "flash     program {}, shapes {}; code is this machine's\n",
        bytes(m.ram_bytes()), bytes(m.arena_bytes), bytes(m.resident_bytes), bytes(m.program_bytes),
        bytes(m.shape_bytes));
  } else {
    text = fmt::format(
        "RAM       {} of {} B: arena {}, resident values {}, buffers {}, stack {}\n"
        "flash     at most {} of {} B: code {}, shapes {}, program {}\n",
        bytes(m.ram_bytes()), bytes(board.ram_bytes), bytes(m.arena_bytes), bytes(m.resident_bytes),
        bytes(m.buffer_bytes), bytes(m.stack_bytes), bytes(m.flash_bytes()), bytes(board.flash_bytes),
        bytes(m.code_bytes), bytes(m.shape_bytes),
        m.program_on_card ? "on the card" : bytes(m.program_bytes));
  }
  if (m.instructions_per_step)
    text += fmt::format("step      about {:.1f} million instructions{}\n",
                        static_cast<double>(*m.instructions_per_step) / 1e6,
                        board.has_sd_card ? ", without moving bytes over SPI" : "");
  return text + fmt::format("storage   {} blocks of {} B: {} pages, {} samples; {}\n",
                            firmware::card_blocks(program, data.samples()), static_cast<int>(POET_BLOCK),
                            program.pages.size(), data.samples(), card.string());
}

Json answer_json(const firmware::Memory& m, const firmware::Board& board, const firmware::Program& program,
                 const runtime::Dataset& data, const std::filesystem::path& card) {
  const bool known = board.ram_bytes > 0;  // else the host's
  const auto or_null = [known](std::int64_t n) { return known ? Json(n) : Json(nullptr); };
  Json json = Json::object();
  json["format"] = 1;
  json["board"] = board.name;
  json["processor"] = known ? Json(m.processor) : Json(nullptr);
  json["ram"] = {{"arena_bytes", m.arena_bytes},
                 {"resident_bytes", m.resident_bytes},
                 {"buffer_bytes", or_null(m.buffer_bytes)},
                 {"stack_bytes", or_null(m.stack_bytes)},
                 {"total_bytes", or_null(m.ram_bytes())},
                 {"board_bytes", or_null(board.ram_bytes)}};
  json["flash"] = {{"code_bytes_at_most", or_null(m.code_bytes)},
                   {"shape_bytes", m.shape_bytes},
                   {"program_bytes", m.program_bytes},
                   {"program_on_card", m.program_on_card},
                   {"total_bytes_at_most", or_null(m.flash_bytes())},
                   {"board_bytes", or_null(board.flash_bytes)}};
  json["instructions_per_step"] = m.instructions_per_step ? Json(*m.instructions_per_step) : Json(nullptr);
  json["storage"] = {{"blocks", firmware::card_blocks(program, data.samples())},
                     {"block_bytes", static_cast<int>(POET_BLOCK)},
                     {"pages", program.pages.size()},
                     {"samples", data.samples()},
                     {"card", card.string()}};
  return json;
}

}  // namespace poet::cli
