/* The gradients of a convolution's weight and bias. */
#include <string.h>

#include "poet_conv_grid.h"
#include "poet_gemm.h"
/* The left operand of a tile: row r of depth k lies at at[r * row + k * depth]. Along the depth it may come
 * in runs: after every `run` steps `jump` more elements are skipped, and after every `runs` such runs `leap`
 * more. A plain matrix is one run. */
typedef struct poet_left {
  const float* at;
  int32_t row, depth;
  int32_t run, jump;
  int32_t runs, leap;
} poet_left;

/* tile[r * 4 + c] += the sum over k < depth of left(r, k) * b[k * b_step + c]. `rows` below 4: the others are
 * not read. `depth` is a whole number of runs, of `runs` runs where leap is not 0. */
void poet_tile(float tile[16], int32_t depth, const poet_left* left, int32_t rows, const float* b,
               int32_t b_step);

/* Four rows. The compiler makes a loop of its own for each of the ways in which operands lie. */
static void four_rows(float* tile, const poet_left* left, int32_t runs, const float* b, int32_t b_step) {
  const int32_t row = left->row, depth = left->depth;
  const float *a0 = left->at, *a1 = a0 + row, *a2 = a1 + row, *a3 = a2 + row;
  float c00 = tile[0], c01 = tile[1], c02 = tile[2], c03 = tile[3];
  float c10 = tile[4], c11 = tile[5], c12 = tile[6], c13 = tile[7];
  float c20 = tile[8], c21 = tile[9], c22 = tile[10], c23 = tile[11];
  float c30 = tile[12], c31 = tile[13], c32 = tile[14], c33 = tile[15];
  int32_t outer = left->runs;
#define POET_STEP(A0, A1, A2, A3)                               \
  do {                                                          \
    const float b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3];     \
    float a = (A0);                                             \
    c00 += a * b0, c01 += a * b1, c02 += a * b2, c03 += a * b3; \
    a = (A1);                                                   \
    c10 += a * b0, c11 += a * b1, c12 += a * b2, c13 += a * b3; \
    a = (A2);                                                   \
    c20 += a * b0, c21 += a * b1, c22 += a * b2, c23 += a * b3; \
    a = (A3);                                                   \
    c30 += a * b0, c31 += a * b1, c32 += a * b2, c33 += a * b3; \
  } while (0)
  for (; runs > 0; --runs) {
    int32_t k;
    if (row == 1) { /* neighbours in one column */
      for (k = left->run; k > 0; --k, a0 += depth, b += b_step) POET_STEP(a0[0], a0[1], a0[2], a0[3]);
      a0 += left->jump;
      if (--outer == 0) a0 += left->leap, outer = left->runs;
      continue;
    }
    if (depth == 1 && b_step == 4) { /* rows of neighbours, packed columns */
      for (k = left->run; k > 0; --k, b += 4) POET_STEP(*a0++, *a1++, *a2++, *a3++);
    } else if (depth == 1) {
      for (k = left->run; k > 0; --k, b += b_step) POET_STEP(*a0++, *a1++, *a2++, *a3++);
    } else {
      for (k = left->run; k > 0; --k, b += b_step) {
        POET_STEP(*a0, *a1, *a2, *a3);
        a0 += depth, a1 += depth, a2 += depth, a3 += depth;
      }
    }
    a0 += left->jump, a1 += left->jump, a2 += left->jump, a3 += left->jump;
    if (--outer == 0) {
      a0 += left->leap, a1 += left->leap, a2 += left->leap, a3 += left->leap;
      outer = left->runs;
    }
  }
#undef POET_STEP
  tile[0] = c00, tile[1] = c01, tile[2] = c02, tile[3] = c03;
  tile[4] = c10, tile[5] = c11, tile[6] = c12, tile[7] = c13;
  tile[8] = c20, tile[9] = c21, tile[10] = c22, tile[11] = c23;
  tile[12] = c30, tile[13] = c31, tile[14] = c32, tile[15] = c33;
}

