/* Sums over the windows of a convolution, in tiles that stay in registers: some rows (channels of the result)
 * by some columns (neighbouring points of it). Every sum is its start plus its products one by one, in order
 * of channel, line and tap, so its bits do not depend on tiles. */
#ifndef POET_WINDOWS_H
#define POET_WINDOWS_H

#include <stdint.h>

/* Where the factors of one side lie: elements from one to the next along each loop. */
typedef struct poet_factors {
  const float* at;
  int32_t next; /* row of the weight, or column of the points */
  int32_t tap, line, channel;
} poet_factors;

/* Points of the result, `columns` by `lines`, in `rows` channels. */
typedef struct poet_points {
  float* at;
  int32_t rows, columns, lines;
  int32_t row, column, line; /* elements from one to the next */
  int32_t right_line;        /* and of what the windows meet, from a line of points to the next one */
} poet_points;

typedef struct poet_sums {
  poet_factors left, right;
  int32_t taps, lines, channels; /* taps of a line, lines of a channel; either may be 0 */
  int add;                       /* the start is what is there, else 0, */
  const float* of_row;           /* and to it one of these; 0: none */
} poet_sums;

void poet_windows(const poet_sums* s, const poet_points* points);

#endif
