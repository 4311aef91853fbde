/* One loop over tiles, from which the compiler makes those of poet_windows.c: what is known of a loop is a
 * constant there. */
#ifndef POET_TILE_H
#define POET_TILE_H

#include "poet_inline.h"
#include "poet_windows.h"

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

#endif
