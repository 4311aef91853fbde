#pragma once

#include <string>

namespace poet::cli {

/// A line of an answer for people, in two columns: what it is about, and the text, wrapped.
[[nodiscard]] std::string answer_line(const std::string& label, const std::string& text);

}  // namespace poet::cli
