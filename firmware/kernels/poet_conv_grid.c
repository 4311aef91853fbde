#include "poet_conv_grid.h"

poet_grid poet_windows_grid(const poet_conv* s) {
  poet_grid g;
  int a;
  for (a = 0; a < 2; ++a) {
    g.size[a] = s->y[a], g.step[a] = s->stride[a];
    g.taps[a] = s->kernel[a], g.tap_step[a] = s->dilation[a], g.first[a] = -s->padding[a];
    g.source[a] = s->x[a];
  }
  return g;
}

/* The i from `begin` to `end` of `count` for which i * step + offset is in [0, size). */
static void inside(int32_t count, int32_t step, int32_t offset, int32_t size, int32_t* begin, int32_t* end) {
  int32_t low = 0, high = count;
  if (step < 0) step = -step, offset = size - 1 - offset; /* seen from the other end */
  if (offset < 0) low = (-offset + step - 1) / step;
  if ((count - 1) * step + offset >= size) high = offset >= size ? 0 : (size - offset + step - 1) / step;
  if (low > count) low = count;
  *begin = low;
  *end = high > low ? high : low;
}

void poet_taps_inside(const poet_grid* g, int axis, int32_t point, int32_t* begin, int32_t* end) {
  inside(g->taps[axis], g->tap_step[axis], point * g->step[axis] + g->first[axis], g->source[axis], begin,
         end);
}

void poet_points_inside(const poet_grid* g, int axis, int32_t tap, int32_t* begin, int32_t* end) {
  inside(g->size[axis], g->step[axis], tap * g->tap_step[axis] + g->first[axis], g->source[axis], begin, end);
}

int32_t poet_line_length(const poet_grid* g, int32_t points) {
  const int32_t taps = (g->taps[1] - 1) * g->tap_step[1];
  return (points - 1) * g->step[1] + (taps < 0 ? -taps : taps) + 1;
}

int32_t poet_copy_lines(const poet_grid* g, const float* plane, int32_t h, int32_t w, int32_t points,
                        float* to) {
  const int32_t length = poet_line_length(g, points), width = g->source[1];
  const int32_t taps = (g->taps[1] - 1) * g->tap_step[1], before = taps < 0 ? -taps : 0;
  const int32_t first = w * g->step[1] + g->first[1] - before;
  const int32_t begin = first >= 0 ? 0 : -first < length ? -first : length;
  const int32_t end = first + length <= width ? length : width - first > begin ? width - first : begin;
  int32_t row = h * g->step[0] + g->first[0], i, k;
  for (i = 0; i < g->taps[0]; ++i, row += g->tap_step[0]) {
    if (row < 0 || row >= g->source[0]) {
      for (k = length; k > 0; --k) *to++ = 0.0F;
      continue;
    }
    for (k = begin; k > 0; --k) *to++ = 0.0F;
    if (begin < end) {
      const float* from = plane + row * width + first + begin;
      for (k = end - begin; k >= 4; k -= 4, to += 4, from += 4) {
        const float a = from[0], b = from[1], c = from[2], d = from[3];
        to[0] = a, to[1] = b, to[2] = c, to[3] = d;
      }
      for (; k > 0; --k) *to++ = *from++;
    }
    for (k = length - end; k > 0; --k) *to++ = 0.0F;
  }
  return before;
}
