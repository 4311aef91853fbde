#include "poet/report/size_text.h"

#include <fmt/format.h>

#include <cstdint>

#include "poet/base/amounts.h"
#include "poet/graph/dataflow.h"

namespace poet {

std::string size_text(const Graph& graph) {
  const auto count = [](const auto& of) { return static_cast<std::int64_t>(of.size()); };
  return fmt::format("{}, {} ({} transient)", counted(count(graph.ops), "op"),
                     counted(count(graph.values), "value"), format_count(count(dataflow(graph).transients)));
}

}  // namespace poet
