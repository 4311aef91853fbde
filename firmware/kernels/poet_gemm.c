#include "poet_gemm.h"

#include "poet_inline.h"
#include "poet_windows.h"

enum {
  SHORT = 16, /* with more depth tiles are faster */
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

/* STEPS of the depth, 1 to 3, with eight columns of b, which stay in registers. */
#define POET_COLUMN(i)                                              \
  const float x##i = b[i], y##i = STEPS > 1 ? b[next + (i)] : 0.0F, \
              z##i = STEPS > 2 ? b[2 * next + (i)] : 0.0F
#define POET_ELEMENT(i)             \
  do {                              \
    float sum = ADD ? to[i] : 0.0F; \
    sum += f * x##i;                \
    if (STEPS > 1) sum += g * y##i; \
    if (STEPS > 2) sum += h * z##i; \
    to[i] = sum;                    \
  } while (0)
POET_INLINE void eight_columns(const int STEPS, const int ADD, const poet_product* p, const float* a,
                               const float* b, float* to) {
  const int32_t next = p->b_depth, depth = p->a_depth, c_row = p->c_row;
  int32_t m;
  POET_COLUMN(0);
  POET_COLUMN(1);
  POET_COLUMN(2);
  POET_COLUMN(3);
  POET_COLUMN(4);
  POET_COLUMN(5);
  POET_COLUMN(6);
  POET_COLUMN(7);
  for (m = p->m; m > 0; --m, ++a, to += c_row) {
    const float f = a[0], g = STEPS > 1 ? a[depth] : 0.0F, h = STEPS > 2 ? a[2 * depth] : 0.0F;
    POET_ELEMENT(0);
    POET_ELEMENT(1);
    POET_ELEMENT(2);
    POET_ELEMENT(3);
    POET_ELEMENT(4);
    POET_ELEMENT(5);
    POET_ELEMENT(6);
    POET_ELEMENT(7);
    (void)g, (void)h;
  }
}

/* Short sums: tiles would be little else than starts and ends. */
static void in_columns(const poet_product* p) {
  poet_product rest = *p;
  int32_t n, k, steps;
  for (n = 0; n + 8 <= p->n; n += 8) {
    for (k = 0; k < p->k; k += steps) {
      const int32_t left = p->k - k;
      const float *a = p->a + k * p->a_depth, *b = p->b + k * p->b_depth + n;
      const int add = p->add || k > 0;
      steps = left == 2 || left == 4 ? 2 : left < 3 ? left : 3;
      if (steps == 1) {
        add ? eight_columns(1, 1, p, a, b, p->c + n) : eight_columns(1, 0, p, a, b, p->c + n);
      } else if (steps == 2) {
        add ? eight_columns(2, 1, p, a, b, p->c + n) : eight_columns(2, 0, p, a, b, p->c + n);
      } else {
        add ? eight_columns(3, 1, p, a, b, p->c + n) : eight_columns(3, 0, p, a, b, p->c + n);
      }
    }
  }
  rest.b += n, rest.c += n, rest.n -= n;
  if (rest.n > 0) in_tiles(&rest);
}

void poet_multiply(const poet_product* p) {
  poet_product turned = *p;
  if (p->alpha != 1.0F) {
    in_scaled_tiles(p);
    return;
  }
  if (p->k > 0 && p->k <= SHORT && p->m >= 4 && p->a_row == 1 && p->b_column == 1 && p->c_column == 1) {
    in_columns(p);
    return;
  }
  if (p->n < 4 && p->m > p->n) turn(&turned);
  in_tiles(&turned);
}
