#include "poet_windows.h"

#if defined(__GNUC__)
#define POET_INLINE static inline __attribute__((always_inline))
#else
#define POET_INLINE static inline
#endif

/* With floating point in software tiles gain nothing: one of each height is enough. */
#if defined(__arm__) && !defined(__ARM_FP)
#define POET_SOFT_FLOAT 1
#else
#define POET_SOFT_FLOAT 0
#endif

/* One row of the tile by its columns. */
#define POET_ROW(r, factor)                          \
  do {                                               \
    const float f = (factor);                        \
    c[r][0] += f * x0;                               \
    if (N > 1) c[r][1] += f * x1;                    \
    if (N > 2) c[r][2] += f * x2;                    \
    if (N > 3) c[r][3] += f * x3;                    \
    if (N > 4) c[r][4] += f * x4, c[r][5] += f * x5; \
    if (N > 4) c[r][6] += f * x6, c[r][7] += f * x7; \
  } while (0)

#define POET_X(c, t) (COLUMN ? b0[(t)*TAP + (c)*COLUMN] : b##c[(t)*TAP])
#define POET_W(r, t) (ROW ? a0[(t)*LEFT + (r)*ROW] : a##r[(t)*LEFT])

/* One tap: `t` taps behind the pointers. */
#define POET_TAP(t)                                                       \
  do {                                                                    \
    const float x0 = b0[(t)*TAP];                                         \
    const float x1 = N > 1 ? POET_X(1, t) : 0.0F;                         \
    const float x2 = N > 2 ? POET_X(2, t) : 0.0F;                         \
    const float x3 = N > 3 ? POET_X(3, t) : 0.0F;                         \
    const float x4 = N > 4 ? POET_X(4, t) : 0.0F;                         \
    const float x5 = N > 4 ? POET_X(5, t) : 0.0F;                         \
    const float x6 = N > 4 ? POET_X(6, t) : 0.0F;                         \
    const float x7 = N > 4 ? POET_X(7, t) : 0.0F;                         \
    POET_ROW(0, a0[(t)*LEFT]);                                            \
    if (R > 1) POET_ROW(1, POET_W(1, t));                                 \
    if (R > 2) POET_ROW(2, POET_W(2, t));                                 \
    if (R > 3) POET_ROW(3, POET_W(3, t));                                 \
    (void)x1, (void)x2, (void)x3, (void)x4, (void)x5, (void)x6, (void)x7; \
  } while (0)

#define POET_ADVANCE(left, right)                                                     \
  do {                                                                                \
    a0 += (left);                                                                     \
    if (R > 1 && !ROW) a1 += (left);                                                  \
    if (R > 2 && !ROW) a2 += (left);                                                  \
    if (R > 3 && !ROW) a3 += (left);                                                  \
    b0 += (right);                                                                    \
    if (!COLUMN && N > 1) b1 += (right);                                              \
    if (!COLUMN && N > 2) b2 += (right);                                              \
    if (!COLUMN && N > 3) b3 += (right);                                              \
    if (!COLUMN && N > 4) b4 += (right), b5 += (right), b6 += (right), b7 += (right); \
  } while (0)

#define POET_START_ROW(r)                                                                  \
  do {                                                                                     \
    const float start = s->of_row ? s->of_row[r] : 0.0F;                                   \
    const float* from = to + (r)*row;                                                      \
    if (!s->add) {                                                                         \
      c[r][0] = c[r][1] = c[r][2] = c[r][3] = start;                                       \
      c[r][4] = c[r][5] = c[r][6] = c[r][7] = start;                                       \
    } else {                                                                               \
      c[r][0] = from[0];                                                                   \
      if (N > 1) c[r][1] = from[column];                                                   \
      if (N > 2) c[r][2] = from[2 * column];                                               \
      if (N > 3) c[r][3] = from[3 * column];                                               \
      if (N > 4) c[r][4] = from[4 * column], c[r][5] = from[5 * column];                   \
      if (N > 4) c[r][6] = from[6 * column], c[r][7] = from[7 * column];                   \
      if (s->of_row) {                                                                     \
        c[r][0] += start;                                                                  \
        if (N > 1) c[r][1] += start;                                                       \
        if (N > 2) c[r][2] += start;                                                       \
        if (N > 3) c[r][3] += start;                                                       \
        if (N > 4) c[r][4] += start, c[r][5] += start, c[r][6] += start, c[r][7] += start; \
      }                                                                                    \
    }                                                                                      \
  } while (0)

