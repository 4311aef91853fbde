#include "poet/graph/operators/schema.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "poet/base/error.h"
#include "poet/graph/operators/families.h"

namespace poet {
namespace operators {
namespace {

Schemas of_all_families() {
  Schemas schemas;
  for (Schemas (*family)() :
       {data_operators, convolution_operators, product_operators, norm_operators, function_operators,
        broadcast_operators, reduction_operators, pool_operators, resize_operators, gather_operators,
        layout_operators, recurrent_operators, loss_operators, update_operators}) {
    Schemas own = family();
    std::move(own.begin(), own.end(), std::back_inserter(schemas));
  }
  return schemas;
}

}  // namespace
}  // namespace operators

namespace {

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(at), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

AxisSpec parse_axis(std::string_view text) {
  AxisSpec axis;
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits > 0) axis.factor = std::atoll(text.data());
  text.remove_prefix(digits);
  const std::size_t slash = std::min(text.find('/'), text.size());
  axis.label = text.substr(0, slash);
  if (slash < text.size()) axis.divisor = text.substr(slash + 1);
  if (text == "...") axis.sort = AxisSpec::Sort::shared;
  if (text == "~" || text == "*") axis.sort = AxisSpec::Sort::free;
  if (!text.empty() && std::islower(text.front()) != 0) axis.sort = AxisSpec::Sort::attribute;
  return axis;
}

void parse_operand(std::string_view word, OperatorSchema& schema, std::vector<OperandSpec>& list) {
  OperandSpec operand;
  const std::size_t shape = std::min(word.find('('), word.size());
  std::string_view head = word.substr(0, shape);
  for (;; head.remove_suffix(1)) {
    if (head.back() == '!') schema.updates.push_back(list.size());
    if (head.back() == '?' || head.back() == '*') operand.optional = true;
    if (head.back() == '+' || head.back() == '*') operand.repeated = true;
    if (std::string_view("!?+*").find(head.back()) == std::string_view::npos) break;
  }
  const std::size_t colon = std::min(head.find(':'), head.size());
  operand.name = head.substr(0, colon);
  if (colon < head.size()) operand.type = head[colon + 1];
  operand.any_shape = shape == word.size();
  if (!operand.any_shape) {
    for (const std::string_view axis : split(word.substr(shape + 1, word.size() - shape - 2), ','))
      operand.axes.push_back(parse_axis(axis));
  }
  list.push_back(std::move(operand));
}

void parse_operands(OperatorSchema& schema) {
  std::vector<OperandSpec>* list = &schema.inputs;
  for (const std::string_view word : split(schema.operands, ' ')) {
    if (word == "->") {
      list = &schema.outputs;
    } else {
      parse_operand(word, schema, *list);
    }
  }
}

}  // namespace

const std::vector<OperatorSchema>& operators_of_all_families() {
  static const std::vector<OperatorSchema> all = [] {
    std::vector<OperatorSchema> schemas = operators::of_all_families();
    for (OperatorSchema& schema : schemas) parse_operands(schema);
    return schemas;
  }();
  return all;
}

const OperatorSchema* find_operator(std::string_view kind) {
  static const std::unordered_map<std::string_view, const OperatorSchema*> by_kind = [] {
    std::unordered_map<std::string_view, const OperatorSchema*> map;
    for (const OperatorSchema& schema : operators_of_all_families())
      ensure(map.emplace(schema.kind, &schema).second, "a kind of operator has one schema");
    return map;
  }();
  const auto found = by_kind.find(kind);
  return found == by_kind.end() ? nullptr : found->second;
}

bool is_loss(const Op& op) {
  const OperatorSchema* schema = find_operator(op.kind);
  return schema != nullptr && schema->is_loss;
}

}  // namespace poet
