#include "tests/support/same_graph.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

namespace poet::test {
namespace {

bool same(const Attribute& a, const Attribute& b) {
  const double* x = std::get_if<double>(&a);
  const double* y = std::get_if<double>(&b);
  if (x != nullptr && y != nullptr) return std::fabs(*x - *y) <= 1e-6 * std::fabs(*x);
  return a == b;
}

std::string attributes_differ(const Attributes& a, const Attributes& b) {
  if (a.size() != b.size()) return fmt::format("{} attributes and {}", a.size(), b.size());
  for (const auto& [name, value] : a) {
    const auto found = b.find(name);
    if (found == b.end() || !same(value, found->second)) return fmt::format("attribute '{}'", name);
  }
  return {};
}

class Comparison {
 public:
  Comparison(const Graph& a, const Graph& b) : a_(a), b_(b) {}

  std::string run() {
    for (const OpId op : ids<OpId>(std::min(a_.ops.size(), b_.ops.size()))) {
      const std::string rule = ops_differ(a_.ops[op], b_.ops[op]);
      if (!rule.empty()) {
        return fmt::format("op {}, '{}' and '{}': {}", op.index, a_.ops[op].name, b_.ops[op].name, rule);
      }
    }
    if (a_.ops.size() != b_.ops.size()) {
      return fmt::format("{} ops and {}", a_.ops.size(), b_.ops.size());
    }
    for (const auto& [graph, related] : {std::pair{&a_, &to_b_}, std::pair{&b_, &to_a_}}) {
      for (const ValueId v : ids<ValueId>(graph->values.size())) {
        if (!related->contains(v) && !graph->values[v].alias_of.valid()) {
          return fmt::format("no op reads or writes '{}'", graph->values[v].name);
        }
      }
    }
    return {};
  }

 private:
  std::string ops_differ(const Op& a, const Op& b) {
    if (a.kind != b.kind) return fmt::format("kinds {} and {}", a.kind, b.kind);
    if (a.pass != b.pass) return "pass";
    if (a.recomputable != b.recomputable) return "recomputable";
    if (std::string rule = attributes_differ(a.attributes, b.attributes); !rule.empty()) return rule;
    if (std::string rule = lists_differ("input", a.inputs, b.inputs); !rule.empty()) return rule;
    if (std::string rule = lists_differ("output", a.outputs, b.outputs); !rule.empty()) return rule;
    return lists_differ("update", a.updates, b.updates);
  }

  std::string lists_differ(const char* what, const std::vector<ValueId>& a, const std::vector<ValueId>& b) {
    if (a.size() != b.size()) return fmt::format("{} {}s and {}", a.size(), what, b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::string rule = values_differ(a[i], b[i]);
      if (!rule.empty()) {
        return fmt::format("{} {}, '{}' and '{}': {}", what, i, a_.values[a[i]].name, b_.values[b[i]].name,
                           rule);
      }
    }
    return {};
  }

  std::string values_differ(ValueId a, ValueId b) {
    const auto there = to_b_.find(a);
    const auto back = to_a_.find(b);
    if (there != to_b_.end() && back != to_a_.end() && there->second == b) return {};
    if (there != to_b_.end() || back != to_a_.end()) return "one of them stands for another value before";
    to_b_[a] = b;
    to_a_[b] = a;
    const Value& x = a_.values[a];
    const Value& y = b_.values[b];
    if (x.shape != y.shape) return "shape";
    if (x.strides != y.strides) return "strides";
    if (x.dtype != y.dtype) return "element type";
    if (x.bytes != y.bytes) return fmt::format("{} bytes and {}", x.bytes.value(), y.bytes.value());
    if (x.persistence != y.persistence) return "persistence";
    if (x.producer != y.producer) return "producer";
    if (is_persistent(x.persistence) && !x.alias_of.valid() && x.name != y.name) return "name of a parameter";
    if (x.alias_of.valid() != y.alias_of.valid()) return "only one is a view";
    if (!x.alias_of.valid()) return {};
    const std::string rule = values_differ(storage(a_, a), storage(b_, b));
    return rule.empty() ? rule : "storage: " + rule;
  }

  const Graph& a_;
  const Graph& b_;
  std::map<ValueId, ValueId> to_b_;
  std::map<ValueId, ValueId> to_a_;
};

}  // namespace

std::string first_difference(const Graph& a, const Graph& b) { return Comparison(a, b).run(); }

}  // namespace poet::test
