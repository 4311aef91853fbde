#include "apps/shared/answer_line.h"

#include <fmt/format.h>

#include "poet/report/table.h"

namespace poet::cli {

std::string answer_line(const std::string& label, const std::string& text) {
  constexpr int kIndent = 14;
  constexpr int kWidth = 110;
  return fmt::format("{:<{}}{}\n", label, kIndent, wrapped(text, kWidth - kIndent, kIndent));
}

}  // namespace poet::cli
