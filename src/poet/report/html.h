#pragma once

#include <string>
#include <vector>

#include "poet/report/picture.h"

namespace poet {

/// A self-contained interactive page of one plan, or of several beside one another at the same scales; there
/// must be one. It needs no network and no other file. Template, style and scripts are in data_dir()/report;
/// the libraries ECharts and dagre are there after installation, else where the build put them. Throws
/// InputError when one of these files is missing, and says what to do when it is a library.
[[nodiscard]] std::string html_page(const std::vector<Picture>& pictures);

}  // namespace poet
