#pragma once

// What the report of the reproduction is made of.

#include <string>
#include <vector>

#include "apps/cli/reproduce/claims.h"
#include "apps/cli/reproduce/studies.h"
#include "poet/report/curves.h"

namespace poet::cli {

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

// One function per statement, table or figure of the paper, each in a file of its own; the last goes beyond
// it.
[[nodiscard]] Section training_memory();
[[nodiscard]] Section table1(const std::vector<Study>& studies);
[[nodiscard]] Section figure2(const std::vector<Study>& studies);
[[nodiscard]] Section figure3(const std::vector<Study>& studies, Budgets budgets);
[[nodiscard]] Section figure4(const std::vector<Study>& studies, Budgets budgets);
[[nodiscard]] Section figure5(const std::vector<Study>& studies);
[[nodiscard]] Section dtr_comparison(const std::vector<Study>& studies, Budgets budgets);
[[nodiscard]] Section table3(const std::vector<Study>& studies, Budgets budgets);
[[nodiscard]] Section batch_sizes(const std::vector<Study>& studies);
[[nodiscard]] Section less_ram(const std::vector<Study>& studies);

/// All of them, in this order.
[[nodiscard]] std::vector<Section> sections(const std::vector<Study>& studies, Budgets budgets);

}  // namespace poet::cli
