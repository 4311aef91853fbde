#pragma once

// Names of ops and values in little room: "layer4.1.conv2.weight[0:512,384:512]".

#include <cstddef>
#include <string>
#include <vector>

namespace poet {

/// `name`, a string per character, in at most `longest` characters, of which `gap` stands for those left out:
/// what tells names apart is their end. The part gives way first, down to a third; the number of the layer
/// stays where there is room. The pages' shortened() (data/report/axes.js) does the same.
[[nodiscard]] std::vector<std::string> layer_name(const std::vector<std::string>& name, std::size_t longest,
                                                  const std::string& gap);

}  // namespace poet
