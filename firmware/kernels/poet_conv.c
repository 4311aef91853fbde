/* Convolutions and their gradients of x: both are sums over the windows of a grid of points. */
#include <string.h>

#include "poet_conv_sums.h"
#include "poet_kernels.h"

/* ---- y from x */

int poet_conv_forward(const void* shape, void* const* operand, const poet_run* run) {
  const float *x = operand[0], *weight = operand[1];
  poet_conv s;
  poet_layer l;
  float* y;
  int32_t group;
  (void)run;
  memcpy(&s, shape, sizeof s);
  y = operand[s.result];
  if (s.from >= 0) poet_start(y, operand[s.from], s.images * s.groups * s.out_channels * s.y[0] * s.y[1]);
  l.grid = poet_windows_grid(&s);
  l.images = s.images, l.rows = s.out_channels, l.channels = s.in_channels;
  l.from_image = s.groups * s.in_channels * s.x[0] * s.x[1];
  l.to_row = s.y[0] * s.y[1], l.to_image = s.groups * s.out_channels * l.to_row;
  l.to_step[0] = s.y[1], l.to_step[1] = 1;
  l.weight.tap = 1, l.weight.line = s.kernel[1], l.weight.channel = s.kernel[0] * s.kernel[1];
  l.weight.next = s.in_channels * l.weight.channel;
  l.add = s.from >= 0;
  for (group = 0; group < s.groups; ++group) {
    l.from = x + group * s.in_channels * s.x[0] * s.x[1];
    l.weight.at = weight + group * s.out_channels * l.weight.next;
    l.to = y + group * s.out_channels * l.to_row;
    l.bias = s.bias >= 0 ? (const float*)operand[s.bias] + group * s.out_channels : 0;
    poet_sum_windows(&l);
  }
  return POET_KERNEL_OK;
}

/* ---- the gradient of x: a grid of points of x for every remainder of their places by the stride */

static int32_t common(int32_t a, int32_t b) {
  while (b != 0) {
    const int32_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

/* One axis of such a grid. Of the taps, those that its points meet are every `every`-th one from `*first` on.
 */
static int32_t set_axis(const poet_conv* s, int a, int32_t remainder, poet_grid* g, int32_t* first) {
  const int32_t divisor = common(s->dilation[a], s->stride[a]);
  const int32_t every = s->stride[a] / divisor; /* taps apart by this have the same remainder */
  int32_t tap = 0;
  while (tap < every && tap < s->kernel[a] &&
         (remainder + s->padding[a] - tap * s->dilation[a]) % s->stride[a] != 0)
    ++tap;
  g->size[a] = remainder < s->x[a] ? (s->x[a] - remainder + s->stride[a] - 1) / s->stride[a] : 0;
  g->step[a] = 1;
  g->taps[a] = tap < every && tap < s->kernel[a] ? (s->kernel[a] - tap + every - 1) / every : 0;
  g->tap_step[a] = -s->dilation[a] / divisor;
  g->first[a] = (remainder + s->padding[a] - tap * s->dilation[a]) / s->stride[a];
  g->source[a] = s->y[a];
  *first = tap;
  return every;
}

int poet_conv_backward_input(const void* shape, void* const* operand, const poet_run* run) {
  const float *dy = operand[0], *weight = operand[1];
  int32_t remainder[2], first[2], group, taps;
  poet_conv s;
  poet_layer l;
  float* dx;
  (void)run;
  memcpy(&s, shape, sizeof s);
  dx = operand[s.result];
  taps = s.kernel[0] * s.kernel[1];
  if (s.from >= 0) poet_start(dx, operand[s.from], s.images * s.groups * s.in_channels * s.x[0] * s.x[1]);
  l.images = s.images, l.rows = s.in_channels, l.channels = s.out_channels;
  l.from_image = s.groups * s.out_channels * s.y[0] * s.y[1];
  l.to_row = s.x[0] * s.x[1], l.to_image = s.groups * s.in_channels * l.to_row;
  l.to_step[0] = s.stride[0] * s.x[1], l.to_step[1] = s.stride[1];
  l.weight.next = taps, l.weight.channel = s.in_channels * taps;
  l.bias = 0, l.add = s.from >= 0;
  for (remainder[0] = 0; remainder[0] < s.stride[0] && remainder[0] < s.x[0]; ++remainder[0]) {
    l.weight.line = set_axis(&s, 0, remainder[0], &l.grid, &first[0]) * s.kernel[1];
    for (remainder[1] = 0; remainder[1] < s.stride[1] && remainder[1] < s.x[1]; ++remainder[1]) {
      l.weight.tap = set_axis(&s, 1, remainder[1], &l.grid, &first[1]);
      for (group = 0; group < s.groups; ++group) {
        l.from = dy + group * s.out_channels * s.y[0] * s.y[1];
        l.weight.at = weight + group * s.out_channels * l.weight.channel + first[0] * s.kernel[1] + first[1];
        l.to = dx + group * s.in_channels * l.to_row + remainder[0] * s.x[1] + remainder[1];
        poet_sum_windows(&l);
      }
    }
  }
  return POET_KERNEL_OK;
}
