#include "poet/plan/plan.h"

#include <fmt/format.h>

#include "poet/base/error.h"
#include "poet/cost/instance.h"
#include "poet/plan/names.h"

namespace poet {

std::string name_of(const Graph& graph, OpId op) {
  if (graph.ops.contains(op) && !graph.ops[op].name.empty()) return graph.ops[op].name;
  return fmt::format("op {}", op.index);
}

std::string name_of(const Graph& graph, ValueId value) {
  if (graph.values.contains(value) && !graph.values[value].name.empty()) return graph.values[value].name;
  return fmt::format("value {}", value.index);
}

const char* to_string(Semantics semantics) {
  switch (semantics) {
    case Semantics::published:
      return "published";
    case Semantics::staged:
      return "staged";
    case Semantics::device:
      return "device";
  }
  throw InternalError("a semantics without a name");
}

std::string to_string(const Instance& instance, const Step& step) {
  switch (step.kind) {
    case StepKind::page_out:
      return "page_out " + name_of(instance.graph, step.value);
    case StepKind::page_in:
      return "page_in " + name_of(instance.graph, step.value);
    case StepKind::wait:
      return "wait " + name_of(instance.graph, step.value);
    case StepKind::compute:
      return "compute " + name_of(instance.graph, step.op);
    case StepKind::free:
      return "free " + name_of(instance.graph, step.value);
  }
  throw InternalError("a kind of step without a name");
}

}  // namespace poet
