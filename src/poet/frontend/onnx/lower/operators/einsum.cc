// Einsum of one or two operands as transposes, sums and a matrix product.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "poet/base/error.h"
#include "poet/frontend/onnx/lower/operators.h"
#include "poet/graph/nn.h"

namespace poet::onnx {
namespace {

[[noreturn]] void refuse(const std::string& equation, const std::string& rule) {
  throw InputError("attribute 'equation'", fmt::format("'{}' {}", equation, rule));
}

bool contains(const std::string& letters, char letter) { return letters.find(letter) != std::string::npos; }

/// One letter per axis.
struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

Equation parsed(const std::string& text) {
  std::string letters;
  for (const char c : text) {
    if (c != ' ') letters += c;
  }
  Equation equation;
  const std::size_t arrow = letters.find("->");
  std::string left = letters.substr(0, arrow);
  for (std::size_t comma = 0; comma != std::string::npos;) {
    comma = left.find(',');
    equation.inputs.push_back(left.substr(0, comma));
    left = comma == std::string::npos ? "" : left.substr(comma + 1);
  }
  std::map<char, int> seen;
  for (const std::string& input : equation.inputs) {
    for (const char c : input) ++seen[c];
  }
  if (arrow != std::string::npos) {
    equation.output = letters.substr(arrow + 2);
  } else {
    for (const auto& [letter, times] : seen) {
      if (times == 1) equation.output += letter;
    }
  }
  std::vector<std::string> all = equation.inputs;
  all.push_back(equation.output);
  for (const std::string& term : all) {
    for (const char c : term) {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      if (!letter) refuse(text, "has something else than letters, commas and one arrow; write ellipses out");
      if (std::count(term.begin(), term.end(), c) > 1)
        refuse(text, "names one axis of a term twice, which is not supported");
    }
  }
  for (const char c : equation.output) {
    if (!seen.contains(c)) refuse(text, fmt::format("has '{}' in its result only", c));
  }
  return equation;
}

/// An intermediate operand: a value and the letters of its axes.
struct Term {
  ValueId value;
  std::string letters;
};

class Einsum {
 public:
  Einsum(Lowering& net, const Node& node)
      : g_(net.builder), name_(name_of(node)), text_(text(node, "equation", "")) {
    const Equation equation = parsed(text_);
    output_ = equation.output;
    if (equation.inputs.size() != node.inputs.size() || node.inputs.size() > 2) {
      refuse(text_,
             fmt::format("has {} terms for {} operands; one or two are supported, so split it into several",
                         equation.inputs.size(), node.inputs.size()));
    }
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Shape shape = shape_of(net, node, i);
      if (shape.size() != equation.inputs[i].size()) {
        refuse(text_, fmt::format("has {} axes for operand {}, which is {}", equation.inputs[i].size(), i,
                                  shown(shape)));
      }
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const auto [known, is_new] = sizes_.emplace(equation.inputs[i][axis], shape[axis]);
        if (known->second != shape[axis])
          refuse(text_, fmt::format("gives '{}' two sizes", equation.inputs[i][axis]));
      }
      terms_.push_back({value_of(net, node, i), equation.inputs[i]});
    }
  }

  ValueId result() {
    for (std::size_t i = 0; i < terms_.size(); ++i) sum_what_only_it_has(i);
    if (terms_.size() == 1) return ordered(terms_[0].value, terms_[0].letters);
    const std::string& a = terms_[0].letters;
    const std::string& b = terms_[1].letters;
    std::string batch;
    std::string rows;
    std::string columns;
    std::string inner;
    for (const char c : a) (!contains(b, c) ? rows : contains(output_, c) ? batch : inner) += c;
    for (const char c : b) {
      if (!contains(a, c)) columns += c;
    }
    if (inner.empty()) return product_by_elements();
    // Views if each group is one axis, else copies if its axes are not adjacent in memory.
    const ValueId left = grouped(terms_[0], batch, rows, inner);
    const ValueId right = grouped(terms_[1], batch, inner, columns);
    nn::MatmulOptions options;
    const std::string whole = batch + rows + columns;
    if (rows.size() == 1 && columns.size() == 1) options.storage_order = places(whole, output_);
    ValueId y = nn::matmul(g_, name_, left, right, options);
    if (rows.size() != 1 || columns.size() != 1) y = nn::reshape(g_, name_ + ".axes", y, sizes_of(whole));
    return ordered(y, whole);
  }

