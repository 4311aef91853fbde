/* Sums over the windows of a grid of points. Where a group's result has few channels, sums skip what lies
 * outside of the plane; else it counts as zeros. So do the host's portable kernels, and the order is theirs:
 * by channel, row of taps, tap. */
#ifndef POET_CONV_SUMS_H
#define POET_CONV_SUMS_H

#include "poet_conv_grid.h"
#include "poet_windows.h"

/* The sums of one group: a grid of points, in `rows` channels, over windows in `channels` planes. */
typedef struct poet_layer {
  poet_grid grid;
  int32_t images, rows, channels;
  const float* from;
  int32_t from_image;
  poet_factors weight; /* of one tap after the other */
  float* to;
  int32_t to_image, to_row, to_step[2];
  const float* bias; /* of rows; 0: none */
  int add;
} poet_layer;

void poet_sum_windows(const poet_layer* l);

#endif
