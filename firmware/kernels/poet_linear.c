/* y = x weight^T + bias, and its gradients. */
#include <string.h>

#include "poet_gemm.h"
#include "poet_kernels.h"

int poet_linear_forward(const void* shape, void* const* operand, const poet_run* run) {
  poet_linear s;
  poet_product p;
  (void)run;
  memcpy(&s, shape, sizeof s);
  p.m = s.rows, p.n = s.outs, p.k = s.ins;
  p.a = operand[0], p.a_row = s.ins, p.a_depth = 1;
  p.b = operand[1], p.b_depth = 1, p.b_column = s.ins;
  p.c = operand[s.result], p.c_row = s.outs, p.c_column = 1;
  p.alpha = 1.0F;
  p.add = s.from_weight >= 0;
  if (p.add) poet_start(p.c, operand[s.from_weight], s.rows * s.outs);
  p.of_column = s.bias >= 0 ? operand[s.bias] : 0;
  poet_multiply(&p);
  return POET_KERNEL_OK;
}

int poet_linear_backward_input(const void* shape, void* const* operand, const poet_run* run) {
  poet_linear s;
  poet_product p;
  (void)run;
  memcpy(&s, shape, sizeof s);
  p.m = s.rows, p.n = s.ins, p.k = s.outs;
  p.a = operand[0], p.a_row = s.outs, p.a_depth = 1;
  p.b = operand[1], p.b_depth = s.ins, p.b_column = 1;
  p.c = operand[s.result], p.c_row = s.ins, p.c_column = 1;
  p.alpha = 1.0F;
  p.add = s.from_weight >= 0;
  if (p.add) poet_start(p.c, operand[s.from_weight], s.rows * s.ins);
  p.of_column = 0;
  poet_multiply(&p);
  return POET_KERNEL_OK;
}

int poet_linear_backward_weight(const void* shape, void* const* operand, const poet_run* run) {
  const float* dy = operand[0];
  poet_linear s;
  int32_t r, i;
  (void)run;
  memcpy(&s, shape, sizeof s);
  if (s.weight >= 0) {
    poet_product p;
    p.m = s.outs, p.n = s.ins, p.k = s.rows;
    p.a = dy, p.a_row = 1, p.a_depth = s.outs;
    p.b = operand[1], p.b_depth = s.ins, p.b_column = 1;
    p.c = operand[s.weight], p.c_row = s.ins, p.c_column = 1;
    p.alpha = 1.0F;
    p.add = s.from_weight >= 0;
    if (p.add) poet_start(p.c, operand[s.from_weight], s.outs * s.ins);
    p.of_column = 0;
    poet_multiply(&p);
  }
  if (s.bias >= 0) {
    float* to = operand[s.bias];
    poet_start(to, s.from_bias >= 0 ? operand[s.from_bias] : 0, s.outs);
    for (r = 0; r < s.rows; ++r) {
      for (i = 0; i < s.outs; ++i) to[i] += dy[r * s.outs + i];
    }
  }
  return POET_KERNEL_OK;
}
