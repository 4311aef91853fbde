#pragma once

#include <string>
#include <vector>

#include "poet/report/picture.h"

namespace poet {

/// Returns a self-contained interactive page of at least one plan; several are shown side by side at the same
/// scales. It needs no network and no other file. Template, style and scripts are in data_dir()/report; the
/// libraries ECharts and dagre are in it after installation, else in the build folder. Throws InputError if
/// one of these files is missing, with instructions if it is a library.
[[nodiscard]] std::string html_page(const std::vector<Picture>& pictures);

}  // namespace poet
