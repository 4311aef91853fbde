#pragma once

// The layout of JSON files that poet writes.

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace poet {

/// Returns an object as text with one member per line and, for the arrays in `listed`, one item per line, so
/// that files can be read and compared with diff. Invalid UTF-8 in names (of ONNX files, say) is replaced.
[[nodiscard]] std::string text_of(const nlohmann::ordered_json& json,
                                  std::initializer_list<std::string_view> listed);

}  // namespace poet