static void one_row(float* tile, const poet_left* left, int32_t runs, const float* b, int32_t b_step) {
  const float* a = left->at;
  float c0 = tile[0], c1 = tile[1], c2 = tile[2], c3 = tile[3];
  int32_t outer = left->runs;
  for (; runs > 0; --runs) {
    int32_t k;
    for (k = left->run; k > 0; --k, a += left->depth, b += b_step) {
      const float a0 = *a;
      c0 += a0 * b[0], c1 += a0 * b[1], c2 += a0 * b[2], c3 += a0 * b[3];
    }
    a += left->jump;
    if (--outer == 0) a += left->leap, outer = left->runs;
  }
  tile[0] = c0, tile[1] = c1, tile[2] = c2, tile[3] = c3;
}

void poet_tile(float tile[16], int32_t depth, const poet_left* left, int32_t rows, const float* b,
               int32_t b_step) {
  const int32_t runs = depth / left->run;
  if (rows == 4) {
    four_rows(tile, left, runs, b, b_step);
  } else {
    poet_left row = *left;
    int32_t r;
    for (r = 0; r < rows; ++r, row.at += left->row) one_row(tile + 4 * r, &row, runs, b, b_step);
  }
}

enum { DEPTH = 96, FEW_CHANNELS = 3 };
typedef poet_grid grid;
#define windows poet_windows_grid
typedef struct point {
  int32_t image, h, w;
} point;

static point point_of(const grid* g, int32_t number) {
  const int32_t plane = g->size[0] * g->size[1];
  point p;
  p.image = number / plane;
  p.h = number % plane / g->size[1];
  p.w = number % plane % g->size[1];
  return p;
}

static void next_point(const grid* g, point* p) {
  if (++p->w < g->size[1]) return;
  p->w = 0;
  if (++p->h < g->size[0]) return;
  p->h = 0;
  ++p->image;
}

/* The first and last + 1 of `count` points at i * step + offset within [0, size). */
static void reach(int32_t count, int32_t step, int32_t offset, int32_t size, int32_t* begin, int32_t* end) {
  int32_t low = offset >= 0 ? 0 : (-offset + step - 1) / step;
  int32_t high = size - offset <= 0 ? 0 : (size - offset + step - 1) / step;
  if (low > count) low = count;
  if (high > count) high = count;
  *begin = low;
  *end = high > low ? high : low;
}

/* What places `n` to n + 3 of a filter meet at `depth` points from `first` on: to[k * 4 + c]. */
static void gather_places(const grid* g, const float* from, int32_t channels, int32_t n, int32_t count,
                          int32_t first, int32_t depth, float* to) {
  const int32_t plane = g->source[0] * g->source[1], taps = g->taps[0] * g->taps[1];
  int32_t c, k;
  for (c = 0; c < 4; ++c) {
    const int32_t channel = (n + c) / taps, tap = (n + c) % taps;
    const int32_t h0 = tap / g->taps[1] * g->tap_step[0] + g->first[0],
                  w0 = tap % g->taps[1] * g->tap_step[1] + g->first[1];
    point p = point_of(g, first);
    float* out = to + c;
    int32_t begin, end;
    if (c >= count) {
      for (k = 0; k < depth; ++k) to[4 * k + c] = 0.0F;
      continue;
    }
    reach(g->size[1], g->step[1], w0, g->source[1], &begin, &end);
    for (k = 0; k < depth;) {
      const int32_t h = p.h * g->step[0] + h0;
      const int32_t last = p.w + (depth - k) < g->size[1] ? p.w + (depth - k) : g->size[1];
      const float* row = from + (p.image * channels + channel) * plane + h * g->source[1] + w0;
      const int there = h >= 0 && h < g->source[0];
      const int32_t low = !there || begin > last ? last : begin > p.w ? begin : p.w;
      const int32_t high = !there || end > last ? last : end > low ? end : low;
      int32_t w = p.w;
      k += last - w;
      for (; w < low; ++w, out += 4) *out = 0.0F;
      if (w < high) {
        const float* at = row + w * g->step[1];
        for (; w < high; ++w, out += 4, at += g->step[1]) *out = *at;
      }
      for (; w < last; ++w, out += 4) *out = 0.0F;
      p.w = last - 1;
      next_point(g, &p);
    }
  }
}