#define POET_STORE_ROW(r)                                              \
  do {                                                                 \
    float* out = to + (r)*row;                                         \
    if (skip == 0) {                                                   \
      out[0] = c[r][0];                                                \
      if (N > 1) out[column] = c[r][1];                                \
      if (N > 2) out[2 * column] = c[r][2];                            \
      if (N > 3) out[3 * column] = c[r][3];                            \
      if (N > 4) out[4 * column] = c[r][4], out[5 * column] = c[r][5]; \
      if (N > 4) out[6 * column] = c[r][6], out[7 * column] = c[r][7]; \
    } else if (N > 3) {                                                \
      if (skip <= 1) out[column] = c[r][1];                            \
      if (skip <= 2) out[2 * column] = c[r][2];                        \
      if (skip <= 3) out[3 * column] = c[r][3];                        \
      if (N > 4) out[4 * column] = c[r][4];                            \
      if (N > 4 && skip <= 5) out[5 * column] = c[r][5];               \
      if (N > 4 && skip <= 6) out[6 * column] = c[r][6];               \
      if (N > 4) out[7 * column] = c[r][7];                            \
    }                                                                  \
  } while (0)

/* R rows by N columns, all over the points: tiles that end where the columns do, the last of them without
 * its first `skip` columns, which another one has. TAPS: of a line, 0: any number. The others are distances,
 * where these are known, or 0: on the left side from tap to tap and from row to row, on the right side from
 * tap to tap and from column to column, of the result from column to column. */
POET_INLINE void tiles(const int R, const int N, const int TAPS, const int LEFT, const int ROW, const int TAP,
                       const int COLUMN, const int OUT, const poet_sums* s, const poet_points* points,
                       int32_t across, int32_t skip) {
  const int32_t next_row = s->left.next, next_column = COLUMN ? COLUMN : s->right.next;
  const int32_t left_tap = LEFT ? LEFT : s->left.tap, right_tap = TAP ? TAP : s->right.tap;
  const int32_t left_line = s->left.line - (TAPS ? 0 : s->taps * left_tap);
  const int32_t right_line = s->right.line - (TAPS ? 0 : s->taps * right_tap);
  const int32_t left_channel = s->left.channel - s->lines * s->left.line;
  const int32_t right_channel = s->right.channel - s->lines * s->right.line;
  const int32_t row = points->row, column = OUT ? OUT : points->column;
  int32_t point_line, tile;
  for (point_line = 0; point_line < points->lines; ++point_line) {
    const float* right = s->right.at + point_line * points->right_line;
    float* to = points->at + point_line * points->line;
    for (tile = across; tile > 0; --tile, right += N * next_column, to += N * column) {
      const float *a0 = s->left.at, *b0 = right;
      const float *a1 = R > 1 ? a0 + next_row : a0, *b1 = N > 1 ? b0 + next_column : b0;
      const float *a2 = R > 2 ? a1 + next_row : a0, *b2 = N > 2 ? b1 + next_column : b0;
      const float *a3 = R > 3 ? a2 + next_row : a0, *b3 = N > 3 ? b2 + next_column : b0;
      const float *b4 = N > 4 ? b3 + next_column : b0, *b5 = N > 4 ? b4 + next_column : b0;
      const float *b6 = N > 4 ? b5 + next_column : b0, *b7 = N > 4 ? b6 + next_column : b0;
      int32_t left, line, t;
      float c[4][8];
      POET_START_ROW(0);
      if (R > 1) POET_START_ROW(1);
      if (R > 2) POET_START_ROW(2);
      if (R > 3) POET_START_ROW(3);
      for (left = s->channels * s->lines, line = s->lines; left > 0; --left) {
        if (TAPS) {
          POET_TAP(0);
          if (TAPS > 1) POET_TAP(1);
          if (TAPS > 2) POET_TAP(2);
        } else {
          t = s->taps;
          for (; LEFT == 1 && TAP == 1 && R * N < 12 && t >= 4; t -= 4) {
            POET_TAP(0);
            POET_TAP(1);
            POET_TAP(2);
            POET_TAP(3);
            POET_ADVANCE(4, 4);
          }
          for (; t > 0; --t) {
            POET_TAP(0);
            POET_ADVANCE(left_tap, right_tap);
          }
        }
        POET_ADVANCE(left_line, right_line);
        if (--line > 0) continue; /* one loop: two take more instructions */
        POET_ADVANCE(left_channel, right_channel);
        line = s->lines;
      }
      POET_STORE_ROW(0);
      if (R > 1) POET_STORE_ROW(1);
      if (R > 2) POET_STORE_ROW(2);
      if (R > 3) POET_STORE_ROW(3);
    }
  }
}

