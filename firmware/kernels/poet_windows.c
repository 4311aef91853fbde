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

/* The pointers of a line. Where it has any number of taps these are found anew: there are more of them than
 * registers. */
#define POET_PLACE()                                                                                    \
  do {                                                                                                  \
    a0 = of_line, b0 = met;                                                                             \
    a1 = R > 1 ? a0 + next_row : a0;                                                                    \
    a2 = R > 2 ? a1 + next_row : a0;                                                                    \
    a3 = R > 3 ? a2 + next_row : a0;                                                                    \
    b1 = N > 1 ? b0 + next_column : b0;                                                                 \
    b2 = N > 2 ? b1 + next_column : b0;                                                                 \
    b3 = N > 3 ? b2 + next_column : b0;                                                                 \
    b4 = N > 4 ? b3 + next_column : b0;                                                                 \
    b5 = N > 4 ? b4 + next_column : b0;                                                                 \
    b6 = N > 4 ? b5 + next_column : b0;                                                                 \
    b7 = N > 4 ? b6 + next_column : b0;                                                                 \
    (void)a1, (void)a2, (void)a3, (void)b1, (void)b2, (void)b3, (void)b4, (void)b5, (void)b6, (void)b7; \
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
  const int32_t left_line = s->left.line;
  const int32_t right_line = s->right.line;
  const int32_t left_channel = s->left.channel - s->lines * s->left.line;
  const int32_t right_channel = s->right.channel - s->lines * s->right.line;
  const int32_t row = points->row, column = OUT ? OUT : points->column;
  int32_t point_line, tile;
  for (point_line = 0; point_line < points->lines; ++point_line) {
    const float* right = s->right.at + point_line * points->right_line;
    float* to = points->at + point_line * points->line;
    for (tile = across; tile > 0; --tile, right += N * next_column, to += N * column) {
      const float *of_line = s->left.at, *met = right;
      const float *a0, *a1, *a2, *a3, *b0, *b1, *b2, *b3, *b4, *b5, *b6, *b7;
      int32_t left, line, t;
      float c[4][8];
      POET_PLACE();
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
          POET_PLACE();
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
        if (TAPS) POET_ADVANCE(left_line, right_line);
        of_line += left_line, met += right_line;
        if (--line > 0) continue; /* one loop: two take more instructions */
        if (TAPS) POET_ADVANCE(left_channel, right_channel);
        of_line += left_channel, met += right_channel;
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
 * or which themselves are neighbours, by others; taps that are neighbours on both sides, or on the
 * right side every other one; anything. */
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
  DOTS_APART,
  ANY,
  KINDS
};

static int kind_of(const poet_sums* s, const poet_points* points) {
  const poet_factors *left = &s->left, *right = &s->right;
  const int out = points->column == 1, three = s->taps == 3 && left->tap == 1 && out;
  if (POET_SOFT_FLOAT) return ANY;
  if (three && right->next == 1 && right->tap == 1) return THREE;
  if (three && right->next == 1 && right->tap == -1 && left->next == 9) return THREE_BACK;
  if (three && right->next == 2 && right->tap == 1) return THREE_APART;
  if (right->next != 1) {
    if (left->tap != 1) return ANY;
    return right->tap == 1 ? DOTS : right->tap == 2 ? DOTS_APART : ANY;
  }
  if (left->next == 9 && points->column == 2)
    return s->taps == 2 && left->tap == 2 && right->tap == -1 ? TWO_BACK : OF_NINE;
  return !out ? NEIGHBOURS : left->tap == 1 ? ROWS_OF_TAPS : left->next == 1 ? COLUMNS_OF_ROWS : NEIGHBOURS;
}

/* Functions of their own, each of which the compiler takes for worth its time. */
#define POET_TILES(name, R, N, TAPS, LEFT, ROW, TAP, COLUMN, OUT)                                 \
  static void name(const poet_sums* s, const poet_points* points, int32_t across, int32_t skip) { \
    tiles(R, N, TAPS, LEFT, ROW, TAP, COLUMN, OUT, s, points, across, skip);                      \
  }
POET_TILES(any_4x4, 4, 4, 0, 0, 0, 0, 0, 0)
POET_TILES(any_3x4, 3, 4, 0, 0, 0, 0, 0, 0)
POET_TILES(any_2x4, 2, 4, 0, 0, 0, 0, 0, 0)
POET_TILES(any_1x4, 1, 4, 0, 0, 0, 0, 0, 0)
POET_TILES(any_1x1, 1, 1, 0, 0, 0, 0, 0, 0)
#if !POET_SOFT_FLOAT
POET_TILES(three_4x4, 4, 4, 3, 1, 0, 1, 1, 1)
POET_TILES(three_apart_4x4, 4, 4, 3, 1, 0, 1, 2, 1)
POET_TILES(three_back_4x4, 4, 4, 3, 1, 9, -1, 1, 1)
POET_TILES(two_back_4x4, 4, 4, 2, 2, 9, -1, 1, 2)
POET_TILES(of_nine_4x4, 4, 4, 0, 0, 9, 0, 1, 2)
POET_TILES(rows_of_taps_4x4, 4, 4, 0, 1, 0, 0, 1, 1)
POET_TILES(columns_of_rows_4x4, 4, 4, 0, 0, 1, 0, 1, 1)
POET_TILES(neighbours_4x4, 4, 4, 0, 0, 0, 0, 1, 0)
POET_TILES(dots_apart_4x4, 4, 4, 0, 1, 0, 2, 0, 0)
POET_TILES(dots_apart_3x4, 3, 4, 0, 1, 0, 2, 0, 0)
POET_TILES(dots_4x4, 4, 4, 0, 1, 0, 1, 0, 0)
POET_TILES(three_3x4, 3, 4, 3, 1, 0, 1, 1, 1)
POET_TILES(three_apart_3x4, 3, 4, 3, 1, 0, 1, 2, 1)
POET_TILES(three_back_3x4, 3, 4, 3, 1, 9, -1, 1, 1)
POET_TILES(of_nine_3x4, 3, 4, 0, 0, 9, 0, 1, 2)
POET_TILES(neighbours_3x4, 3, 4, 0, 0, 0, 0, 1, 0)
POET_TILES(dots_3x4, 3, 4, 0, 1, 0, 1, 0, 0)
POET_TILES(three_2x8, 2, 8, 3, 1, 0, 1, 1, 1)
POET_TILES(three_apart_2x8, 2, 8, 3, 1, 0, 1, 2, 1)
POET_TILES(three_back_2x8, 2, 8, 3, 1, 9, -1, 1, 1)
POET_TILES(two_back_2x8, 2, 8, 2, 2, 9, -1, 1, 2)
POET_TILES(of_nine_2x8, 2, 8, 0, 0, 9, 0, 1, 2)
POET_TILES(neighbours_2x8, 2, 8, 0, 0, 0, 0, 1, 0)
POET_TILES(neighbours_2x4, 2, 4, 0, 0, 0, 0, 1, 0)
POET_TILES(dots_2x4, 2, 4, 0, 1, 0, 1, 0, 0)
POET_TILES(three_1x8, 1, 8, 3, 1, 0, 1, 1, 1)
POET_TILES(three_apart_1x8, 1, 8, 3, 1, 0, 1, 2, 1)
POET_TILES(three_back_1x8, 1, 8, 3, 1, 9, -1, 1, 1)
POET_TILES(neighbours_1x8, 1, 8, 0, 0, 0, 0, 1, 0)
POET_TILES(dots_1x8, 1, 8, 0, 1, 0, 1, 0, 0)
POET_TILES(neighbours_1x4, 1, 4, 0, 0, 0, 0, 1, 0)
POET_TILES(dots_1x4, 1, 4, 0, 1, 0, 1, 0, 0)
POET_TILES(dots_3x3, 3, 3, 0, 1, 0, 1, 0, 0)
POET_TILES(any_3x3, 3, 3, 0, 0, 0, 0, 0, 0)
POET_TILES(dots_2x2, 2, 2, 0, 1, 0, 1, 0, 0)
POET_TILES(any_2x2, 2, 2, 0, 0, 0, 0, 0, 0)
POET_TILES(dots_1x1, 1, 1, 0, 1, 0, 1, 0, 0)
#endif

typedef void (*tiles_of_size)(const poet_sums* s, const poet_points* points, int32_t across, int32_t skip);

enum {
  ONE_POINT,
  TWO_POINTS,
  THREE_POINTS,
  ROW,
  TWO_ROWS,
  THREE_ROWS,
  FOUR_ROWS,
  WIDE_ROW,
  TWO_WIDE_ROWS,
  SIZES
};

/* Sizes that lack a loop have a more general one; 0: the size has none. */
#if POET_SOFT_FLOAT
static const tiles_of_size loops[] = {any_1x1, 0, 0, any_1x4, any_2x4, any_3x4, any_4x4};
#define POET_LOOP(size, kind) ((void)(kind), loops[size])
#else
static const tiles_of_size loops[SIZES][KINDS] = {
    {any_1x1, any_1x1, any_1x1, any_1x1, any_1x1, any_1x1, any_1x1, any_1x1, dots_1x1, any_1x1, any_1x1},
    {any_2x2, any_2x2, any_2x2, any_2x2, any_2x2, any_2x2, any_2x2, any_2x2, dots_2x2, any_2x2, any_2x2},
    {any_3x3, any_3x3, any_3x3, any_3x3, any_3x3, any_3x3, any_3x3, any_3x3, dots_3x3, any_3x3, any_3x3},
    {neighbours_1x4, any_1x4, neighbours_1x4, neighbours_1x4, neighbours_1x4, neighbours_1x4, neighbours_1x4,
     neighbours_1x4, dots_1x4, any_1x4, any_1x4},
    {neighbours_2x4, any_2x4, neighbours_2x4, neighbours_2x4, neighbours_2x4, neighbours_2x4, neighbours_2x4,
     neighbours_2x4, dots_2x4, any_2x4, any_2x4},
    {three_3x4, three_apart_3x4, three_back_3x4, neighbours_3x4, of_nine_3x4, neighbours_3x4, neighbours_3x4,
     neighbours_3x4, dots_3x4, dots_apart_3x4, any_3x4},
    {three_4x4, three_apart_4x4, three_back_4x4, two_back_4x4, of_nine_4x4, rows_of_taps_4x4,
     columns_of_rows_4x4, neighbours_4x4, dots_4x4, dots_apart_4x4, any_4x4},
    {three_1x8, three_apart_1x8, three_back_1x8, neighbours_1x8, neighbours_1x8, neighbours_1x8,
     neighbours_1x8, neighbours_1x8, dots_1x8, 0, 0},
    {three_2x8, three_apart_2x8, three_back_2x8, two_back_2x8, of_nine_2x8, neighbours_2x8, neighbours_2x8,
     neighbours_2x8, 0, 0, 0},
};
#define POET_LOOP(size, kind) loops[size][kind]
#endif

/* Up to four rows: the widest tiles that fit, and one that ends with the columns where some are left. */
static void some_rows(const poet_sums* s, const poet_points* points) {
  const int kind = kind_of(s, points), narrow = ROW + points->rows - 1;
  int32_t size = narrow, width = 4, rest;
#if !POET_SOFT_FLOAT
  if (points->rows <= 2 && points->columns >= 8 && POET_LOOP(WIDE_ROW + points->rows - 1, kind))
    size = WIDE_ROW + points->rows - 1, width = 8;
#endif
  rest = points->columns % width;
  if (points->columns >= width) POET_LOOP(size, kind)(s, points, points->columns / width, 0);
  if (rest > 0) {
    const int32_t last_width = rest <= 4 ? 4 : 8, first = points->columns - last_width;
    poet_points left = *points;
    poet_sums last = *s;
    left.at += first * left.column, last.right.at += first * last.right.next;
    if (rest <= 4) size = narrow;
    POET_LOOP(size, kind)(&last, &left, 1, last_width - rest);
  }
}

/* A loop of one turn is none, and one that goes on where the one in it stops is part of it. */
static void join_loops(poet_sums* s) {
  poet_factors *left = &s->left, *right = &s->right;
  if (s->taps == 1) {
    s->taps = s->lines, left->tap = left->line, right->tap = right->line;
    s->lines = 1;
  } else if (left->line == s->taps * left->tap && right->line == s->taps * right->tap) {
    s->taps *= s->lines, s->lines = 1;
  }
  if (s->lines > 1) return;
  if (s->taps == 1) {
    s->taps = s->channels, left->tap = left->channel, right->tap = right->channel;
    s->channels = 1;
  } else if (left->channel == s->taps * left->tap && right->channel == s->taps * right->tap) {
    s->taps *= s->channels, s->channels = 1;
  }
  left->line = right->line = 0;
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
    } else {
      const int kind = sums.left.tap == 1 && sums.right.tap == 1 && !POET_SOFT_FLOAT ? DOTS : ANY;
      POET_LOOP(some.rows - 1, kind)(&sums, &some, some.rows > 1 ? 1 : some.columns, 0);
    }
  }
}
