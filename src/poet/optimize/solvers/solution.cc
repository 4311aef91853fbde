// The reader of mps.h: solution files.

#include <cmath>
#include <cstdlib>
#include <istream>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "poet/base/error.h"
#include "poet/base/text.h"
#include "poet/optimize/solvers/mps.h"

namespace poet {
namespace {

using Words = std::vector<std::string>;

bool starts_with(const std::string& text, std::string_view start) { return text.rfind(start, 0) == 0; }

bool is_number(const std::string& text, double& value) {
  if (text.empty() || !(text[0] == '+' || text[0] == '-' || text[0] == '.' || std::isdigit(text[0]) != 0))
    return false;
  char* end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return *end == '\0' && std::isfinite(value);
}

class Reader {
 public:
  Reader(const ColumnNames& names, const std::string& place) : names_(names), place_(place) {
    for (std::size_t c = 0; c < names.size(); ++c) columns_.emplace(names[c], c);
    file_.x.assign(names.size(), 0.0);
    seen_.assign(names.size(), 0);
  }

  SolutionFile read(std::istream& in) {
    for (std::string line; std::getline(in, line) && !ended_;) {
      ++line_;
      const Words words = words_of(line);
      if (!words.empty()) take(line, words);
    }
    if (in.bad()) throw InputError(place_, "cannot be read");
    return std::move(file_);
  }

 private:
  void take(const std::string& line, const Words& words) {
    if (glpsol_) return take_glpsol(words);
    if (words[0][0] == '#') return take_comment(words);
    if (line_ <= 2 && words[0] == "c") {  // "c Problem:    poet"
      glpsol_ = true;
      return;
    }
    if (expects_status_) {  // HiGHS: the line after "Model status"
      expects_status_ = false;
      claim(line);
      return;
    }
    if (!columns_.contains(words[0]) && is_prose(line, words)) return;
    take_value(words);
  }

  // HiGHS separates sections by comments. Rows and duals follow the columns and are not read.
  void take_comment(const Words& words) {
    if (words.size() < 2) return;
    if (words[1] == "Rows" || words[1] == "Dual") ended_ = true;
  }

  bool is_prose(const std::string& line, const Words& words) {
    // HiGHS
    if (line == "Model status") return expects_status_ = true;
    if (words.size() == 1 && words[0] == "Feasible") return true;
    // The values that follow, if any, violate a row.
    if (words.size() == 1 && (words[0] == "Infeasible" || words[0] == "None")) return ended_ = true;
    if (words[0] == "Objective" && words.size() == 2) return true;
    // SCIP
    if (starts_with(line, "solution status:") || starts_with(line, "objective value:") ||
        starts_with(line, "no solution available")) {
      if (words[0] == "solution") claim(line);
      return true;
    }
    // CBC: the first line ends in "objective value 12". The values are a solution unless it states otherwise.
    if (line_ == 1 && line.find(" objective value ") != std::string::npos) {
      claim(line);
      for (const char* none : {"nfeasible", "nbounded", "no integer solution"})
        if (line.find(none) != std::string::npos) ended_ = true;
      return true;
    }
    return false;
  }

  void claim(const std::string& line) {
    const std::size_t start = line.find_first_not_of(" \t\r");
    file_.claim = line.substr(start, line.find_last_not_of(" \t\r") - start + 1);
    for (const char* word : {"Optimal", "optimal"})
      if (starts_with(file_.claim, word) || file_.claim.find(std::string(": ") + word) != std::string::npos)
        file_.has_solution = true;
  }

  void take_value(const Words& words) {
    std::size_t at = words[0] == "**" ? 1 : 0;  // CBC's mark for a value out of its bounds
    // CBC: number, name, value, reduced cost. A name may look like a number, so names are tried first.
    double ignored = 0;
    if (at < words.size() && !columns_.contains(words[at]) && is_number(words[at], ignored)) ++at;
    if (at + 1 >= words.size()) fail("must be \"name value\"");
    const auto column = columns_.find(words[at]);
    if (column == columns_.end()) fail("\"" + words[at] + "\" is no column of the model");
    set(column->second, words[at + 1]);
  }

  // "j 5 1" is column 5, counted from 1. "s mip ROWS COLUMNS STATUS OBJECTIVE".
  void take_glpsol(const Words& words) {
    if (words[0] == "s") {
      for (const std::string& word : words) file_.claim += (file_.claim.empty() ? "" : " ") + word;
      // Optimal or feasible; otherwise the values are not a solution.
      file_.has_solution = words.size() > 4 && (words[4] == "o" || words[4] == "f");
      ended_ = !file_.has_solution;
      return;
    }
    if (words[0] != "j") return;
    // A basic solution ("s bas") has the column's status before its value.
    double number = 0;
    if (words.size() < 3 || !is_number(words[1], number)) fail("must be \"j column value\"");
    if (!(number >= 1 && number <= static_cast<double>(names_.size()) && number == std::floor(number)))
      fail("\"" + words[1] + "\" is no column of the model");
    const bool has_status = words.size() >= 4 && words[2].size() == 1 && std::isalpha(words[2][0]) != 0;
    set(static_cast<std::size_t>(number) - 1, words[has_status ? 3 : 2]);
  }

  void set(std::size_t column, const std::string& text) {
    if (!is_number(text, file_.x[column])) fail("\"" + text + "\" is no finite number");
    if (seen_[column]) fail("\"" + names_[column] + "\" is given twice");
    seen_[column] = 1;
    file_.has_solution = true;
  }

  [[noreturn]] void fail(const std::string& rule) const {
    throw InputError(place_ + ":" + std::to_string(line_), rule);
  }

  const ColumnNames& names_;
  const std::string& place_;
  std::unordered_map<std::string, std::size_t> columns_;
  std::vector<char> seen_;
  SolutionFile file_;
  int line_ = 0;
  bool glpsol_ = false;
  bool expects_status_ = false;
  bool ended_ = false;
};

}  // namespace

SolutionFile read_solution(std::istream& in, const ColumnNames& names, const std::string& place) {
  return Reader(names, place).read(in);
}

}  // namespace poet