static void weight_sums(const poet_conv* s, const float* dy, const float* x, float* to);

static void weight_product(const poet_conv* s, const float* dy, const float* x, float* to) {
  const int32_t plane = s->y[0] * s->y[1], places = s->in_channels * s->kernel[0] * s->kernel[1];
  const grid g = windows(s);
  float panel[4 * DEPTH], tile[16];
  int32_t group, n, image, k, m, r, c;
  for (group = 0; group < s->groups; ++group) {
    float* group_to = to + group * s->out_channels * places;
    for (n = 0; n < places; n += 4) {
      const int32_t count = places - n < 4 ? places - n : 4;
      for (image = 0; image < s->images; ++image) {
        for (k = 0; k < plane; k += DEPTH) {
          const int32_t depth = plane - k < DEPTH ? plane - k : DEPTH;
          poet_left left;
          gather_places(&g, x + group * s->in_channels * s->x[0] * s->x[1], s->groups * s->in_channels, n,
                        count, image * plane + k, depth, panel);
          left.at = dy + (image * s->groups * s->out_channels + group * s->out_channels) * plane + k;
          left.row = plane, left.depth = 1, left.run = depth, left.jump = 0, left.runs = 1, left.leap = 0;
          for (m = 0; m < s->out_channels; m += 4) {
            const int32_t rows = s->out_channels - m < 4 ? s->out_channels - m : 4;
            for (r = 0; r < rows; ++r) {
              for (c = 0; c < 4; ++c) tile[4 * r + c] = c < count ? group_to[(m + r) * places + n + c] : 0.0F;
            }
            poet_tile(tile, depth, &left, rows, panel, 4);
            for (r = 0; r < rows; ++r) {
              for (c = 0; c < count; ++c) group_to[(m + r) * places + n + c] = tile[4 * r + c];
            }
            left.at += 4 * plane;
          }
        }
      }
    }
  }
}

static void weight_sums(const poet_conv* s, const float* dy, const float* x, float* to) {
  const int32_t x_plane = s->x[0] * s->x[1], y_plane = s->y[0] * s->y[1];
  int32_t o, i, a, b, n, h, w;
  for (o = 0; o < s->groups * s->out_channels; ++o) {
    for (i = 0; i < s->in_channels; ++i) {
      const int32_t in = o / s->out_channels * s->in_channels + i;
      for (a = 0; a < s->kernel[0]; ++a) {
        const int32_t h0 = a * s->dilation[0] - s->padding[0];
        int32_t h_begin, h_end;
        reach(s->y[0], s->stride[0], h0, s->x[0], &h_begin, &h_end);
        for (b = 0; b < s->kernel[1]; ++b, ++to) {
          const int32_t w0 = b * s->dilation[1] - s->padding[1];
          int32_t w_begin, w_end;
          float sum = *to;
          reach(s->y[1], s->stride[1], w0, s->x[1], &w_begin, &w_end);
          for (n = 0; n < s->images; ++n) {
            const float* from = x + (n * s->groups * s->in_channels + in) * x_plane;
            const float* gradient = dy + (n * s->groups * s->out_channels + o) * y_plane;
            for (h = h_begin; h < h_end; ++h) {
              const float* row = from + (h * s->stride[0] + h0) * s->x[1] + w0;
              for (w = w_begin; w < w_end; ++w) sum += gradient[h * s->y[1] + w] * row[w * s->stride[1]];
            }
          }
          *to = sum;
        }
      }
    }
  }
}

int poet_conv_backward_weight(const void* shape, void* const* operand, const poet_run* run) {
  const float *dy = operand[0], *x = operand[1];
  poet_conv s;
  int32_t c, n;
  (void)run;
  memcpy(&s, shape, sizeof s);
  if (s.weight >= 0) {
    float* to = operand[s.weight];
    poet_start(to, s.from >= 0 ? operand[s.from] : 0,
               s.groups * s.out_channels * s.in_channels * s.kernel[0] * s.kernel[1]);
    if (s.out_channels <= FEW_CHANNELS) {
      weight_sums(&s, dy, x, to);
    } else {
      weight_product(&s, dy, x, to);
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