/* What is compiled as a loop of its own. Three taps of neighbouring points, of every other one, backwards;
 * two taps of a phase backwards; columns that are neighbours, by rows of filters of nine, by rows whose taps
 * or which themselves are neighbours; taps that are neighbours on both sides; anything. */
enum {
  THREE,
  THREE_APART,
  THREE_BACK,
  TWO_BACK,
  OF_NINE,
  ROWS_OF_TAPS,
  COLUMNS_OF_ROWS,
  NEIGHBOURS,
  DOTS,
  ANY
};

static int kind_of(const poet_sums* s, const poet_points* points) {
  const poet_factors *left = &s->left, *right = &s->right;
  const int out = points->column == 1, three = s->taps == 3 && left->tap == 1 && out;
  if (POET_SOFT_FLOAT) return ANY;
  if (three && right->next == 1 && right->tap == 1) return THREE;
  if (three && right->next == 1 && right->tap == -1 && left->next == 9) return THREE_BACK;
  if (three && right->next == 2 && right->tap == 1) return THREE_APART;
  if (right->next != 1) return left->tap == 1 && right->tap == 1 ? DOTS : ANY;
  if (left->next == 9) return s->taps == 2 && left->tap == 2 && right->tap == -1 ? TWO_BACK : OF_NINE;
  return !out ? NEIGHBOURS : left->tap == 1 ? ROWS_OF_TAPS : left->next == 1 ? COLUMNS_OF_ROWS : NEIGHBOURS;
}

/* `all`: has all these loops; else only the last three. */
POET_INLINE void of_size(const int R, const int N, const int all, const poet_sums* s,
                         const poet_points* points, int32_t across, int32_t skip) {
#if !POET_SOFT_FLOAT
  const int kind = kind_of(s, points);
  if (all && kind == THREE) {
    tiles(R, N, 3, 1, 0, 1, 1, 1, s, points, across, skip);
  } else if (all && kind == THREE_APART) {
    tiles(R, N, 3, 1, 0, 1, 2, 1, s, points, across, skip);
  } else if (all && kind == THREE_BACK) {
    tiles(R, N, 3, 1, 9, -1, 1, 1, s, points, across, skip);
  } else if (all && kind == TWO_BACK) {
    tiles(R, N, 2, 2, 9, -1, 1, 0, s, points, across, skip);
  } else if (all && kind == OF_NINE) {
    tiles(R, N, 0, 0, 9, 0, 1, 0, s, points, across, skip);
  } else if (all && kind == ROWS_OF_TAPS) {
    tiles(R, N, 0, 1, 0, 0, 1, 1, s, points, across, skip);
  } else if (all && R > 1 && kind == COLUMNS_OF_ROWS) {
    tiles(R, N, 0, 0, 1, 0, 1, 1, s, points, across, skip);
  } else if (kind == DOTS && (N <= 4 || R == 1)) {
    tiles(R, N, 0, 1, 0, 1, 0, 0, s, points, across, skip);
  } else if (s->right.next == 1) {
    tiles(R, N, 0, 0, 0, 0, 1, 0, s, points, across, skip);
  } else
#endif
      if (N <= 4)
    tiles(R, N, 0, 0, 0, 0, 0, 0, s, points, across, skip);
}

#define POET_OF_SIZE(name, R, N, all)                                                             \
  static void name(const poet_sums* s, const poet_points* points, int32_t across, int32_t skip) { \
    of_size(R, N, all, s, points, across, skip);                                                  \
  }
POET_OF_SIZE(four_rows, 4, 4, 1)
POET_OF_SIZE(three_rows, 3, 4, 1)
POET_OF_SIZE(two_rows, 2, 4, 0)
POET_OF_SIZE(one_row, 1, 4, 0)
#if !POET_SOFT_FLOAT
POET_OF_SIZE(two_wide_rows, 2, 8, 1)
POET_OF_SIZE(one_wide_row, 1, 8, 1)
#endif

