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

/* How far the last tap is before the first one, where they go backwards. */
static int32_t backwards(const poet_grid* g, int axis) {
  const int32_t taps = (g->taps[axis] - 1) * g->tap_step[axis];
  return taps < 0 ? -taps : 0;
}

void poet_block_size(const poet_grid* g, const int32_t points[2], int32_t size[2]) {
  int a;
  for (a = 0; a < 2; ++a) {
    const int32_t taps = (g->taps[a] - 1) * g->tap_step[a];
    size[a] = (points[a] - 1) * g->step[a] + (taps < 0 ? -taps : taps) + 1;
  }
}

int32_t poet_copy_blocks(const poet_grid* g, const float* from, int32_t planes, int32_t h, int32_t w,
                         const int32_t size[2], float* to) {
  const int32_t height = g->source[0], width = g->source[1];
  const int32_t top = h * g->step[0] + g->first[0] - backwards(g, 0);
  const int32_t left = w * g->step[1] + g->first[1] - backwards(g, 1);
  const int32_t before = left >= 0 ? 0 : -left < size[1] ? -left : size[1];
  const int32_t there = left + size[1] <= width ? size[1] : width > left ? width - left : 0;
  const int32_t copied = there > before ? there - before : 0, behind = size[1] - before - copied;
  int32_t row, i;
  for (; planes > 0; --planes, from += height * width) {
    for (row = top; row < top + size[0]; ++row) {
      if (row < 0 || row >= height) {
        for (i = size[1]; i > 0; --i) *to++ = 0.0F;
        continue;
      }
      for (i = before; i > 0; --i) *to++ = 0.0F;
      if (copied > 0) {
        const float* at = from + row * width + left + before;
        for (i = copied; i >= 4; i -= 4, to += 4, at += 4) {
          const float a = at[0], b = at[1], c = at[2], d = at[3];
          to[0] = a, to[1] = b, to[2] = c, to[3] = d;
        }
        for (; i > 0; --i) *to++ = *at++;
      }
      for (i = behind; i > 0; --i) *to++ = 0.0F;
    }
  }
  return backwards(g, 0) * size[1] + backwards(g, 1);
}
