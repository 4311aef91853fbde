/* Products of matrices of any strides, whose leading axes broadcast. */
#include <string.h>

#include "poet_gemm.h"
#include "poet_nest.h"

int poet_matmul_forward(const void* shape, void* const* operand, const poet_run* run) {
  poet_matmul s;
  poet_walk outer;
  poet_product p;
  float* c;
  (void)run;
  memcpy(&s, shape, sizeof s);
  memset(&outer, 0, sizeof outer);
  c = operand[s.result];
  if (s.from >= 0) poet_start(c, operand[s.from], s.count);
  p.m = s.m, p.n = s.n, p.k = s.k, p.alpha = s.alpha;
  p.a_row = s.a[0], p.a_depth = s.a[1];
  p.b_depth = s.b[0], p.b_column = s.b[1];
  p.c_row = s.c[0], p.c_column = s.c[1];
  do {
    int32_t i;
    for (i = 0; i < s.products.count; ++i) {
      poet_walk inner;
      memset(&inner, 0, sizeof inner);
      p.add = s.from >= 0;
      p.c = c + outer.at[0] + i * s.products.step[0];
      do {
        int32_t k;
        for (k = 0; k < s.terms.count; ++k) {
          p.a = (const float*)operand[0] + outer.at[1] + i * s.products.step[1] + inner.at[0] +
                k * s.terms.step[0];
          p.b = (const float*)operand[1] + outer.at[2] + i * s.products.step[2] + inner.at[1] +
                k * s.terms.step[1];
          poet_multiply(&p);
          p.add = 1;
        }
      } while (poet_next_run(&s.terms, &inner));
    }
  } while (poet_next_run(&s.products, &outer));
  return POET_KERNEL_OK;
}
