#pragma once

#include <string>

namespace poet::cli {

/// A line of an answer for people, in two columns: what it is about, and the text, wrapped.
[[nodiscard]] std::string answer_line(const std::string& label, const std::string& text);

/// "Status", with its first word, "optimal", in that status' colour.
[[nodiscard]] std::string status_line(const std::string& text);

}  // namespace poet::cli
