#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace poet::cli {

/// Writes the answer to stdout, at once. A reader that has left (`poet ... | head -1`) is no error; anything
/// else that keeps the text from arriving (a full disk) throws InputError.
void print_answer(const std::string& text);
/// An answer for people: lines that are longer than the terminal is wide are broken at spaces.
void print_text(const std::string& text);
/// With what is not UTF-8 (names from files) replaced: JSON must be.
void print_answer(const nlohmann::ordered_json& json);

/// Throws InputError unless `file` can be created or replaced: its folder exists and is writable, and what is
/// there now, if anything, is a regular file. Creates nothing. `option` is named in the message.
void check_writable(const std::string& option, const std::string& file);

/// As check_writable(), for a page: its name ends in ".html", and the libraries that draw it are there.
void check_page(const std::string& option, const std::string& file);

/// Where nothing was written to `file`, a line on stderr if an earlier one stands there, which is no answer
/// to what was asked now.
void mention_stale(const std::string& option, const std::string& file);

}  // namespace poet::cli
