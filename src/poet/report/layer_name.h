#pragma once

// Shortened names of ops and values: "layer4.1.conv2.weight[0:512,384:512]".

#include <cstddef>
#include <string>
#include <vector>

namespace poet {

/// Returns `name`, one string per character, in at most `longest` characters, with `gap` for those omitted.
/// The end is kept, as it distinguishes names; the part in brackets is shortened first, to a third; the
/// layer's number stays if there is room. shortened() of the pages (data/report/axes.js) is the same.
[[nodiscard]] std::vector<std::string> layer_name(const std::vector<std::string>& name, std::size_t longest,
                                                  const std::string& gap);

}  // namespace poet
