#include <fmt/format.h>

#include <string>
#include <utility>

#include "poet/base/amounts.h"
#include "poet/base/error.h"
#include "poet/graph/float32_copies.h"
#include "poet/runtime/kernels/bfloat16_operands.h"
#include "poet/runtime/kernels/kernel.h"
#include "poet/runtime/kernels/reference/reference.h"
#ifdef POET_HAS_ONEDNN
#include "poet/runtime/kernels/onednn/onednn.h"
#endif

namespace poet::runtime {
namespace {

[[maybe_unused]] Bytes operand_bytes(const Graph& graph, OpId op) {
  Bytes sum{};
  for (const std::vector<ValueId>* list : {&graph.ops[op].inputs, &graph.ops[op].outputs})
    for (const ValueId v : *list) sum += graph.values[v].bytes;
  return sum;
}

std::unique_ptr<Kernel> kernel_of(const Graph& graph, OpId op,
                                  [[maybe_unused]] const KernelOptions& options) {
  std::unique_ptr<Kernel> kernel;
#ifdef POET_HAS_ONEDNN
  if (options.library != KernelLibrary::reference) kernel = make_onednn_kernel(graph, op, options);
  // Where even the lean workspace is more than all that the op works on, plain loops serve a small device
  // better.
  if (kernel && options.library == KernelLibrary::lean && kernel->workspace() > operand_bytes(graph, op)) {
    std::unique_ptr<Kernel> plain = make_reference_kernel(graph, op);
    if (plain && plain->workspace() < kernel->workspace()) kernel = std::move(plain);
  }
#endif
  if (!kernel) kernel = make_reference_kernel(graph, op);
  return kernel;
}

std::unique_ptr<Kernel> kernel_of_stored(const Graph& graph, OpId op, const KernelOptions& options) {
  if (!needs_float32_copies(graph, op)) return kernel_of(graph, op, options);
  const Float32Op wide = in_float32(graph, op);
  std::unique_ptr<Kernel> kernel = kernel_of(wide.graph, wide.op, options);
  return kernel ? with_bfloat16_operands(graph, op, std::move(kernel)) : nullptr;
}

std::string place(const Graph& graph, OpId op) {
  return fmt::format("op {} \"{}\"", op.index, graph.ops[op].name);
}

}  // namespace

std::unique_ptr<Kernel> make_kernel(const Graph& graph, OpId op, const KernelOptions& options) {
  std::unique_ptr<Kernel> kernel = kernel_of_stored(graph, op, options);
  if (!kernel) {
    const Op& o = graph.ops[op];
    if (o.kind == "published")
      throw InputError(graph.name,
                       "is a published instance, which has the costs of its ops but not what they compute");
    throw InputError(place(graph, op), fmt::format("no kernel here computes {}", o.kind));
  }
  return kernel;
}

void set_up_kernels(const KernelOptions& options) {
  if (options.threads < 1) throw InputError("threads", "must be >= 1");
#ifdef POET_HAS_ONEDNN
  set_up_onednn(options);
#else
  if (!options.isa.empty())
    throw InputError(Field{"isa"}, "this build has kernels for one instruction set only");
#endif
}

bool parts_sum_as_whole([[maybe_unused]] const KernelOptions& options) {
#ifdef POET_HAS_ONEDNN
  return options.library == KernelLibrary::reference;
#else
  return true;
#endif
}

std::string kernels_description([[maybe_unused]] const KernelOptions& options) {
  std::string text = "reference kernels, 1 thread";  // plain loops have no more
#ifdef POET_HAS_ONEDNN
  if (options.library != KernelLibrary::reference) {
    text = onednn_description();
    if (options.library == KernelLibrary::lean) text += ", lean";
    text += fmt::format(", {}", counted(options.threads, "thread"));
  }
#endif
  return text;
}

}  // namespace poet::runtime
