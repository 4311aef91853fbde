// Functions of one element. Left to the plain loops are those whose derivative oneDNN computes by another
// rule at a kink, and softplus: oneDNN's, log(1 + exp(x)), has lost every digit at x = -17, where it is 4e-8
// and not 0.

#include <algorithm>
#include <cstdint>
#include <dnnl.hpp>
#include <limits>
#include <map>
#include <string_view>

#include "poet/base/numbers.h"
#include "poet/runtime/kernels/onednn/families.h"
#include "poet/runtime/kernels/onednn/loops/wide_loops.h"
#include "poet/runtime/kernels/onednn/sequence.h"

namespace poet::runtime::onednn {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;

// What the derivative is computed from.
enum class From { nothing, x, y };

struct Function {
  algorithm forward;
  algorithm backward;
  From from;
};

const std::map<std::string_view, Function>& functions() {
  static const std::map<std::string_view, Function> table = {
      // Forward relu and clip are loops here: oneDNN's make a number of what is none.
      {"relu", {algorithm::eltwise_relu, algorithm::eltwise_relu_use_dst_for_bwd, From::y}},
      {"leaky_relu", {algorithm::eltwise_relu, algorithm::eltwise_relu_use_dst_for_bwd, From::y}},
      {"elu", {algorithm::eltwise_elu, algorithm::eltwise_elu_use_dst_for_bwd, From::y}},
      {"tanh", {algorithm::eltwise_tanh, algorithm::eltwise_tanh_use_dst_for_bwd, From::y}},
      {"sigmoid", {algorithm::eltwise_logistic, algorithm::eltwise_logistic_use_dst_for_bwd, From::y}},
      {"exp", {algorithm::eltwise_exp, algorithm::eltwise_exp_use_dst_for_bwd, From::y}},
      {"sqrt", {algorithm::eltwise_sqrt, algorithm::eltwise_sqrt_use_dst_for_bwd, From::y}},
      {"clip", {algorithm::eltwise_clip_v2, algorithm::eltwise_clip_v2_use_dst_for_bwd, From::y}},
      {"gelu", {algorithm::eltwise_gelu_erf, algorithm::eltwise_gelu_erf, From::x}},
      {"log", {algorithm::eltwise_log, algorithm::eltwise_log, From::x}},
      {"abs", {algorithm::eltwise_abs, algorithm::eltwise_abs, From::x}},
      {"silu", {algorithm::eltwise_swish, algorithm::eltwise_swish, From::x}},
      {"mish", {algorithm::eltwise_mish, algorithm::eltwise_mish, From::x}},
      {"hardswish", {algorithm::eltwise_hardswish, algorithm::eltwise_hardswish, From::x}},
      {"scale", {algorithm::eltwise_linear, algorithm::eltwise_linear, From::nothing}},
      {"shift", {algorithm::eltwise_linear, algorithm::eltwise_linear, From::nothing}},
  };
  return table;
}

struct Found {
  const Function* f = nullptr;
  std::string_view kind;  // forward
  bool backward = false;
};

Found function_of(std::string_view kind) {
  const bool backward = kind.ends_with("_backward");
  if (backward) kind.remove_suffix(std::string_view("_backward").size());
  const auto found = functions().find(kind);
  if (found == functions().end()) return {};
  const Function& f = found->second;
  if (backward && kind == "shift") return {};  // a shift has no gradient of its own
  return {&f, kind, backward};
}

struct Parameters {
  float alpha = 0.0F;
  float beta = 0.0F;
};

Parameters parameters(const Subject& subject, std::string_view kind, bool backward) {
  const auto real = [&subject](const char* name, double absent) {
    return static_cast<float>(subject.has(name) ? subject.real(name) : absent);
  };
  if (kind == "clip") return {real("min", -kInfinity), real("max", kInfinity)};
  if (kind == "scale") return {real("alpha", 1), backward ? 0.0F : real("beta", 0)};
  if (kind == "shift") return {1.0F, real("beta", 0)};
  if (kind == "silu") return {1.0F, 0.0F};
  if (kind == "leaky_relu" || kind == "elu") return {real("alpha", 0), 0.0F};
  return {};  // an attribute alpha of another kind is none of its operator's, and not checked
}

std::unique_ptr<Kernel> make_clamp(const Subject& subject, float least, float most) {
  auto sequence = std::make_unique<Sequence>();
  const BufferId x = sequence->input(0);
  const BufferId y = sequence->output(0);
  const std::int64_t size = element_count(subject.output(0).shape);
  const int threads = subject.threads;
  sequence->add(
      [=, &loops = wide_loops()](void* const* buffers) {
        constexpr std::int64_t kPart = 1 << 16;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
        for (std::int64_t first = 0; first < size; first += kPart)
          loops.clamp(std::min(kPart, size - first), read(buffers, x) + first, least, most,
                      written(buffers, y) + first);
      },
      "wide loops");
  return Sequence::finished(std::move(sequence));
}

}  // namespace

bool is_eltwise(std::string_view kind) { return function_of(kind).f != nullptr; }

std::unique_ptr<Kernel> make_eltwise(const Subject& subject) {
  const auto [function, kind, backward] = function_of(subject.op().kind);
  if (function == nullptr || !subject.plain()) return nullptr;
  const Function& f = *function;
  const auto [alpha, beta] = parameters(subject, kind, backward);
  if (!backward && kind == "relu") return make_clamp(subject, 0, std::numeric_limits<float>::infinity());
  if (!backward && kind == "clip") return make_clamp(subject, alpha, beta);
  const memory::desc flat = row_major({element_count(subject.output(0).shape)});

  // A derivative of nothing is a function of dy.
  const bool as_function = !backward || f.from == From::nothing;
  auto sequence = std::make_unique<Sequence>();
  const dnnl::eltwise_forward::primitive_desc forward(
      {prop_kind::forward_training, as_function ? f.forward : f.backward, flat, alpha, beta},
      scratchpad_by_user(), engine(), true);
  if (!forward) return nullptr;
  if (as_function) {
    if (!is_fast(forward)) return nullptr;
    sequence->add(dnnl::eltwise_forward(forward), forward,
                  {{DNNL_ARG_SRC, sequence->input(0, flat)}, {DNNL_ARG_DST, sequence->output(0, flat)}});
    return Sequence::finished(std::move(sequence));
  }
  const dnnl::eltwise_backward::primitive_desc description({f.backward, flat, flat, alpha, beta},
                                                           scratchpad_by_user(), engine(), forward, true);
  if (!description || !is_fast(description)) return nullptr;
  sequence->add(dnnl::eltwise_backward(description), description,
                {{DNNL_ARG_DIFF_DST, sequence->input(0, flat)},
                 {f.from == From::y ? DNNL_ARG_DST : DNNL_ARG_SRC, sequence->input(1, flat)},
                 {DNNL_ARG_DIFF_SRC, sequence->output(0, flat)}});
  return Sequence::finished(std::move(sequence));
}

}  // namespace poet::runtime::onednn
