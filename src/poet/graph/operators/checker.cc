#include "poet/graph/operators/checker.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/graph/operators/work.h"

namespace poet::operators {
namespace {

std::string place(OpId id, const Op& op) {
  return fmt::format("op {} \"{}\" ({})", id.index, op.name, op.kind);
}

}  // namespace

void WorkReader::fail(const std::string& rule) const { throw InputError(place(id_, op_), rule); }

void Checker::refuse(const std::string& rule) const { throw InputError(place(id_, op_), "needs " + rule); }

void Checker::need_shape(const char* list, std::size_t i, const Shape& shape, const Shape& wanted) const {
  need(shape == wanted, "{} {} of shape {}, not {}", list, i, text_of(wanted), text_of(shape));
}

void Checker::need_row_major(const Value& value, const char* what) const {
  need(value.strides.empty(), "{} row-major, without strides", what);
}

const Attribute& Checker::attribute(const char* name) const {
  const auto found = op_.attributes.find(name);
  if (found == op_.attributes.end()) refuse(fmt::format("an attribute {}", name));
  return found->second;
}

Index Checker::integer(const char* name, Index low, Index high) const {
  const auto* number = std::get_if<Index>(&attribute(name));
  if (number == nullptr) refuse(fmt::format("an integer as its attribute {}", name));
  need(*number >= low && *number <= high, "{} between {} and {}, not {}", name, low, high, *number);
  return *number;
}

double Checker::any_real(const char* name) const {
  const auto* number = std::get_if<double>(&attribute(name));
  if (number == nullptr) refuse(fmt::format("a real number (1.0, not 1) as its attribute {}", name));
  return *number;
}

double Checker::real(const char* name) const {
  const double number = any_real(name);
  need(std::isfinite(number), "a finite {}, not {}", name, number);
  return number;
}

const std::string& Checker::text(const char* name, std::initializer_list<std::string_view> of) const {
  const auto* word = std::get_if<std::string>(&attribute(name));
  if (word == nullptr || std::find(of.begin(), of.end(), *word) == of.end())
    refuse(fmt::format("one of {} as its attribute {}", fmt::join(of, ", "), name));
  return *word;
}

const std::vector<Index>& Checker::list(const char* name) const {
  const auto* numbers = std::get_if<std::vector<Index>>(&attribute(name));
  if (numbers == nullptr) refuse(fmt::format("a list of integers as its attribute {}", name));
  return *numbers;
}

const std::vector<Index>& Checker::list(const char* name, std::size_t size, Index low, Index high) const {
  const std::vector<Index>& numbers = list(name);
  need(numbers.size() == size, "{} as its attribute {}, not {}", counted(static_cast<Index>(size), "number"),
       name, numbers.size());
  for (const Index n : numbers)
    need(n >= low && n <= high, "numbers between {} and {} in {}, not {}", low, high, name, n);
  return numbers;
}

std::size_t Checker::axis(const char* name, std::size_t rank) const {
  need(rank > 0, "an operand that has axes");
  return static_cast<std::size_t>(integer(name, 0, static_cast<Index>(rank) - 1));
}

const std::vector<Index>& Checker::axes(const char* name, std::size_t rank) const {
  const std::vector<Index>& numbers = list(name);
  need(!numbers.empty(), "at least one number in {}", name);
  return positions(name, static_cast<Index>(rank), numbers.size(), "axes");
}

const std::vector<Index>& Checker::positions(const char* name, Index end, std::size_t count,
                                             const char* of_what) const {
  const std::vector<Index>& numbers = list(name);
  need(numbers.size() == count, "as many numbers in {} as it has {} ({}), not {}", name, of_what, count,
       numbers.size());
  Index next = 0;
  for (const Index n : numbers) {
    need(n >= next && n < end, "ascending numbers below {} in {}, not {}", end, name, n);
    next = n + 1;
  }
  return numbers;
}

std::vector<Index> Checker::gradients(Index first, Index last, bool optional) const {
  if (has("gradients")) {
    const std::vector<Index>& list = positions("gradients", last + 1, outputs(), "outputs");
    need(!list.empty() && list.front() >= first, "numbers from {} on in gradients", first);
    return list;
  }
  const auto most = static_cast<std::size_t>(last - first + 1);
  need(outputs() == most || (optional && outputs() + 1 == most),
       "{}, not {}, or an attribute gradients that lists them", counted(last - first + 1, "output"),
       outputs());
  std::vector<Index> all;
  for (std::size_t i = 0; i < outputs(); ++i) all.push_back(first + static_cast<Index>(i));
  return all;
}

bool broadcasts_to(const Shape& shape, const Shape& whole) {
  if (shape.size() > whole.size()) return false;
  const std::size_t missing = whole.size() - shape.size();
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] != 1 && shape[axis] != whole[axis + missing]) return false;
  return true;
}

}  // namespace poet::operators
