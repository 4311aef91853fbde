#pragma once

// A page of the points of a study: a chart of methods over RAM budgets for each network and device, the table
// of all points, and their plans.

#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "poet/base/amounts.h"
#include "poet/report/curves.h"
#include "poet/report/picture.h"

namespace poet {

struct StudyMethod {
  std::string name;  // as in rows
  CurveStyle style;
};

struct StudyHead {
  std::string title;
  std::string command;  // that made it
  std::string version;  // of poet
  std::string written;  // time of the page, "2026-11-26 18:47 UTC"
  std::string csv_name;
  std::vector<StudyMethod> methods;  // in the order in which they are listed
  std::vector<std::string> notes;    // sentences
  std::optional<ByteUnits> units;    // of bytes on the page; nullopt: those of the budgets
};

class StudyPage {
 public:
  explicit StudyPage(StudyHead head) : head_(std::move(head)) {}

  /// Adds a point: `row` is a JSON object with the columns of a results store (docs/formats_sweep.md). Rows
  /// with the same `chart` share a chart.
  void add(const std::string& row, const std::string& chart);
  /// Adds the plan of the row that was added last. Data shared by pictures of the same graph is stored once.
  void add_plan(const Picture& picture);

  /// Returns the page; `csv` is the table for download. Throws InputError as html_page() does.
  [[nodiscard]] std::string html(const std::string& csv) const;

 private:
  StudyHead head_;
  std::string rows_;  // JSON objects, separated by commas
  std::vector<std::string> charts_;
  std::vector<std::size_t> chart_of_;                                  // each row
  std::map<std::string, std::size_t> shared_;                          // by text
  std::vector<std::string> packed_shared_;                             // by number
  std::map<std::size_t, std::pair<std::size_t, std::string>> of_row_;  // shared part and the rest
};

/// Returns the picture of a plan whose addresses are for display only: violations of its addresses do not
/// make it invalid.
[[nodiscard]] Picture picture_of_placed(PlanFile plan, std::string title);

}  // namespace poet
