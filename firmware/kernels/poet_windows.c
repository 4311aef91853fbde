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
#define POET_ROW(r, factor)   \
  do {                        \
    const float f = (factor); \
    c[r][0] += f * x0;        \
    if (N > 1) {              \
      c[r][1] += f * x1;      \
      c[r][2] += f * x2;      \
      c[r][3] += f * x3;      \
    }                         \
    if (N > 4) {              \
      c[r][4] += f * x4;      \
      c[r][5] += f * x5;      \
      c[r][6] += f * x6;      \
      c[r][7] += f * x7;      \
    }                         \
  } while (0)

/* One tap: `t` taps behind the pointers. */
#define POET_TAP(t)                                                                  \
  do {                                                                               \
    const float x0 = b0[(t)*TAP];                                                    \
    const float x1 = N > 1 ? (COLUMN ? b0[(t)*TAP + COLUMN] : b1[(t)*TAP]) : 0.0F;   \
    const float x2 = N > 1 ? (COLUMN ? b0[(t)*TAP + 2 * COLUMN] : b2[(t)*TAP]) : x1; \
    const float x3 = N > 1 ? (COLUMN ? b0[(t)*TAP + 3 * COLUMN] : b3[(t)*TAP]) : x1; \
    const float x4 = N > 4 ? b0[(t)*TAP + 4 * COLUMN] : x1;                          \
    const float x5 = N > 4 ? b0[(t)*TAP + 5 * COLUMN] : x1;                          \
    const float x6 = N > 4 ? b0[(t)*TAP + 6 * COLUMN] : x1;                          \
    const float x7 = N > 4 ? b0[(t)*TAP + 7 * COLUMN] : x1;                          \
    POET_ROW(0, a0[(t)*LEFT]);                                                       \
    if (R > 1) POET_ROW(1, a1[(t)*LEFT]);                                            \
    if (R > 2) POET_ROW(2, a2[(t)*LEFT]);                                            \
    if (R > 3) POET_ROW(3, a3[(t)*LEFT]);                                            \
    (void)x2, (void)x3, (void)x4, (void)x5, (void)x6, (void)x7;                      \
  } while (0)

#define POET_ADVANCE(left, right)                  \
  do {                                             \
    a0 += (left);                                  \
    if (R > 1) a1 += (left);                       \
    if (R > 2) a2 += (left);                       \
    if (R > 3) a3 += (left);                       \
    b0 += (right);                                 \
    if (!COLUMN && N > 1) {                        \
      b1 += (right), b2 += (right), b3 += (right); \
    }                                              \
  } while (0)

#define POET_START_ROW(r)                                                                        \
  do {                                                                                           \
    const float start = s->of_row ? s->of_row[r] : 0.0F;                                         \
    const float* from = to + (r)*row;                                                            \
    if (!s->add) {                                                                               \
      c[r][0] = c[r][1] = c[r][2] = c[r][3] = start;                                             \
      c[r][4] = c[r][5] = c[r][6] = c[r][7] = start;                                             \
    } else {                                                                                     \
      c[r][0] = from[0];                                                                         \
      if (N > 1) c[r][1] = from[column], c[r][2] = from[2 * column], c[r][3] = from[3 * column]; \
      if (N > 4) c[r][4] = from[4 * column], c[r][5] = from[5 * column];                         \
      if (N > 4) c[r][6] = from[6 * column], c[r][7] = from[7 * column];                         \
    }                                                                                            \
  } while (0)

#define POET_STORE_ROW(r)                                                                     \
  do {                                                                                        \
    float* out = to + (r)*row;                                                                \
    if (N == 1 || skip == 0) {                                                                \
      out[0] = c[r][0];                                                                       \
      if (N > 1) out[column] = c[r][1], out[2 * column] = c[r][2], out[3 * column] = c[r][3]; \
      if (N > 4) out[4 * column] = c[r][4], out[5 * column] = c[r][5];                        \
      if (N > 4) out[6 * column] = c[r][6], out[7 * column] = c[r][7];                        \
    } else {                                                                                  \
      if (skip <= 1) out[column] = c[r][1];                                                   \
      if (skip <= 2) out[2 * column] = c[r][2];                                               \
      if (skip <= 3) out[3 * column] = c[r][3];                                               \
      if (N > 4) out[4 * column] = c[r][4];                                                   \
      if (N > 4 && skip <= 5) out[5 * column] = c[r][5];                                      \
      if (N > 4 && skip <= 6) out[6 * column] = c[r][6];                                      \
      if (N > 4) out[7 * column] = c[r][7];                                                   \
    }                                                                                         \
  } while (0)

/* R rows by N columns, all over the points: tiles that end where the columns do, the last of them without
 * its first `skip` columns, which another one has. TAPS: of a line, 0: any number, then TAP does not matter;
 * those of the left side lie one after another. COLUMN: from column to column of what the windows meet, 0:
 * any, then N is at most 4. OUT: of the result, 0: any. */
