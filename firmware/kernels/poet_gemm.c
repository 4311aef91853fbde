#include "poet_gemm.h"

enum { RUN = 32 }; /* of the depth that is packed at once */

/* Four rows. The compiler makes a loop of its own for each of the ways in which operands lie. */
static void four_rows(float* tile, const poet_left* left, int32_t runs, const float* b, int32_t b_step) {
  const int32_t row = left->row, depth = left->depth;
  const float *a0 = left->at, *a1 = a0 + row, *a2 = a1 + row, *a3 = a2 + row;
  float c00 = tile[0], c01 = tile[1], c02 = tile[2], c03 = tile[3];
  float c10 = tile[4], c11 = tile[5], c12 = tile[6], c13 = tile[7];
  float c20 = tile[8], c21 = tile[9], c22 = tile[10], c23 = tile[11];
  float c30 = tile[12], c31 = tile[13], c32 = tile[14], c33 = tile[15];
  int32_t outer = left->runs;
#define POET_STEP(A0, A1, A2, A3)                               \
  do {                                                          \
    const float b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3];     \
    float a = (A0);                                             \
    c00 += a * b0, c01 += a * b1, c02 += a * b2, c03 += a * b3; \
    a = (A1);                                                   \
    c10 += a * b0, c11 += a * b1, c12 += a * b2, c13 += a * b3; \
    a = (A2);                                                   \
    c20 += a * b0, c21 += a * b1, c22 += a * b2, c23 += a * b3; \
    a = (A3);                                                   \
    c30 += a * b0, c31 += a * b1, c32 += a * b2, c33 += a * b3; \
  } while (0)
  for (; runs > 0; --runs) {
    int32_t k;
    if (row == 1) { /* neighbours in one column */
      for (k = left->run; k > 0; --k, a0 += depth, b += b_step) POET_STEP(a0[0], a0[1], a0[2], a0[3]);
      a0 += left->jump;
      if (--outer == 0) a0 += left->leap, outer = left->runs;
      continue;
    }
    if (depth == 1 && b_step == 4) { /* rows of neighbours, packed columns */
      for (k = left->run; k > 0; --k, b += 4) POET_STEP(*a0++, *a1++, *a2++, *a3++);
    } else if (depth == 1) {
      for (k = left->run; k > 0; --k, b += b_step) POET_STEP(*a0++, *a1++, *a2++, *a3++);
    } else {
      for (k = left->run; k > 0; --k, b += b_step) {
        POET_STEP(*a0, *a1, *a2, *a3);
        a0 += depth, a1 += depth, a2 += depth, a3 += depth;
      }
    }
    a0 += left->jump, a1 += left->jump, a2 += left->jump, a3 += left->jump;
    if (--outer == 0) {
      a0 += left->leap, a1 += left->leap, a2 += left->leap, a3 += left->leap;
      outer = left->runs;
    }
  }
#undef POET_STEP
  tile[0] = c00, tile[1] = c01, tile[2] = c02, tile[3] = c03;
  tile[4] = c10, tile[5] = c11, tile[6] = c12, tile[7] = c13;
  tile[8] = c20, tile[9] = c21, tile[10] = c22, tile[11] = c23;
  tile[12] = c30, tile[13] = c31, tile[14] = c32, tile[15] = c33;
}

static void one_row(float* tile, const poet_left* left, int32_t runs, const float* b, int32_t b_step) {
  const float* a = left->at;
  float c0 = tile[0], c1 = tile[1], c2 = tile[2], c3 = tile[3];
  int32_t outer = left->runs;
  for (; runs > 0; --runs) {
    int32_t k;
    for (k = left->run; k > 0; --k, a += left->depth, b += b_step) {
      const float a0 = *a;
      c0 += a0 * b[0], c1 += a0 * b[1], c2 += a0 * b[2], c3 += a0 * b[3];
    }
    a += left->jump;
    if (--outer == 0) a += left->leap, outer = left->runs;
  }
  tile[0] = c0, tile[1] = c1, tile[2] = c2, tile[3] = c3;
}

void poet_tile(float tile[16], int32_t depth, const poet_left* left, int32_t rows, const float* b,
               int32_t b_step) {
  const int32_t runs = depth / left->run;
  if (rows == 4) {
    four_rows(tile, left, runs, b, b_step);
  } else {
    poet_left row = *left;
    int32_t r;
    for (r = 0; r < rows; ++r, row.at += left->row) one_row(tile + 4 * r, &row, runs, b, b_step);
  }
}

