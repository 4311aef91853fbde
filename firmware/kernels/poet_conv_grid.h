/* Which elements of a plane the taps of a convolution meet. */
#ifndef POET_CONV_GRID_H
#define POET_CONV_GRID_H

#include "poet_kernels.h"

/* A grid of points, each of which meets an element of a plane per tap: along axis a, point p and tap t meet
 * element p * step[a] + t * tap_step[a] + first[a], where that is one of the plane's. */
typedef struct poet_grid {
  int32_t size[2], step[2];
  int32_t taps[2], tap_step[2], first[2];
  int32_t source[2]; /* sizes of the plane */
} poet_grid;

/* Points of y and what they meet in x. */
poet_grid poet_windows_grid(const poet_conv* s);

/* The taps from `begin` to `end` of an axis meet elements at this point. */
void poet_taps_inside(const poet_grid* g, int axis, int32_t point, int32_t* begin, int32_t* end);

/* The points from `begin` to `end` of an axis meet elements by this tap. */
void poet_points_inside(const poet_grid* g, int axis, int32_t tap, int32_t* begin, int32_t* end);

/* Copies what the windows of the points from (h, w) on, `points` by axis, meet in one plane after another,
 * zeros for what is outside: `size` elements by axis for each of them. What the first point meets by the
 * first tap is at the result. */
int32_t poet_copy_blocks(const poet_grid* g, const float* from, int32_t planes, int32_t h, int32_t w,
                         const int32_t size[2], float* to);
void poet_block_size(const poet_grid* g, const int32_t points[2], int32_t size[2]);

#endif
