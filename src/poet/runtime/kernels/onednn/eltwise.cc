// Functions of one element. Those whose derivative oneDNN computes from another value than the op keeps, or
// by another rule at a kink, are left to the plain loops.

#include <dnnl.hpp>
#include <map>
#include <string_view>

#include "poet/runtime/kernels/onednn/families.h"
#include "poet/runtime/kernels/onednn/program.h"

namespace poet::runtime::onednn {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;

struct Function {
  algorithm forward;
  algorithm backward;
  bool from_result;  // the derivative reads y, not x
  float alpha = 0.0F;
  float beta = 0.0F;
};

const std::map<std::string_view, Function>& functions() {
  static const std::map<std::string_view, Function> table = {
      {"relu", {algorithm::eltwise_relu, algorithm::eltwise_relu_use_dst_for_bwd, true}},
      {"gelu", {algorithm::eltwise_gelu_erf, algorithm::eltwise_gelu_erf, false}},
      {"tanh", {algorithm::eltwise_tanh, algorithm::eltwise_tanh_use_dst_for_bwd, true}},
      {"sigmoid", {algorithm::eltwise_logistic, algorithm::eltwise_logistic_use_dst_for_bwd, true}},
      {"exp", {algorithm::eltwise_exp, algorithm::eltwise_exp_use_dst_for_bwd, true}},
      {"sqrt", {algorithm::eltwise_sqrt, algorithm::eltwise_sqrt_use_dst_for_bwd, true}},
  };
  return table;
}

}  // namespace

std::unique_ptr<Kernel> make_eltwise(const Subject& subject) {
  if (!subject.plain()) return nullptr;
  std::string_view kind = subject.op.kind;
  const bool backward = kind.ends_with("_backward");
  if (backward) kind.remove_suffix(std::string_view("_backward").size());
  const auto found = functions().find(kind);
  if (found == functions().end()) return nullptr;
  const Function& f = found->second;
  const memory::desc flat = row_major({element_count(subject.output(0).shape)});

  auto program = std::make_unique<Program>();
  const dnnl::eltwise_forward::primitive_desc forward(
      {prop_kind::forward_training, backward ? f.backward : f.forward, flat, f.alpha, f.beta},
      scratchpad_by_user(), engine(), true);
  if (!forward) return nullptr;
  if (!backward) {
    if (!is_fast(forward)) return nullptr;
    program->add(dnnl::eltwise_forward(forward), forward,
                 {{DNNL_ARG_SRC, program->input(0, flat)}, {DNNL_ARG_DST, program->output(0, flat)}});
    return Program::finished(std::move(program));
  }
  const dnnl::eltwise_backward::primitive_desc description({f.backward, flat, flat, f.alpha, f.beta},
                                                           scratchpad_by_user(), engine(), forward, true);
  if (!description || !is_fast(description)) return nullptr;
  program->add(dnnl::eltwise_backward(description), description,
               {{DNNL_ARG_DIFF_DST, program->input(0, flat)},
                {f.from_result ? DNNL_ARG_DST : DNNL_ARG_SRC, program->input(1, flat)},
                {DNNL_ARG_DIFF_SRC, program->output(0, flat)}});
  return Program::finished(std::move(program));
}

}  // namespace poet::runtime::onednn
