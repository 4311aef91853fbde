#include "poet/firmware/checkpoint.h"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "poet/graph/parts.h"
#include "poet/runtime/weights/safetensors.h"

namespace poet::firmware {

void write_checkpoint(const std::filesystem::path& file, const Graph& graph, const CardState& state) {
  std::vector<runtime::TensorEntry> tensors;
  std::deque<Value> homes;
  for (const Tensor& tensor : persistent_tensors(graph)) {
    runtime::TensorEntry& entry =
        tensors.emplace_back(runtime::TensorEntry{tensor.name, tensor.dtype, tensor.shape});
    for (const ValueId v : tensor.values) {
      homes.push_back(at_home(graph.values[v]));
      entry.parts.push_back({&homes.back(), state.contents[v].data()});
    }
  }
  runtime::write_safetensors(file, tensors,
                             {{"format", "poet checkpoint 1"},
                              {"step", fmt::format("{}", state.step)},
                              {"seed", "0"},
                              {"loss", fmt::format("{}", state.loss)}});
}

}  // namespace poet::firmware
