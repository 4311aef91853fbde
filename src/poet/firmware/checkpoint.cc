#include "poet/firmware/checkpoint.h"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "poet/graph/parts.h"
#include "poet/graph/precision.h"
#include "poet/runtime/kernels/kernel_options.h"
#include "poet/runtime/training/checkpoint.h"
#include "poet/runtime/training/learning_rate.h"
#include "poet/runtime/weights/safetensors.h"

namespace poet::firmware {

void write_checkpoint(const std::filesystem::path& file, const Graph& graph, std::int64_t batch_size,
                      const CardState& state) {
  std::vector<runtime::TensorEntry> tensors;
  std::deque<Value> homes;
  for (const Tensor& tensor : persistent_tensors(graph)) {
    runtime::TensorEntry& entry =
        tensors.emplace_back(runtime::TensorEntry{tensor.name, tensor.dtype, tensor.shape_in_file});
    for (const ValueId v : tensor.values) {
      homes.push_back(at_home(graph.values[v]));
      entry.parts.push_back({&homes.back(), state.contents[v].data()});
    }
  }
  runtime::KernelOptions kernels;
  kernels.library = runtime::KernelLibrary::reference;  // whose bits are the firmware's
  std::map<std::string, std::string> metadata = {{"format", runtime::checkpoint_format(graph)},
                                                 {"step", fmt::format("{}", state.step)},
                                                 {"seed", fmt::format("{}", state.seed)},
                                                 {"loss", fmt::format("{}", state.loss)},
                                                 {"kernels", runtime::kernels_description(kernels)},
                                                 {"optimizer", runtime::describe_optimizer(graph)},
                                                 {"precision", to_string(precision_of(graph))},
                                                 {"schedule", runtime::describe_schedule(state.schedule)},
                                                 {"batch size", fmt::format("{}", batch_size)}};
  if (!state.data.empty()) metadata.emplace("data", state.data);
  runtime::write_safetensors(file, tensors, metadata);
}

}  // namespace poet::firmware
