#include "poet/runtime/kernels/onednn/onednn.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "poet/base/error.h"
#include "poet/base/nearest.h"
#include "poet/runtime/kernels/onednn/accumulating.h"
#include "poet/runtime/kernels/onednn/families.h"
#include "poet/runtime/kernels/onednn/sequence.h"

namespace poet::runtime {
namespace {

using Maker = std::unique_ptr<Kernel> (*)(const onednn::Subject&);

const std::map<std::string_view, Maker>& makers() {
  using namespace onednn;  // NOLINT(google-build-using-namespace): a table of its makers
  static const std::map<std::string_view, Maker> table = {
      {"conv2d", make_convolution},
      {"conv2d_backward_input", make_convolution_backward_input},
      {"conv2d_backward_weight", make_convolution_backward_weight},
      {"conv3d", make_convolution},
      {"conv3d_backward_input", make_convolution_backward_input},
      {"conv3d_backward_weight", make_convolution_backward_weight},
      {"conv_transpose2d", make_transposed_convolution},
      {"conv_transpose2d_backward_input", make_transposed_convolution},
      {"conv_transpose2d_backward_weight", make_transposed_convolution},
      {"conv_transpose3d", make_transposed_convolution},
      {"conv_transpose3d_backward_input", make_transposed_convolution},
      {"conv_transpose3d_backward_weight", make_transposed_convolution},
      {"conv2d_backward_bias", make_channel_sum},
      {"conv3d_backward_bias", make_channel_sum},
      {"conv_transpose2d_backward_bias", make_channel_sum},
      {"conv_transpose3d_backward_bias", make_channel_sum},
      {"linear_backward_bias", make_column_sums},
      {"linear", make_linear},
      {"linear_backward_input", make_linear_backward_input},
      {"linear_backward_weight", make_linear_backward_weight},
      {"matmul", make_matmul},
      {"add", make_binary},
      {"sub", make_binary},
      {"mul", make_binary},
      {"div", make_binary},
      {"mul_backward", make_binary},
      {"div_backward_a", make_binary},
      {"reduce_sum", make_reduction},
      {"reduce_mean", make_reduction},
      {"avg_pool2d", make_average_pool},
      {"avg_pool2d_backward", make_average_pool},
      {"avg_pool3d", make_average_pool},
      {"avg_pool3d_backward", make_average_pool},
      {"global_avg_pool", make_average_pool},
      {"global_avg_pool_backward", make_average_pool},
      {"batch_norm", make_batch_norm},
      {"batch_norm_backward", make_batch_norm_backward},
      {"layer_norm", make_layer_norm},
      {"layer_norm_backward", make_layer_norm_backward},
      {"softmax", make_softmax},
      {"softmax_backward", make_softmax},
      {"log_softmax", make_softmax},
      {"log_softmax_backward", make_softmax},
  };
  return table;
}

struct InstructionSet {
  std::string_view name;  // in options
  std::string_view label;
  dnnl::cpu_isa isa;
};
// From the oldest to the newest.
constexpr auto kInstructionSets = std::to_array<InstructionSet>({
    {"sse41", "SSE4.1", dnnl::cpu_isa::sse41},
    {"avx", "AVX", dnnl::cpu_isa::avx},
    {"avx2", "AVX2", dnnl::cpu_isa::avx2},
    {"avx2_vnni", "AVX2 with VNNI", dnnl::cpu_isa::avx2_vnni},
    {"avx512", "AVX-512", dnnl::cpu_isa::avx512_core},
    {"avx512_vnni", "AVX-512 with VNNI", dnnl::cpu_isa::avx512_core_vnni},
    {"avx512_bf16", "AVX-512 with BF16", dnnl::cpu_isa::avx512_core_bf16},
    {"avx512_amx", "AVX-512 with AMX", dnnl::cpu_isa::avx512_core_amx},
});

}  // namespace

bool has_onednn_kernel(std::string_view kind) { return makers().contains(kind) || onednn::is_eltwise(kind); }

std::unique_ptr<Kernel> make_onednn_kernel(const Graph& graph, OpId op, const KernelOptions& options) {
  const onednn::Subject subject(graph, op, options);
  const auto maker = makers().find(subject.op().kind);
  try {
    return onednn::with_accumulators(
        subject, maker == makers().end() ? onednn::make_eltwise(subject) : maker->second(subject));
  } catch (const dnnl::error&) {
    return nullptr;  // not for these shapes
  }
}

void set_up_onednn(const KernelOptions& options) {
  omp_set_dynamic(0);
  omp_set_num_threads(options.threads);
  if (options.isa.empty()) return;
  std::vector<std::string> names;
  for (const InstructionSet& candidate : kInstructionSets) names.emplace_back(candidate.name);
  const std::optional<std::size_t> at = place_in(options.isa, names);
  if (!at) throw InputError(Field{"isa"}, not_one_of(options.isa, names));
  const InstructionSet* set = &kInstructionSets[*at];
  // Refused once oneDNN has looked at the machine, which making a primitive does.
  if (dnnl::set_max_cpu_isa(set->isa) != dnnl::status::success && dnnl::get_effective_cpu_isa() != set->isa) {
    throw InternalError("the instruction set is chosen before the first kernel is made");
  }
}

std::string onednn_description() {
  const dnnl_version_t& version = *dnnl_version();
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  const auto set = std::find_if(kInstructionSets.begin(), kInstructionSets.end(),
                                [isa](const InstructionSet& candidate) { return candidate.isa == isa; });
  return fmt::format("oneDNN {}.{}.{}{}", version.major, version.minor, version.patch,
                     set == kInstructionSets.end() ? "" : fmt::format(", {}", set->label));
}

}  // namespace poet::runtime
