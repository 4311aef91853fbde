#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace poet::cli {

/// Writes the answer to stdout and flushes it. A closed pipe (`poet ... | head -1`) is no error; other
/// failures (a full disk) throw InputError.
void print_answer(const std::string& text);
/// Writes a text answer, its lines wrapped to the terminal's width.
void print_text(const std::string& text);
/// Writes a JSON answer; bytes that are not UTF-8 (names from files) are replaced.
void print_answer(const nlohmann::ordered_json& json);

/// Throws InputError naming `option` unless `file` can be created or replaced: its folder is writable, and an
/// existing file is a regular file. Creates nothing.
void check_writable(const std::string& option, const std::string& file);

/// As check_writable(), for a page: the name must end in ".html", and the page's libraries must be installed.
void check_page(const std::string& option, const std::string& file);

/// Warns on stderr if nothing was written to `file` but an older file of that name exists.
void mention_stale(const std::string& option, const std::string& file);

}  // namespace poet::cli
