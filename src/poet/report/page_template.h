#pragma once

// Pages that stand alone: a template in data_dir()/report, filled with styles, modules, libraries and data.

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace poet {

/// A library for web pages, "echarts.min.js" or "dagre.min.js"; nothing where it could not be had when poet
/// was built.
[[nodiscard]] std::optional<std::filesystem::path> web_library(const std::string& name);
/// Whether both are there: what a page with charts needs.
[[nodiscard]] bool has_web_libraries();
/// Throws InputError, with what to do, where they are not.
void check_web_libraries();

/// Text as it may stand in an element or an attribute.
[[nodiscard]] std::string html_escaped(std::string text);

/// JSON for a script element: what could end the element or open a comment is written as an escape.
[[nodiscard]] std::string script_json(const nlohmann::ordered_json& json);

/// What a page says in places of its own; nothing of a name that it does not know.
using PageParts = std::function<std::optional<std::string>(const std::string& name)>;

/// The template with every {{name}} replaced once: by what `parts` says, else by the file of that name in the
/// same folder or among the libraries; {{name.html}} is a template, too, which several pages have in common,
/// and {{bundle name.js}} a module with all that it imports. Throws
/// InputError when a file is missing, and says what to do when it is a library.
[[nodiscard]] std::string filled_page(const std::string& page_template, const PageParts& parts);

}  // namespace poet