 private:
  [[nodiscard]] Shape sizes_of(const std::string& letters) const {
    Shape shape;
    for (const char c : letters) shape.push_back(sizes_.at(c));
    return shape;
  }

  /// Returns the position in `letters` of each letter of `wanted`.
  [[nodiscard]] static std::vector<std::int64_t> places(const std::string& letters,
                                                        const std::string& wanted) {
    std::vector<std::int64_t> axes;
    for (const char c : wanted) axes.push_back(static_cast<std::int64_t>(letters.find(c)));
    return axes;
  }

  ValueId ordered(ValueId v, const std::string& letters) {
    return letters == output_ ? v : nn::permute(g_, name_ + ".order", v, places(letters, output_));
  }

  void sum_what_only_it_has(std::size_t i) {
    Term& term = terms_[i];
    std::string rest;
    std::vector<std::int64_t> axes;
    for (std::size_t axis = 0; axis < term.letters.size(); ++axis) {
      const char c = term.letters[axis];
      const bool other = terms_.size() == 2 && contains(terms_[1 - i].letters, c);
      if (other || contains(output_, c)) {
        rest += c;
      } else {
        axes.push_back(static_cast<std::int64_t>(axis));
      }
    }
    if (axes.empty()) return;
    const std::string name = fmt::format("{}.{}.sum", name_, i);
    term = {nn::reduce(g_, "reduce_sum", name, row_major(g_, name, term.value), axes, false), rest};
  }

  /// Returns the operand as (batch..., first, second), with each of the two groups as one axis.
  ValueId grouped(const Term& term, const std::string& batch, const std::string& first,
                  const std::string& second) {
    const std::string wanted = batch + first + second;
    const std::string name = fmt::format("{}.{}", name_, &term - terms_.data());
    ValueId v = term.value;
    if (wanted != term.letters) v = nn::permute(g_, name, v, places(term.letters, wanted));
    if (first.size() == 1 && second.size() == 1) return v;
    Shape shape = sizes_of(batch);
    shape.push_back(element_count(sizes_of(first)));
    shape.push_back(element_count(sizes_of(second)));
    return nn::reshape(g_, name + ".matrix", row_major(g_, name, v), shape);
  }

  /// Multiplies with broadcasting, for equations without a sum.
  ValueId product_by_elements() {
    ValueId factors[2];
    for (std::size_t i = 0; i < 2; ++i) {
      const Term& term = terms_[i];
      std::string wanted;
      Shape shape;
      for (const char c : output_) {
        const bool own = contains(term.letters, c);
        if (own) wanted += c;
        shape.push_back(own ? sizes_.at(c) : 1);
      }
      const std::string name = fmt::format("{}.{}", name_, i);
      ValueId v = term.value;
      if (wanted != term.letters) v = nn::permute(g_, name, v, places(term.letters, wanted));
      v = row_major(g_, name, v);
      factors[i] = g_.shape(v) == shape ? v : nn::reshape(g_, name + ".shape", v, shape);
    }
    return nn::mul(g_, name_, factors[0], factors[1]);
  }

  GraphBuilder& g_;
  std::string name_;
  std::string text_;
  std::string output_;
  std::map<char, std::int64_t> sizes_;
  std::vector<Term> terms_;
};

void einsum(Lowering& net, const Node& node) { set_result(net, node, Einsum(net, node).result()); }

}  // namespace

const std::vector<OperatorEntry>& einsum_operators() {
  static const std::vector<OperatorEntry> entries = {{"Einsum", einsum}};
  return entries;
}

}  // namespace poet::onnx
