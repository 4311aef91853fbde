#include "poet/runtime/kernels/reference/reference.h"

#include "poet/runtime/kernels/reference/families.h"
#include "poet/runtime/kernels/reference/strided.h"

namespace poet::runtime {
namespace {

const ReferenceTable& factories() {
  static const ReferenceTable table = [] {
    ReferenceTable all;
    add_activation_kernels(all);
    add_arithmetic_kernels(all);
    add_convolution_kernels(all);
    add_dropout_kernels(all);
    add_gather_kernels(all);
    add_gradient_kernels(all);
    add_layout_kernels(all);
    add_loss_kernels(all);
    add_number_loss_kernels(all);
    add_norm_kernels(all);
    add_global_pool_kernels(all);
    add_pool_kernels(all);
    add_product_kernels(all);
    add_reduction_kernels(all);
    add_integer_kernels(all);
    add_lrn_kernels(all);
    add_recurrent_kernels(all);
    add_resize_kernels(all);
    add_update_kernels(all);
    return all;
  }();
  return table;
}

}  // namespace

bool has_reference_kernel(std::string_view kind) { return factories().contains(kind); }

std::unique_ptr<Kernel> make_reference_kernel(const Graph& graph, OpId op) {
  const OpReader reader(graph, op);
  const auto factory = factories().find(reader.op().kind);
  if (factory == factories().end()) return nullptr;
  std::unique_ptr<Kernel> kernel = factory->second.make(reader);
  if (factory->second.any_strides) return kernel;
  return with_row_major_operands(reader, std::move(kernel));
}

}  // namespace poet::runtime
