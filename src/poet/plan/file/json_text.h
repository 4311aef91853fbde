#pragma once

// How JSON files that poet writes are laid out.

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace poet {

/// An object with one member per line and, of the arrays in `listed`, one item per line: short enough to
/// read, and to compare two files with diff. Names that are not UTF-8 (an ONNX file's, say) are made so.
[[nodiscard]] std::string text_of(const nlohmann::ordered_json& json,
                                  std::initializer_list<std::string_view> listed);

}  // namespace poet
