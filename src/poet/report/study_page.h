#pragma once

// A page of many points: methods over RAM budgets, each network and device a chart of its own, the table of
// all, and the plans behind the points.

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
  std::string name;  // as rows have it
  CurveStyle style;
};

struct StudyHead {
  std::string title;
  std::string command;  // that made it
  std::string version;  // of poet
  std::string written;  // when the page was, "2026-11-26 18:47 UTC"
  std::string csv_name;
  std::vector<StudyMethod> methods;  // in the order in which they are listed
  std::vector<std::string> notes;    // sentences
  std::optional<ByteUnits> units;    // of bytes on the page; nullopt: those of the budgets
};

class StudyPage {
 public:
  explicit StudyPage(StudyHead head) : head_(std::move(head)) {}

  /// `row`: a JSON object with the figures of a point, called as the columns of a results store
  /// (docs/formats.md). Rows of one `chart` are drawn in one.
  void add(const std::string& row, const std::string& chart);
  /// The plan behind the row that was added last. What pictures of one graph share is kept once.
  void add_plan(const Picture& picture);

  /// `csv`: the table as it is taken along. Throws InputError as html_page() does.
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

/// The picture of a plan whose addresses were found only to be looked at: what they say against it is nothing
/// against the plan.
[[nodiscard]] Picture picture_of_placed(PlanFile plan, std::string title);

}  // namespace poet