POET_INLINE void tiles(const int R, const int N, const int TAPS, const int LEFT, const int TAP,
                       const int COLUMN, const int OUT, const poet_sums* s, const poet_points* points,
                       int32_t across, int32_t skip) {
  const int32_t next_row = s->left.next, next_column = COLUMN ? COLUMN : s->right.next;
  const int32_t left_tap = s->left.tap, right_tap = s->right.tap;
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
      const float *a2 = R > 2 ? a1 + next_row : a0, *b2 = N > 1 ? b1 + next_column : b0;
      const float *a3 = R > 3 ? a2 + next_row : a0, *b3 = N > 1 ? b2 + next_column : b0;
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
          for (t = s->taps; t > 0; --t) {
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

/* What is compiled as a loop of its own: three neighbouring taps of neighbouring points, of every other
 * point, backwards; any taps of neighbouring points; any. */
enum { THREE, THREE_APART, THREE_BACK, TWO_BACK, ONE, NEIGHBOURS, ANY };

static int kind_of(const poet_sums* s, const poet_points* points) {
  const int three = s->taps == 3 && s->left.tap == 1 && points->column == 1 && !POET_SOFT_FLOAT;
  if (three && s->right.next == 1 && s->right.tap == 1) return THREE;
  if (three && s->right.next == 2 && s->right.tap == 1) return THREE_APART;
  if (three && s->right.next == 1 && s->right.tap == -1) return THREE_BACK;
  if (s->right.next != 1 || POET_SOFT_FLOAT) return ANY;
  if (s->taps == 2 && s->left.tap == 2 && s->right.tap == -1) return TWO_BACK;
  return s->taps == 1 ? ONE : NEIGHBOURS;
}

POET_INLINE void of_size(const int R, const int N, const poet_sums* s, const poet_points* points,
                         int32_t across, int32_t skip) {
  switch (N == 1 ? ANY : kind_of(s, points)) {
#if !POET_SOFT_FLOAT
    case THREE:
      tiles(R, N, 3, 1, 1, 1, 1, s, points, across, skip);
      break;
    case THREE_APART:
      tiles(R, N, 3, 1, 1, 2, 1, s, points, across, skip);
      break;
    case THREE_BACK:
      tiles(R, N, 3, 1, -1, 1, 1, s, points, across, skip);
      break;
    case TWO_BACK:
      tiles(R, N, 2, 2, -1, 1, 0, s, points, across, skip);
      break;
    case ONE:
      tiles(R, N, 1, 0, 0, 1, 0, s, points, across, skip);
      break;
    case NEIGHBOURS:
      tiles(R, N, 0, 0, 0, 1, 0, s, points, across, skip);
      break;
#endif
    default:
      if (N <= 4) tiles(R, N, 0, 0, 0, 0, 0, s, points, across, skip);
      break;
  }
}

#define POET_OF_SIZE(name, R, N)                                                                  \
  static void name(const poet_sums* s, const poet_points* points, int32_t across, int32_t skip) { \
    of_size(R, N, s, points, across, skip);                                                       \
  }
POET_OF_SIZE(four_rows, 4, 4)
POET_OF_SIZE(three_rows, 3, 4)
POET_OF_SIZE(two_rows, 2, 4)
POET_OF_SIZE(one_row, 1, 4)
#if !POET_SOFT_FLOAT
POET_OF_SIZE(two_wide_rows, 2, 8)
POET_OF_SIZE(one_wide_row, 1, 8)
#endif
POET_OF_SIZE(points_alone, 1, 1)

/* Up to four rows: the widest tiles that fit, and one that ends with the columns where some are left. */
static void some_rows(const poet_sums* s, const poet_points* points) {
  const int wide = points->rows <= 2 && points->columns >= 8 && kind_of(s, points) != ANY;
  void (*const size)(const poet_sums*, const poet_points*, int32_t, int32_t) =
#if !POET_SOFT_FLOAT
      wide ? points->rows == 1 ? one_wide_row : two_wide_rows :
#endif
      points->rows == 1   ? one_row
      : points->rows == 2 ? two_rows
      : points->rows == 3 ? three_rows
                          : four_rows;
  const int32_t width = wide ? 8 : 4, rest = points->columns % width;
  if (points->columns >= width) size(s, points, points->columns / width, 0);
  if (rest > 0) {
    const int32_t first = points->columns - (rest <= 4 ? 4 : 8);
    poet_points left = *points;
    poet_sums last = *s;
    left.at += first * left.column, last.right.at += first * last.right.next;
    if (rest <= 4) {
      (points->rows == 1   ? one_row
       : points->rows == 2 ? two_rows
       : points->rows == 3 ? three_rows
                           : four_rows)(&last, &left, 1, 4 - rest);
    } else {
      size(&last, &left, 1, 8 - rest);
    }
  }
}

void poet_windows(const poet_sums* s, const poet_points* points) {
  poet_points some = *points;
  poet_sums sums = *s;
  int32_t row;
  if (points->columns < 4 && points->lines > points->columns) { /* downwards */
    some.columns = points->lines, some.column = points->line, sums.right.next = points->right_line;
    some.lines = points->columns, some.line = points->column, some.right_line = s->right.next;
  }
  for (row = 0; row < points->rows; row += some.rows) {
    some.rows = some.columns < 4 ? 1 : points->rows - row < 4 ? points->rows - row : 4;
    some.at = points->at + row * points->row;
    sums.left.at = s->left.at + row * s->left.next;
    sums.of_row = s->of_row ? s->of_row + row : 0;
    if (some.columns < 4) {
      points_alone(&sums, &some, some.columns, 0);
    } else {
      some_rows(&sums, &some);
    }
  }
}
