// What the operators' schemas say agrees with what others say of the operators: the documents, the gradient
// rules, the tables of kernels.

#include "poet/graph/operators/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "poet/autodiff/gradient_rules.h"
#include "poet/runtime/kernels/reference/reference.h"
#ifdef POET_HAS_ONEDNN
#include "poet/runtime/kernels/onednn/onednn.h"
#endif
#include "tests/support/paths.h"

namespace poet {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" []`");
  const std::size_t last = text.find_last_not_of(" []`");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

/// The parts between `at`, without what stands in parentheses.
std::vector<std::string> parts(const std::string& text, char at) {
  std::vector<std::string> result(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(') ++depth;
    if (depth == 0 && c == at) {
      result.emplace_back();
    } else if (depth == 0) {
      result.back() += c;
    }
    if (c == ')') --depth;
  }
  return result;
}

struct Row {
  std::vector<std::string> inputs;  // names
  std::string text;
};

/// docs/operators.md, kind by kind.
std::multimap<std::string, Row> documented() {
  std::ifstream file(test::repository() / "docs" / "operators.md");
  std::multimap<std::string, Row> rows;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| `")) continue;
    const std::vector<std::string> cells = parts(line, '|');
    Row row;
    row.text = line;
    for (const std::string& operand : parts(cells.at(2), ',')) {
      std::istringstream words(trimmed(operand));
      std::string name;
      words >> name;
      row.inputs.push_back(trimmed(name));
    }
    std::istringstream kinds(cells.at(1));
    for (std::string word; kinds >> word;) {
      const std::size_t end = word.rfind('`');
      if (word.front() == '`' && end > 0) rows.emplace(word.substr(1, end - 1), row);
    }
  }
  return rows;
}

/// Of operators of any number of operands, or whose rule knows them, the page speaks in prose.
bool is_named(const OperatorSchema& schema) {
  for (const OperandSpec& input : schema.inputs)
    if (input.repeated) return false;
  return true;
}

TEST(OperatorSchemas, AreThoseOfTheDocument) {
  const std::multimap<std::string, Row> rows = documented();
  for (const OperatorSchema& schema : operators_of_all_families()) {
    ASSERT_TRUE(rows.contains(schema.kind)) << schema.kind;
    if (!is_named(schema)) continue;
    const Row& row = rows.find(schema.kind)->second;
    ASSERT_GE(row.inputs.size(), schema.inputs.size()) << row.text;
    for (std::size_t i = 0; i < schema.inputs.size(); ++i)
      EXPECT_EQ(row.inputs[i], schema.inputs[i].name) << schema.kind;
    if (schema.kind.find("_backward") != std::string::npos) continue;  // carry the forward op's attributes
    if (row.text.find("those of `") != std::string::npos) continue;
    for (const AttributeSpec& attribute : schema.attributes)
      EXPECT_NE(row.text.find(std::string("`") + attribute.name + "`"), std::string::npos)
          << schema.kind << ": " << attribute.name;
  }
  for (const auto& row : rows) EXPECT_NE(find_operator(row.first), nullptr) << row.first;
}

TEST(OperatorSchemas, EveryBackwardKindIsInARule) {
  std::set<std::string> used;
  for (const GradientRule& rule : gradient_rules()) {
    for (const BackwardOp& op : rule.ops) {
      EXPECT_NE(find_operator(op.kind), nullptr) << op.kind;
      used.insert(op.kind);
    }
  }
  for (const OperatorSchema& schema : operators_of_all_families()) {
    if (schema.kind.find("_backward") != std::string::npos) {
      EXPECT_TRUE(used.contains(schema.kind)) << schema.kind;
    }
  }
}

TEST(OperatorSchemas, OneRuleByHand) {
  // x, weight [, bias]: the input's gradient reads the weight, the weight's x, the bias's neither.
  const GradientRule& rule = *find_gradient_rule("conv2d");
  ASSERT_EQ(rule.ops.size(), 3U);
  EXPECT_EQ(rule.ops[0].suffix, "backward_input");
  ASSERT_EQ(rule.ops[0].reads.size(), 2U);
  EXPECT_EQ(rule.ops[0].reads[1].index, 1U);
  EXPECT_EQ(rule.ops[1].gradients_of, (std::vector<std::size_t>{1, 2}));
  EXPECT_TRUE(rule.ops[1].only_with_first);
  EXPECT_EQ(rule.ops[1].reads[1].index, 0U);
  EXPECT_EQ(rule.ops[2].reads.size(), 1U);
  EXPECT_EQ(rule.ops[2].gradients_of, (std::vector<std::size_t>{2}));
}

TEST(OperatorSchemas, SayWhichKernelsThereAre) {
  for (const OperatorSchema& schema : operators_of_all_families()) {
    EXPECT_EQ(runtime::has_reference_kernel(schema.kind), schema.portable) << schema.kind;
#ifdef POET_HAS_ONEDNN
    EXPECT_EQ(runtime::has_onednn_kernel(schema.kind), schema.library) << schema.kind;
#endif
  }
}

/// Each word of `parts` is an axis that an operand has, or an attribute that tells axes.
TEST(OperatorSchemas, PartsAreAlongAxesThatThereAre) {
  for (const OperatorSchema& schema : operators_of_all_families()) {
    std::istringstream words{std::string(schema.parts)};
    for (std::string word; words >> word;) {
      if (word.front() == '-') continue;
      const bool summed = word.front() == '+';
      if (summed) word.erase(0, 1);
      const auto has = [&word](const OperandSpec& operand) {
        for (const AxisSpec& axis : operand.axes) {
          const bool follows = word == "..." && axis.label == "~";
          if ((axis.label == word || follows) && axis.factor == 1) return true;
        }
        return false;
      };
      bool read = false, written = false;
      for (const OperandSpec& input : schema.inputs) read = read || has(input);
      for (const OperandSpec& output : schema.outputs) written = written || has(output);
      EXPECT_TRUE(read || written) << schema.kind << ": " << word;
      // What is added up is no axis of the result; what is sliced is, or is changed in place.
      if (summed && word != "*") {
        EXPECT_FALSE(has(schema.outputs.at(0))) << schema.kind << ": " << word;
      }
      if (!summed && !schema.outputs.empty() && !schema.outputs[0].any_shape) {
        EXPECT_TRUE(has(schema.outputs[0])) << schema.kind << ": " << word;
      }
    }
  }
}

TEST(OperatorSchemas, SayWhichAreLosses) {
  std::vector<std::string> losses;
  for (const OperatorSchema& schema : operators_of_all_families())
    if (schema.is_loss) losses.push_back(schema.kind);
  EXPECT_THAT(losses, testing::ElementsAre("softmax_cross_entropy", "mean_loss", "mse_loss", "l1_loss",
                                           "huber_loss", "bce_with_logits_loss", "bce_loss"));
}

}  // namespace
}  // namespace poet
