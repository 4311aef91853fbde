#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/cli/reproduce/section.h"

namespace poet::cli {

struct ReportHead {
  std::string title;
  std::string method;  // how the figures came about, a paragraph
};

/// One page with everything in it: text, tables, and the figures <folder>/<file>.svg where they exist. Needs
/// nothing from elsewhere. O(output).
[[nodiscard]] std::string report_html(const ReportHead& head, const std::vector<Section>& sections,
                                      const std::filesystem::path& folder);

}  // namespace poet::cli