/* One row, columns of neighbours: dot products side by side. */
static void dot_products(float* tile, int32_t depth, const float* a, int32_t a_step, const float* b,
                         int32_t b_column, int32_t columns) {
  int32_t c, k;
  if (columns == 4) {
    const float *b0 = b, *b1 = b0 + b_column, *b2 = b1 + b_column, *b3 = b2 + b_column;
    float c0 = tile[0], c1 = tile[1], c2 = tile[2], c3 = tile[3];
    for (k = depth; k > 0; --k, a += a_step) {
      const float a0 = *a;
      c0 += a0 * *b0++, c1 += a0 * *b1++, c2 += a0 * *b2++, c3 += a0 * *b3++;
    }
    tile[0] = c0, tile[1] = c1, tile[2] = c2, tile[3] = c3;
    return;
  }
  for (c = 0; c < columns; ++c, b += b_column) {
    const float* from = a;
    float sum = tile[c];
    for (k = 0; k < depth; ++k, from += a_step) sum += *from * b[k];
    tile[c] = sum;
  }
}

/* to[k * 4 + i] = factor * from[k * depth + i * width], 0 for i behind `count`. */
static void pack(float* to, const float* from, int32_t depth, int32_t steps, int32_t width, int32_t count,
                 float factor) {
  int32_t i, k;
  for (i = 0; i < 4; ++i) {
    for (k = 0; k < steps; ++k)
      to[4 * k + i] = i >= count       ? 0.0F
                      : factor == 1.0F ? from[k * depth + i * width]
                                       : factor * from[k * depth + i * width];
  }
}

static void start_tile(const poet_product* p, int add, int32_t m, int32_t rows, int32_t n, int32_t columns,
                       float* tile) {
  int32_t r, c;
  for (r = 0; r < 4; ++r) {
    for (c = 0; c < 4; ++c) {
      float x = 0.0F;
      if (r < rows && c < columns) {
        if (add) {
          x = p->c[(m + r) * p->c_row + (n + c) * p->c_column];
        } else if (p->of_column) {
          x = p->of_column[n + c];
        }
      }
      tile[4 * r + c] = x;
    }
  }
}

static void store_tile(const poet_product* p, int32_t m, int32_t rows, int32_t n, int32_t columns,
                       const float* tile) {
  int32_t r, c;
  for (r = 0; r < rows; ++r) {
    float* to = p->c + (m + r) * p->c_row + n * p->c_column;
    for (c = 0; c < columns; ++c) to[c * p->c_column] = tile[4 * r + c];
  }
}

/* One tile of the result, its whole depth. */
static void one_tile(const poet_product* p, int32_t m, int32_t rows, int32_t n, int32_t columns,
                     float* tile) {
  const float* a = p->a + m * p->a_row;
  const float* b = p->b + n * p->b_column;
  const int pack_left = p->alpha != 1.0F || (p->a_row != 1 && p->a_depth != 1 && rows > 1);
  const int pack_right = p->b_column != 1 || columns < 4;
  float left_panel[4 * RUN], right_panel[4 * RUN];
  int32_t k, step;
  if (rows == 1 && p->alpha == 1.0F && p->b_depth == 1) {
    dot_products(tile, p->k, a, p->a_depth, b, p->b_column, columns);
    return;
  }
  step = pack_left || pack_right ? RUN : p->k;
  for (k = 0; k < p->k; k += step) {
    const int32_t depth = p->k - k < step ? p->k - k : step;
    poet_left left;
    left.at = a + k * p->a_depth, left.row = p->a_row, left.depth = p->a_depth;
    left.run = depth, left.jump = 0, left.runs = 1, left.leap = 0;
    if (pack_left) {
      pack(left_panel, left.at, p->a_depth, depth, p->a_row, rows, p->alpha);
      left.at = left_panel, left.row = 1, left.depth = 4;
    }
    if (pack_right) {
      pack(right_panel, b + k * p->b_depth, p->b_depth, depth, p->b_column, columns, 1.0F);
      poet_tile(tile, depth, &left, rows, right_panel, 4);
    } else {
      poet_tile(tile, depth, &left, rows, b + k * p->b_depth, p->b_depth);
    }
  }
}

void poet_multiply(const poet_product* p) {
  int32_t m, n;
  for (n = 0; n < p->n; n += 4) {
    const int32_t columns = p->n - n < 4 ? p->n - n : 4;
    for (m = 0; m < p->m; m += 4) {
      const int32_t rows = p->m - m < 4 ? p->m - m : 4;
      float tile[16];
      start_tile(p, p->add, m, rows, n, columns, tile);
      one_tile(p, m, rows, n, columns, tile);
      store_tile(p, m, rows, n, columns, tile);
    }
  }
}
