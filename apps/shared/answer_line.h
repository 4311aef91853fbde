#pragma once

#include <string>

namespace poet::cli {

/// Returns a line of an answer in two columns: a label and the text, wrapped.
[[nodiscard]] std::string answer_line(const std::string& label, const std::string& text);

/// Returns the line "Status" with its first word ("optimal") in the status' colour.
[[nodiscard]] std::string status_line(const std::string& text);

}  // namespace poet::cli
