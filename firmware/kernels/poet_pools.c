/* Maxima and means over windows. Indices of maxima are places in their windows. */
#include <string.h>

#include "poet_kernels.h"

/* Of a window at `at` along an axis: the first tap inside and the one behind the last. */
static void taps_inside(const poet_pool* s, int axis, int32_t at, int32_t* begin, int32_t* end) {
  const int32_t offset = at * s->stride[axis] - s->padding[axis], step = s->dilation[axis];
  int32_t low = offset >= 0 ? 0 : (-offset + step - 1) / step;
  int32_t high = s->x[axis] - offset <= 0 ? 0 : (s->x[axis] - offset + step - 1) / step;
  if (low > s->kernel[axis]) low = s->kernel[axis];
  if (high > s->kernel[axis]) high = s->kernel[axis];
  *begin = low;
  *end = high > low ? high : low;
}

/* How many of the taps of a window count in a mean: those in the image, or in the padded one. */
static int32_t counted(const poet_pool* s, int axis, int32_t at) {
  const int32_t offset = at * s->stride[axis] - (s->padded ? 0 : s->padding[axis]), step = s->dilation[axis];
  const int32_t size = s->x[axis] + (s->padded ? s->padding[axis] + s->padding_end[axis] : 0);
  int32_t low = offset >= 0 ? 0 : (-offset + step - 1) / step;
  int32_t high = size - offset <= 0 ? 0 : (size - offset + step - 1) / step;
  if (low > s->kernel[axis]) low = s->kernel[axis];
  if (high > s->kernel[axis]) high = s->kernel[axis];
  return high > low ? high - low : 0;
}

int poet_max_pool(const void* shape, void* const* operand, const poet_run* run) {
  poet_pool s;
  int32_t plane, h, w, i, j, window = 0;
  (void)run;
  memcpy(&s, shape, sizeof s);
  for (plane = 0; plane < s.planes; ++plane) {
    const float* x = (const float*)operand[0] + plane * s.x[0] * s.x[1];
    for (h = 0; h < s.y[0]; ++h) {
      int32_t i_begin, i_end;
      taps_inside(&s, 0, h, &i_begin, &i_end);
      for (w = 0; w < s.y[1]; ++w, ++window) {
        float best = 0.0F;
        int32_t chosen = -1, j_begin, j_end;
        taps_inside(&s, 1, w, &j_begin, &j_end);
        for (i = i_begin; i < i_end; ++i) {
          const float* row = x + (h * s.stride[0] - s.padding[0] + i * s.dilation[0]) * s.x[1];
          for (j = j_begin; j < j_end; ++j) {
            const float v = row[w * s.stride[1] - s.padding[1] + j * s.dilation[1]];
            if (chosen >= 0 && !(v > best) && v == v) continue; /* of numbers that are none the last */
            best = v;
            chosen = i * s.kernel[1] + j;
          }
        }
        ((float*)operand[1])[window] = best;
        if (s.index_bytes == 1) {
          ((uint8_t*)operand[2])[window] = (uint8_t)chosen;
        } else {
          ((int32_t*)operand[2])[window] = chosen;
        }
      }
    }
  }
  return POET_KERNEL_OK;
}

int poet_max_pool_backward(const void* shape, void* const* operand, const poet_run* run) {
  const float* dy = operand[0];
  poet_pool s;
  int32_t plane, h, w, window = 0;
  (void)run;
  memcpy(&s, shape, sizeof s);
  memset(operand[2], 0, (size_t)(s.planes * s.x[0] * s.x[1]) * sizeof(float));
  for (plane = 0; plane < s.planes; ++plane) {
    float* dx = (float*)operand[2] + plane * s.x[0] * s.x[1];
    for (h = 0; h < s.y[0]; ++h) {
      for (w = 0; w < s.y[1]; ++w, ++window) {
        const int32_t tap =
            s.index_bytes == 1 ? ((const uint8_t*)operand[1])[window] : ((const int32_t*)operand[1])[window];
        const int32_t row = h * s.stride[0] - s.padding[0] + tap / s.kernel[1] * s.dilation[0];
        const int32_t column = w * s.stride[1] - s.padding[1] + tap % s.kernel[1] * s.dilation[1];
        if (tap < 0 || row < 0 || row >= s.x[0] || column < 0 || column >= s.x[1])
          return POET_KERNEL_BAD_INDEX;
        dx[row * s.x[1] + column] += dy[window];
      }
    }
  }
  return POET_KERNEL_OK;
}

int poet_avg_pool(const void* shape, void* const* operand, const poet_run* run) {
  float* y = operand[1];
  poet_pool s;
  int32_t plane, h, w, i, j;
  (void)run;
  memcpy(&s, shape, sizeof s);
  for (plane = 0; plane < s.planes; ++plane) {
    const float* x = (const float*)operand[0] + plane * s.x[0] * s.x[1];
    for (h = 0; h < s.y[0]; ++h) {
      int32_t i_begin, i_end;
      taps_inside(&s, 0, h, &i_begin, &i_end);
      for (w = 0; w < s.y[1]; ++w) {
        double sum = 0.0;
        int32_t j_begin, j_end;
        taps_inside(&s, 1, w, &j_begin, &j_end);
        for (i = i_begin; i < i_end; ++i) {
          const float* row = x + (h * s.stride[0] - s.padding[0] + i * s.dilation[0]) * s.x[1];
          for (j = j_begin; j < j_end; ++j)
            sum += (double)row[w * s.stride[1] - s.padding[1] + j * s.dilation[1]];
        }
        *y++ = (float)sum / (float)(counted(&s, 0, h) * counted(&s, 1, w));
      }
    }
  }
  return POET_KERNEL_OK;
}

enum { BLOCK = 64 };

int poet_avg_pool_backward(const void* shape, void* const* operand, const poet_run* run) {
  const float* dy = operand[0];
  poet_pool s;
  int32_t plane, h, w, i, j, first;
  (void)run;
  memcpy(&s, shape, sizeof s);
  memset(operand[1], 0, (size_t)(s.planes * s.x[0] * s.x[1]) * sizeof(float));
  for (plane = 0; plane < s.planes; ++plane) {
    float* dx = (float*)operand[1] + plane * s.x[0] * s.x[1];
    for (h = 0; h < s.y[0]; ++h) {
      int32_t i_begin, i_end;
      taps_inside(&s, 0, h, &i_begin, &i_end);
      /* Windows of a row overlap: the elements get their shares tap by tap from BLOCK windows, then from the
       * next ones. */
      for (first = 0; first < s.y[1]; first += BLOCK) {
        const int32_t last = s.y[1] - first < BLOCK ? s.y[1] : first + BLOCK;
        for (i = i_begin; i < i_end; ++i) {
          float* row = dx + (h * s.stride[0] - s.padding[0] + i * s.dilation[0]) * s.x[1];
          for (j = 0; j < s.kernel[1]; ++j) {
            for (w = first; w < last; ++w) {
              const int32_t column = w * s.stride[1] - s.padding[1] + j * s.dilation[1];
              if (column < 0 || column >= s.x[1]) continue;
              row[column] += dy[w] / (float)(counted(&s, 0, h) * counted(&s, 1, w));
            }
          }
        }
      }
      dy += s.y[1];
    }
  }
  return POET_KERNEL_OK;
}
