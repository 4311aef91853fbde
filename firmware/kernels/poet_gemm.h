/* Products of matrices. Every element is its start plus its products one by one in order of depth. */
#ifndef POET_GEMM_H
#define POET_GEMM_H

#include <stdint.h>

/* c[m * c_row + n * c_column] = its start + the sum over k of (alpha a[m * a_row + k * a_depth]) b[k *
 * b_depth + n * b_column]. */
typedef struct poet_product {
  int32_t m, n, k;
  const float *a, *b;
  float* c;
  int32_t a_row, a_depth, b_depth, b_column, c_row, c_column;
  float alpha;
  int add; /* the start is what is in c; else 0 */
} poet_product;
void poet_multiply(const poet_product* p);

#endif
