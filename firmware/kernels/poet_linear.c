/* y = x weight^T + bias, and its gradients. */
#include <string.h>

#include "poet_gemm.h"
#include "poet_kernels.h"

/* Rows by columns of a matrix that lies row by row, the sums of `depth` products. */
static poet_product product(int32_t rows, int32_t columns, int32_t depth, float* to) {
  poet_product p;
  p.m = rows, p.n = columns, p.k = depth;
  p.c = to, p.c_row = columns, p.c_column = 1;
  p.alpha = 1.0F;
  return p;
}

int poet_linear_forward(const void* shape, void* const* operand, const poet_run* run) {
  poet_linear s;
  poet_product p;
  int32_t row;
  (void)run;
  memcpy(&s, shape, sizeof s);
  p = product(s.rows, s.outs, s.ins, operand[s.result]);
  p.a = operand[0], p.a_row = s.ins, p.a_depth = 1;
  p.b = operand[1], p.b_depth = 1, p.b_column = s.ins;
  p.add = s.from_weight >= 0 || s.bias >= 0;
  if (s.from_weight >= 0) {
    poet_start(p.c, operand[s.from_weight], s.rows * s.outs);
  } else if (s.bias >= 0) {
    for (row = 0; row < s.rows; ++row) poet_start(p.c + row * s.outs, operand[s.bias], s.outs);
  }
  poet_multiply(&p);
  return POET_KERNEL_OK;
}

int poet_linear_backward_input(const void* shape, void* const* operand, const poet_run* run) {
  poet_linear s;
  poet_product p;
  (void)run;
  memcpy(&s, shape, sizeof s);
  p = product(s.rows, s.ins, s.outs, operand[s.result]);
  p.a = operand[0], p.a_row = s.outs, p.a_depth = 1;
  p.b = operand[1], p.b_depth = s.ins, p.b_column = 1;
  p.add = s.from_weight >= 0;
  if (p.add) poet_start(p.c, operand[s.from_weight], s.rows * s.ins);
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
    poet_product p = product(s.outs, s.ins, s.rows, operand[s.weight]);
    p.a = dy, p.a_row = 1, p.a_depth = s.outs;
    p.b = operand[1], p.b_depth = s.ins, p.b_column = 1;
    p.add = s.from_weight >= 0;
    if (p.add) poet_start(p.c, operand[s.from_weight], s.outs * s.ins);
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
