#include "poet_windows.h"

#include "poet_tile.h"

/* With floating point in software tiles gain nothing: one of each height is enough. */
#if defined(__arm__) && !defined(__ARM_FP)
#define POET_SOFT_FLOAT 1
#else
#define POET_SOFT_FLOAT 0
#endif

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
