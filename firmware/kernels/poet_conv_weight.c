/* The gradients of a convolution's weight and bias. An element of the weight sums what the points of y give
 * times what they meet in x, in order of image, row and column. By one tap, all channels meet elements at the
 * same points, a rectangle of y; so for every tap there is a product of channels of y by channels of x. */
#include <string.h>

#include "poet_conv_grid.h"
#include "poet_windows.h"

enum {
  FEW_CHANNELS = 3, /* with fewer or as many of y in a group, points that meet nothing are skipped */
  ROWS = 16         /* channels of y at a time */
};

typedef struct rectangle {
  int32_t begin[2], end[2];
} rectangle;

/* What the points outside add, which the portable kernels multiply by zeros: 0 or -0, or no number where one
 * of these is infinite or none. */
static float sum_outside(const poet_conv* s, const rectangle* r, const float* dy) {
  const int32_t height = s->y[0], width = s->y[1];
  float sum = -0.0F;
  int32_t image, h, w;
  for (image = 0; image < s->images; ++image) {
    const float* at = dy + image * s->groups * s->out_channels * height * width;
    for (h = 0; h < height; ++h, at += width) {
      const int there = h >= r->begin[0] && h < r->end[0] && r->begin[1] < r->end[1];
      const int32_t begin = there ? r->begin[1] : width, end = there ? r->end[1] : width;
      for (w = 0; w < begin; ++w) sum += at[w] * 0.0F;
      for (w = end; w < width; ++w) sum += at[w] * 0.0F;
    }
  }
  return sum;
}

/* Channels of x as rows: they come in tiles of any height, columns in fours. */
static void turn(poet_sums* s, poet_points* p) {
  const poet_factors left = s->left;
  const poet_points turned = *p;
  int32_t r, c;
  for (r = 0; s->of_row && r < p->rows; ++r) {
    for (c = 0; c < p->columns; ++c) {
      float* to = p->at + r * p->row + c * p->column;
      *to = (s->add ? *to : 0.0F) + s->of_row[r];
    }
  }
  if (s->of_row) s->add = 1, s->of_row = 0;
  s->left = s->right, s->right = left;
  p->rows = turned.columns, p->row = turned.column;
  p->columns = turned.rows, p->column = turned.row;
}

/* The sums over the rectangle, between `rows` channels of y and all channels of x. */
static void product(const poet_conv* s, const poet_grid* g, const rectangle* r, const int32_t tap[2],
                    const float* dy, const float* x, const float* of_row, int32_t rows, int add, float* to) {
  const int32_t taps = s->kernel[0] * s->kernel[1];
  poet_points p;
  poet_sums sums;
  p.at = to, p.rows = rows, p.columns = s->in_channels, p.lines = 1;
  p.row = s->in_channels * taps, p.column = taps, p.line = p.right_line = 0;
  sums.taps = r->end[1] - r->begin[1], sums.lines = r->end[0] - r->begin[0], sums.channels = s->images;
  sums.left.next = s->y[0] * s->y[1], sums.left.tap = 1, sums.left.line = s->y[1];
  sums.left.channel = s->groups * s->out_channels * sums.left.next;
  sums.right.next = s->x[0] * s->x[1], sums.right.tap = g->step[1], sums.right.line = g->step[0] * s->x[1];
  sums.right.channel = s->groups * s->in_channels * sums.right.next;
  sums.left.at = dy, sums.right.at = x;
  sums.add = add, sums.of_row = of_row;
  if (sums.taps == 0 || sums.lines == 0) {
    sums.channels = 0;
  } else {
    const int32_t h = r->begin[0] * g->step[0] + tap[0] * g->tap_step[0] + g->first[0];
    const int32_t w = r->begin[1] * g->step[1] + tap[1] * g->tap_step[1] + g->first[1];
    sums.left.at += r->begin[0] * s->y[1] + r->begin[1];
    sums.right.at += h * s->x[1] + w;
  }
  if (rows >= 4 && (s->in_channels < 4 || (s->in_channels % 4 != 0 && rows % 4 == 0 && g->step[1] == 1)))
    turn(&sums, &p);
  poet_windows(&sums, &p);
}

/* The group's weight by one tap. */
static void one_tap(const poet_conv* s, const poet_grid* g, const int32_t tap[2], const float* dy,
                    const float* x, int add, float* to) {
  const int32_t plane = s->y[0] * s->y[1], filter = s->in_channels * s->kernel[0] * s->kernel[1];
  rectangle r;
  int32_t row, i, a, outside;
  for (a = 0; a < 2; ++a) poet_points_inside(g, a, tap[a], &r.begin[a], &r.end[a]);
  outside = plane - (r.end[0] - r.begin[0]) * (r.end[1] - r.begin[1]);
  for (row = 0; row < s->out_channels; row += ROWS) {
    const int32_t rows = s->out_channels - row < ROWS ? s->out_channels - row : ROWS;
    const float* from = dy + row * plane;
    float of_row[ROWS];
    const int zeros = s->out_channels > FEW_CHANNELS && outside > 0;
    for (i = 0; zeros && i < rows; ++i)
      of_row[i] = (add ? -0.0F : 0.0F) + sum_outside(s, &r, from + i * plane);
    product(s, g, &r, tap, from, x, zeros ? of_row : 0, rows, add, to + row * filter);
  }
}

int poet_conv_backward_weight(const void* shape, void* const* operand, const poet_run* run) {
  const float *dy = operand[0], *x = operand[1];
  poet_conv s;
  int32_t group, c, n;
  (void)run;
  memcpy(&s, shape, sizeof s);
  if (s.weight >= 0) {
    const poet_grid g = poet_windows_grid(&s);
    const int32_t taps = s.kernel[0] * s.kernel[1], weights = s.out_channels * s.in_channels * taps;
    float* to = operand[s.weight];
    if (s.from >= 0) poet_start(to, operand[s.from], s.groups * weights);
    for (group = 0; group < s.groups; ++group) {
      int32_t tap[2];
      for (tap[0] = 0; tap[0] < s.kernel[0]; ++tap[0]) {
        for (tap[1] = 0; tap[1] < s.kernel[1]; ++tap[1])
          one_tap(&s, &g, tap, dy + group * s.out_channels * s.y[0] * s.y[1],
                  x + group * s.in_channels * s.x[0] * s.x[1], s.from >= 0,
                  to + group * weights + tap[0] * s.kernel[1] + tap[1]);
      }
    }
  }
  if (s.bias >= 0) {
    const int32_t channels = s.groups * s.out_channels, plane = s.y[0] * s.y[1];
    float* to = operand[s.bias];
    poet_start(to, s.from_bias >= 0 ? operand[s.from_bias] : 0, channels);
    for (c = 0; c < channels; ++c) {
      for (n = 0; n < s.images; ++n) {
        const float* at = dy + (n * channels + c) * plane;
        double sum;
        POET_SUM(sum, plane, i, at[i]);
        to[c] = (float)((double)to[c] + sum);
      }
    }
  }
  return POET_KERNEL_OK;
}
