#pragma once

// What the report of the reproduction is made of.

#include <string>
#include <vector>

#include "apps/cli/reproduce/studies.h"
#include "poet/report/curves.h"

namespace poet::cli {

/// What became of a statement of the paper.
enum class Finding {
  holds,   // as the paper has it, or more so
  partly,  // in direction, or in one of its parts
  fails,   // not with these graphs and costs
  beyond,  // the paper says nothing
};

/// A statement of the paper and what came of it here.
struct Claim {
  std::string what, paper, here, why;
  Finding finding = Finding::beyond;
};

struct NamedFigure {
  std::string file;  // without extension
  std::string caption;
  CurvePanels panels;
};

struct NamedTable {
  std::string caption;
  std::vector<std::string> heading;
  std::vector<std::vector<std::string>> rows;
};

struct Section {
  std::string title;
  std::string text;  // paragraphs, separated by empty lines
  std::vector<Claim> claims;
  std::vector<NamedTable> tables;
  std::vector<NamedFigure> figures;
};

// One function per table or figure of the paper, each in a file of its own; the last goes beyond it.
[[nodiscard]] Section table1(const std::vector<Study>& studies);
[[nodiscard]] Section figure3(const std::vector<Study>& studies);
[[nodiscard]] Section figure4(const std::vector<Study>& studies);
[[nodiscard]] Section figure5(const std::vector<Study>& studies);
[[nodiscard]] Section dtr_comparison(const std::vector<Study>& studies);
[[nodiscard]] Section table3(const std::vector<Study>& studies);
[[nodiscard]] Section batch_sizes(const std::vector<Study>& studies);
[[nodiscard]] Section less_ram(const std::vector<Study>& studies);

/// All of them, in this order.
[[nodiscard]] std::vector<Section> sections(const std::vector<Study>& studies);

}  // namespace poet::cli
