#include "poet/graph/nn/opaque.h"

#include <fmt/format.h>

#include "poet/base/error.h"
#include "poet/graph/diagnostics.h"

namespace poet::nn {

std::vector<ValueId> opaque(GraphBuilder& g, const std::string& name, const std::string& what,
                            const std::vector<ValueId>& inputs, const std::vector<TensorType>& outputs) {
  for (const ValueId v : inputs) (void)g.any_type(name, v);
  std::vector<ValueId> written;
  for (const TensorType& type : outputs) {
    const std::string suffix = written.empty() ? "" : fmt::format(".{}", written.size());
    written.push_back(g.output(name, name + suffix, {type.shape, {}}, type.dtype));
  }
  g.append(name, "opaque", {{"operator", what}}, inputs, written).recomputable = false;
  return written;
}

}  // namespace poet::nn
