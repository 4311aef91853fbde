#include <algorithm>
#include <cstddef>
#include <string>

#include "poet/runtime/kernels/reference/convolution_kernels.h"
#include "poet/runtime/kernels/reference/families.h"

namespace poet::runtime {

void add_convolution_kernels(ReferenceTable& table) {
  for (const std::string axes : {"2d", "3d"}) {
    table["conv" + axes] = {[](const OpReader& op) {
      return towards_y(op, convolution_of(op, op.in(0), op.in(1), op.out(0)), op.inputs() > 2);
    }};
    table["conv" + axes + "_backward_input"] = {[](const OpReader& op) {
      return towards_x(op, convolution_of(op, op.out(0), op.in(1), op.in(0)), false);
    }};
    table["conv" + axes + "_backward_weight"] = {[](const OpReader& op) {
      const auto weight = static_cast<std::size_t>(std::max(0, op.gradient(1, {1, 2})));
      return towards_weight(op, convolution_of(op, op.in(1), op.out(weight), op.in(0)), false);
    }};
    table["conv_transpose" + axes] = {[](const OpReader& op) {
      return towards_x(op, convolution_of(op, op.out(0), op.in(1), op.in(0)), op.inputs() > 2);
    }};
    table["conv_transpose" + axes + "_backward_input"] = {[](const OpReader& op) {
      return towards_y(op, convolution_of(op, op.in(0), op.in(1), op.out(0)), false);
    }};
    table["conv_transpose" + axes + "_backward_weight"] = {[](const OpReader& op) {
      const auto weight = static_cast<std::size_t>(std::max(0, op.gradient(1, {1, 2})));
      return towards_weight(op, convolution_of(op, op.in(0), op.out(weight), op.in(1)), true);
    }};
    for (const std::string kind : {"conv", "conv_transpose"}) {
      table[kind + axes + "_backward_bias"] = {towards_bias};
    }
  }
}

}  // namespace poet::runtime
