#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/cli/reproduce/section.h"

namespace poet::cli {

struct ReportHead {
  std::string title;
  std::string made;    // by which poet and which command
  std::string points;  // how many, and how many are proven
  std::string method;  // how the figures came about, a paragraph
};

/// One page with everything in it: which claims hold, then text, charts and tables of each section. Charts
/// that can be zoomed where the libraries for pages are there, else the drawings <folder>/<file>.svg where
/// they exist. Needs nothing from elsewhere; beside it are the figures' data, <file>.csv. O(output).
[[nodiscard]] std::string report_html(const ReportHead& head, const std::vector<Section>& sections,
                                      const std::filesystem::path& folder);

}  // namespace poet::cli
