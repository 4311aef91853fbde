#pragma once

// Self-contained pages: templates in data_dir()/report, filled with styles, modules, libraries and data.

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace poet {

/// Returns the path of a library for web pages, "echarts.min.js" or "dagre.min.js", or nullopt if it was not
/// available when poet was built.
[[nodiscard]] std::optional<std::filesystem::path> web_library(const std::string& name);
/// Returns whether both libraries, which pages with charts need, are available.
[[nodiscard]] bool has_web_libraries();
/// Throws InputError with instructions unless they are available.
void check_web_libraries();

/// Escapes text for an element or an attribute.
[[nodiscard]] std::string html_escaped(std::string text);

/// Returns JSON for a script element, with escapes for characters that could end the element or open a
/// comment.
[[nodiscard]] std::string script_json(const nlohmann::ordered_json& json);

/// Returns the content of a page's placeholder, or nullopt for an unknown name.
using PageParts = std::function<std::optional<std::string>(const std::string& name)>;

/// Returns the template with every {{name}} replaced once: by `parts`, else by the file of that name in the
/// same folder or among the libraries. {{name.html}} is a nested template, and {{bundle name.js}} a module
/// with its imports. Throws InputError if a file is missing, with instructions if it is a library.
[[nodiscard]] std::string filled_page(const std::string& page_template, const PageParts& parts);

}  // namespace poet
