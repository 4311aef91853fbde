#include "poet_gemm.h"

#include "poet_windows.h"

enum {
  SCALED = 32 /* of the depth that is multiplied by alpha at once */
};

/* A matrix of one column is one of one row, lying the other way. */
static void turn(poet_product* p) {
  const poet_product t = *p;
  p->m = t.n, p->n = t.m;
  p->a = t.b, p->a_row = t.b_column, p->a_depth = t.b_depth;
  p->b = t.a, p->b_column = t.a_row, p->b_depth = t.a_depth;
  p->c_row = t.c_column, p->c_column = t.c_row;
}

static void in_tiles(const poet_product* p) {
  poet_points c;
  poet_sums s;
  c.at = p->c, c.rows = p->m, c.columns = p->n, c.lines = 1;
  c.row = p->c_row, c.column = p->c_column, c.line = c.right_line = 0;
  s.left.at = p->a, s.left.next = p->a_row, s.left.tap = p->a_depth;
  s.right.at = p->b, s.right.next = p->b_column, s.right.tap = p->b_depth;
  s.left.line = s.left.channel = s.right.line = s.right.channel = 0;
  s.taps = p->k, s.lines = s.channels = 1;
  s.add = p->add, s.of_row = 0;
  poet_windows(&s, &c);
}

/* Four rows of alpha a at a time. */
static void in_scaled_tiles(const poet_product* p) {
  float scaled[4 * SCALED];
  int32_t m, k, i, j;
  for (m = 0; m < p->m; m += 4) {
    for (k = 0; k < p->k; k += SCALED) {
      poet_product some = *p;
      some.m = p->m - m < 4 ? p->m - m : 4, some.k = p->k - k < SCALED ? p->k - k : SCALED;
      for (i = 0; i < some.m; ++i) {
        const float* from = p->a + (m + i) * p->a_row + k * p->a_depth;
        for (j = 0; j < some.k; ++j, from += p->a_depth) scaled[i * SCALED + j] = p->alpha * *from;
      }
      some.a = scaled, some.a_row = SCALED, some.a_depth = 1;
      some.b += k * p->b_depth, some.c += m * p->c_row;
      some.add = p->add || k > 0;
      in_tiles(&some);
    }
  }
}

void poet_multiply(const poet_product* p) {
  poet_product turned = *p;
  if (p->alpha != 1.0F) {
    in_scaled_tiles(p);
    return;
  }
  if (p->n < 4 && p->m > p->n) turn(&turned);
  in_tiles(&turned);
}