static void points_alone(const poet_sums* s, const poet_points* points, int32_t across, int32_t skip) {
  if (!POET_SOFT_FLOAT && s->left.tap == 1 && s->right.tap == 1) {
    tiles(1, 1, 0, 1, 0, 1, 0, 0, s, points, across, skip);
  } else {
    tiles(1, 1, 0, 0, 0, 0, 0, 0, s, points, across, skip);
  }
}
#if !POET_SOFT_FLOAT
static void two_by_two(const poet_sums* s, const poet_points* points, int32_t across, int32_t skip) {
  if (s->left.tap == 1 && s->right.tap == 1) {
    tiles(2, 2, 0, 1, 0, 1, 0, 0, s, points, across, skip);
  } else {
    tiles(2, 2, 0, 0, 0, 0, 0, 0, s, points, across, skip);
  }
}
static void three_by_three(const poet_sums* s, const poet_points* points, int32_t across, int32_t skip) {
  if (s->left.tap == 1 && s->right.tap == 1) {
    tiles(3, 3, 0, 1, 0, 1, 0, 0, s, points, across, skip);
  } else {
    tiles(3, 3, 0, 0, 0, 0, 0, 0, s, points, across, skip);
  }
}
#endif

typedef void (*tiles_of_size)(const poet_sums* s, const poet_points* points, int32_t across, int32_t skip);

static const tiles_of_size narrow[4] = {one_row, two_rows, three_rows, four_rows};

/* Up to four rows: the widest tiles that fit, and one that ends with the columns where some are left. */
static void some_rows(const poet_sums* s, const poet_points* points) {
  tiles_of_size of = narrow[points->rows - 1];
  int32_t width = 4, rest;
#if !POET_SOFT_FLOAT
  if (points->rows <= 2 && points->columns >= 8) {
    const int kind = kind_of(s, points);
    if (kind < DOTS || (kind == DOTS && points->rows == 1))
      of = points->rows == 1 ? one_wide_row : two_wide_rows, width = 8;
  }
#endif
  rest = points->columns % width;
  if (points->columns >= width) of(s, points, points->columns / width, 0);
  if (rest > 0) {
    const int32_t last_width = rest <= 4 ? 4 : 8, first = points->columns - last_width;
    poet_points left = *points;
    poet_sums last = *s;
    left.at += first * left.column, last.right.at += first * last.right.next;
    if (rest <= 4) of = narrow[points->rows - 1];
    of(&last, &left, 1, last_width - rest);
  }
}

/* A loop of one turn is none. */
static void join_loops(poet_sums* s) {
  if (s->taps == 1) {
    s->taps = s->lines, s->left.tap = s->left.line, s->right.tap = s->right.line;
    s->lines = 1;
  }
  if (s->lines == 1) s->left.line = s->right.line = 0;
  if (s->taps == 1 && s->lines == 1) {
    s->taps = s->channels, s->left.tap = s->left.channel, s->right.tap = s->right.channel;
    s->channels = 1;
  }
}

/* How many rows of so few columns a tile has. */
static int32_t low_rows(int32_t rows, int32_t columns) {
  return !POET_SOFT_FLOAT && columns > 1 && columns <= 3 && rows >= columns ? columns : 1;
}

void poet_windows(const poet_sums* s, const poet_points* points) {
  poet_points some = *points;
  poet_sums sums = *s;
  int32_t row;
  join_loops(&sums);
  if (points->columns < 4 && points->lines > points->columns) { /* downwards */
    some.columns = points->lines, some.column = points->line, sums.right.next = points->right_line;
    some.lines = points->columns, some.line = points->column, some.right_line = s->right.next;
  }
  for (row = 0; row < points->rows; row += some.rows) {
    const int32_t rows = points->rows - row;
    some.rows = some.columns < 4 ? low_rows(rows, some.columns) : rows < 4 ? rows : 4;
    some.at = points->at + row * points->row;
    sums.left.at = s->left.at + row * s->left.next;
    sums.of_row = s->of_row ? s->of_row + row : 0;
    if (some.columns >= 4) {
      some_rows(&sums, &some);
#if !POET_SOFT_FLOAT
    } else if (some.rows > 1) {
      (some.rows == 2 ? two_by_two : three_by_three)(&sums, &some, 1, 0);
#endif
    } else {
      points_alone(&sums, &some, some.columns, 0);
    }
  }
}
