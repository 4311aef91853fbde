/* Products of matrices in tiles of 4 rows by 4 columns, which stay in registers. Every element is its start
 * plus its products one by one in order of depth, so its bits do not depend on how a product is cut into
 * tiles and runs. */
#ifndef POET_GEMM_H
#define POET_GEMM_H

#include <stdint.h>

/* The left operand of a tile: row r of depth k lies at at[r * row + k * depth]. Along the depth it may come
 * in runs: after every `run` steps `jump` more elements are skipped, and after every `runs` such runs `leap`
 * more. A plain matrix is one run. */
typedef struct poet_left {
  const float* at;
  int32_t row, depth;
  int32_t run, jump;
  int32_t runs, leap;
} poet_left;

/* tile[r * 4 + c] += the sum over k < depth of left(r, k) * b[k * b_step + c]. `rows` below 4: the others are
 * not read. `depth` is a whole number of runs, of `runs` runs where leap is not 0. */
void poet_tile(float tile[16], int32_t depth, const poet_left* left, int32_t rows, const float* b,
               int32_t b_step);

/* c[m * c_row + n * c_column] = its start + the sum over k of (alpha a[m * a_row + k * a_depth]) b[k *
 * b_depth + n * b_column]. */
typedef struct poet_product {
  int32_t m, n, k;
  const float *a, *b;
  float* c;
  int32_t a_row, a_depth, b_depth, b_column, c_row, c_column;
  float alpha;
  int add;                /* the start is what is in c; else one of these, or 0: */
  const float* of_column; /* one number per column */
} poet_product;
void poet_multiply(const poet_product* p);

#endif
