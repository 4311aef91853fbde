/* Convolutions as products: the elements that the places of the weight meet are gathered for four
 * neighbouring columns of the result at a time. Where a group has few channels, sums are gone through place
 * by place, without what lies outside. Both orders are those of the host's portable kernels. */
#include <string.h>

#include "poet_gemm.h"
#include "poet_kernels.h"

enum {
  DEPTH = 96,      /* of a product that is gathered at once, at most: 4 columns of it lie on the stack */
  FEW_CHANNELS = 3 /* with fewer or as many in a group's result there is no product */
};

/* A grid of points, each of which meets an element of a plane per tap. Point (h, w) and tap (i, j) meet the
 * element (h * step[0] + i * tap_step[0] + first[0], ...), where that is one. */
typedef struct grid {
  int32_t size[2], step[2];
  int32_t taps[2], tap_step[2], first[2];
  int32_t source[2]; /* sizes of the plane */
} grid;

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

/* What `depth` places from `first` on, in order of channel and tap, meet at four neighbouring points: to[k *
 * 4 + c]. */
static void gather(const grid* g, const float* from, int32_t channels, const point p[4], int32_t count,
                   int32_t first, int32_t depth, float* to) {
  const int32_t plane = g->source[0] * g->source[1], width = g->source[1], taps = g->taps[0] * g->taps[1];
  const int32_t top = p[0].h * g->step[0] + g->first[0], left = p[0].w * g->step[1] + g->first[1];
  const int32_t last_h = top + (g->taps[0] - 1) * g->tap_step[0],
                last_w = left + (g->taps[1] - 1) * g->tap_step[1];
  const int32_t span = 3 * g->step[1];
  const int one_row = count == 4 && p[3].image == p[0].image && p[3].h == p[0].h;
  const int inside = one_row && (top < last_h ? top : last_h) >= 0 &&
                     (top > last_h ? top : last_h) < g->source[0] && (left < last_w ? left : last_w) >= 0 &&
                     (left > last_w ? left : last_w) + span < width;
  int32_t channel = first / taps, i = first % taps / g->taps[1], j = first % taps % g->taps[1];
  int32_t k, c;
  if (inside) {
    const int32_t step = g->step[1], tap_step = g->tap_step[1];
    while (depth > 0) {
      const float* at = from + (p[0].image * channels + channel) * plane +
                        (top + i * g->tap_step[0]) * width + left + j * tap_step;
      int32_t run = g->taps[1] - j < depth ? g->taps[1] - j : depth;
      depth -= run;
      for (; run > 0; --run, at += tap_step, to += 4) {
        to[0] = at[0];
        to[1] = at[step];
        to[2] = at[2 * step];
        to[3] = at[3 * step];
      }
      j = 0;
      if (++i < g->taps[0]) continue;
      i = 0;
      ++channel;
    }
    return;
  }
  for (c = 0; c < 4; ++c) {
    const int32_t h0 = p[c].h * g->step[0] + g->first[0], w0 = p[c].w * g->step[1] + g->first[1];
    int32_t ch = channel, ti = i, tj = j;
    const float* row = 0;
    int32_t h = h0 + ti * g->tap_step[0];
    if (c < count && h >= 0 && h < g->source[0])
      row = from + (p[c].image * channels + ch) * plane + h * width;
    for (k = 0; k < depth; ++k) {
      const int32_t w = w0 + tj * g->tap_step[1];
      to[4 * k + c] = row && w >= 0 && w < width ? row[w] : 0.0F;
      if (++tj < g->taps[1]) continue;
      tj = 0;
      if (++ti == g->taps[0]) {
        ti = 0;
        ++ch;
      }
      h = h0 + ti * g->tap_step[0];
      row = c < count && h >= 0 && h < g->source[0] ? from + (p[c].image * channels + ch) * plane + h * width
                                                    : 0;
    }
  }
}

/* ---- y from x */

static grid windows(const poet_conv* s) {
  grid g;
  int a;
  for (a = 0; a < 2; ++a) {
    g.size[a] = s->y[a], g.step[a] = s->stride[a];
    g.taps[a] = s->kernel[a], g.tap_step[a] = s->dilation[a], g.first[a] = -s->padding[a];
    g.source[a] = s->x[a];
  }
  return g;
}

/* Columns of the result. */
typedef struct columns {
  const grid* grid;
  const float* from; /* the first channel's plane in the first image */
  int32_t from_channels;
  int32_t rows, depth;
  float* to;
  int32_t to_row;
  const float* bias; /* of rows; 0: none */
  int add;
} columns;

/* Four neighbouring columns, by all rows, `chunk` of the depth at a time: all of it, a whole number of times
 * all runs of `weight`, or one run; at most DEPTH. */
static void four_points(const columns* c, const poet_left* weight, int32_t chunk, const point p[4],
                        const int32_t place[4], int32_t count) {
  float panel[4 * DEPTH];
  int32_t k, m, r, j;
  for (k = 0; k < c->depth; k += chunk) {
    const int32_t depth = c->depth - k < chunk ? c->depth - k : chunk;
    poet_left left = *weight;
    gather(c->grid, c->from, c->from_channels, p, count, k, depth, panel);
    if (left.runs == 1 && left.leap == 0) {
      left.at += k * left.depth; /* one run from end to end */
      left.run = depth;
    } else {
      const int32_t number = k / left.run, of_run = left.run * left.depth + left.jump;
      left.at += number / left.runs * (left.runs * of_run + left.leap) + number % left.runs * of_run;
    }
    for (m = 0; m < c->rows; m += 4) {
      const int32_t rows = c->rows - m < 4 ? c->rows - m : 4;
      float tile[16];
      for (r = 0; r < rows; ++r) {
        const float* from = c->to + (m + r) * c->to_row;
        const float start = c->bias ? c->bias[m + r] : 0.0F;
        for (j = 0; j < 4; ++j)
          tile[4 * r + j] = j >= count ? 0.0F : c->add || k > 0 ? from[place[j]] : start;
      }
      poet_tile(tile, depth, &left, rows, panel, 4);
      for (r = 0; r < rows; ++r) {
        float* to = c->to + (m + r) * c->to_row;
        for (j = 0; j < count; ++j) to[place[j]] = tile[4 * r + j];
      }
      left.at += 4 * left.row;
    }
  }
}

static void forward_sums(const poet_conv* s, const float* x, const float* weight, const float* bias, int add,
                         float* y);

int poet_conv_forward(const void* shape, void* const* operand, const poet_run* run) {
  const float *x = operand[0], *weight = operand[1];
  poet_conv s;
  float* y;
  grid g;
  int32_t group, first;
  (void)run;
  memcpy(&s, shape, sizeof s);
  y = operand[s.result];
  if (s.from >= 0) poet_start(y, operand[s.from], s.images * s.groups * s.out_channels * s.y[0] * s.y[1]);
  if (s.out_channels <= FEW_CHANNELS) {
    forward_sums(&s, x, weight, s.bias >= 0 ? operand[s.bias] : 0, s.from >= 0, y);
    return POET_KERNEL_OK;
  }
  g = windows(&s);
  for (group = 0; group < s.groups; ++group) {
    const int32_t plane = s.y[0] * s.y[1], depth = s.in_channels * s.kernel[0] * s.kernel[1];
    poet_left left;
    columns c;
    c.grid = &g;
    c.from = x + group * s.in_channels * s.x[0] * s.x[1], c.from_channels = s.groups * s.in_channels;
    c.rows = s.out_channels, c.depth = depth;
    c.to = y + group * s.out_channels * plane, c.to_row = plane;
    c.bias = s.bias >= 0 ? (const float*)operand[s.bias] + group * s.out_channels : 0;
    c.add = s.from >= 0;
    left.at = weight + group * s.out_channels * depth, left.row = depth, left.depth = 1;
    left.run = depth, left.jump = 0, left.runs = 1, left.leap = 0;
    for (first = 0; first < s.images * plane; first += 4) {
      const int32_t count = s.images * plane - first < 4 ? s.images * plane - first : 4;
      point p[4];
      int32_t place[4], j;
      p[0] = point_of(&g, first);
      for (j = 0; j < 4; ++j) {
        if (j > 0) {
          p[j] = p[j - 1];
          next_point(&g, &p[j]);
        }
        place[j] = p[j].image * s.groups * s.out_channels * plane + p[j].h * s.y[1] + p[j].w;
      }
      four_points(&c, &left, DEPTH, p, place, count);
    }
  }
  return POET_KERNEL_OK;
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

static void forward_sums(const poet_conv* s, const float* x, const float* weight, const float* bias, int add,
                         float* y) {
  const int32_t x_plane = s->x[0] * s->x[1], y_plane = s->y[0] * s->y[1], taps = s->kernel[0] * s->kernel[1];
  int32_t n, o, i, h, w, a, b;
  for (n = 0; n < s->images; ++n) {
    for (o = 0; o < s->groups * s->out_channels; ++o) {
      const float* from = x + (n * s->groups + o / s->out_channels) * s->in_channels * x_plane;
      const float* filter = weight + o * s->in_channels * taps;
      float* to = y + (n * s->groups * s->out_channels + o) * y_plane;
      for (h = 0; h < s->y[0]; ++h) {
        const int32_t top = h * s->stride[0] - s->padding[0];
        int32_t a_begin, a_end;
        reach(s->kernel[0], s->dilation[0], top, s->x[0], &a_begin, &a_end);
        for (w = 0; w < s->y[1]; ++w, ++to) {
          const int32_t left = w * s->stride[1] - s->padding[1];
          float sum = add ? *to : bias ? bias[o] : 0.0F;
          int32_t b_begin, b_end;
          reach(s->kernel[1], s->dilation[1], left, s->x[1], &b_begin, &b_end);
          for (i = 0; i < s->in_channels; ++i) {
            for (a = a_begin; a < a_end; ++a) {
              const float* row = from + i * x_plane + (top + a * s->dilation[0]) * s->x[1] + left;
              const float* factor = filter + i * taps + a * s->kernel[1];
              for (b = b_begin; b < b_end; ++b) sum += factor[b] * row[b * s->dilation[1]];
            }
          }
          *to = sum;
        }
      }
    }
  }
}

/* ---- the gradient of x */

/* Of the taps of an axis those that points of x with this remainder by the stride reach: every `every`-th one
 * from `first` on, `count` of them; their element of y is point + offset - i * back. */
typedef struct phase {
  int32_t points, first, every, count, offset, back;
} phase;

static int32_t common(int32_t a, int32_t b) {
  while (b != 0) {
    const int32_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

static phase phase_of(const poet_conv* s, int a, int32_t remainder) {
  const int32_t divisor = common(s->dilation[a], s->stride[a]);
  phase p;
  p.points = remainder < s->x[a] ? (s->x[a] - remainder + s->stride[a] - 1) / s->stride[a] : 0;
  p.every = s->stride[a] / divisor; /* taps t apart by this have the same remainder */
  p.back = s->dilation[a] / divisor;
  for (p.first = 0; p.first < p.every && p.first < s->kernel[a]; ++p.first) {
    if ((remainder + s->padding[a] - p.first * s->dilation[a]) % s->stride[a] == 0) break;
  }
  p.count =
      p.first < p.every && p.first < s->kernel[a] ? (s->kernel[a] - p.first + p.every - 1) / p.every : 0;
  p.offset = (remainder + s->padding[a] - p.first * s->dilation[a]) / s->stride[a];
  return p;
}

static void backward_sums(const poet_conv* s, const float* dy, const float* weight, int add, float* dx);

static void backward_phase(const poet_conv* s, const phase* vertical, const phase* horizontal,
                           const int32_t remainder[2], const float* dy, const float* weight, int add,
                           float* dx) {
  const int32_t y_plane = s->y[0] * s->y[1], x_plane = s->x[0] * s->x[1], taps = s->kernel[0] * s->kernel[1];
  const int32_t reached = vertical->count * horizontal->count;
  const int32_t points = s->images * vertical->points * horizontal->points;
  int32_t chunk = DEPTH;
  int32_t group, first;
  grid g;
  g.size[0] = vertical->points, g.size[1] = horizontal->points, g.step[0] = g.step[1] = 1;
  g.taps[0] = vertical->count, g.taps[1] = horizontal->count;
  g.tap_step[0] = -vertical->back, g.tap_step[1] = -horizontal->back;
  g.first[0] = vertical->offset, g.first[1] = horizontal->offset;
  g.source[0] = s->y[0], g.source[1] = s->y[1];
  for (group = 0; group < s->groups; ++group) {
    poet_left left;
    columns c;
    c.grid = &g;
    c.from = dy + group * s->out_channels * y_plane, c.from_channels = s->groups * s->out_channels;
    c.rows = s->in_channels, c.depth = s->out_channels * reached;
    c.to = dx + group * s->in_channels * x_plane, c.to_row = x_plane;
    c.bias = 0, c.add = add;
    left.at = weight + group * s->out_channels * s->in_channels * taps + vertical->first * s->kernel[1] +
              horizontal->first;
    left.row = taps, left.depth = horizontal->every;
    left.jump = 0, left.runs = 1, left.leap = 0;
    if (reached == 1) {
      left.depth = s->in_channels * taps;
      left.run = c.depth;
    } else if (reached == taps && reached <= DEPTH) {
      left.depth = 1; /* all taps, one after another */
      left.run = reached;
      left.leap = s->in_channels * taps - reached;
      chunk = DEPTH / reached * reached;
    } else {
      chunk = reached > DEPTH ? horizontal->count : reached == 0 ? 1 : DEPTH / reached * reached;
      left.run = horizontal->count,
      left.jump = vertical->every * s->kernel[1] - horizontal->count * horizontal->every;
      left.runs = vertical->count;
      left.leap = s->in_channels * taps - vertical->count * vertical->every * s->kernel[1];
    }
    for (first = 0; first < points; first += 4) {
      const int32_t count = points - first < 4 ? points - first : 4;
      point p[4];
      int32_t place[4], j, r;
      p[0] = point_of(&g, first);
      for (j = 0; j < 4; ++j) {
        if (j > 0) {
          p[j] = p[j - 1];
          next_point(&g, &p[j]);
        }
        place[j] = p[j].image * s->groups * s->in_channels * x_plane +
                   (p[j].h * s->stride[0] + remainder[0]) * s->x[1] + p[j].w * s->stride[1] + remainder[1];
      }
      if (reached > 0) {
        four_points(&c, &left, chunk, p, place, count);
      } else if (!add) {
        for (r = 0; r < c.rows; ++r) {
          for (j = 0; j < count; ++j) c.to[r * c.to_row + place[j]] = 0.0F;
        }
      }
    }
  }
}

int poet_conv_backward_input(const void* shape, void* const* operand, const poet_run* run) {
  const float *dy = operand[0], *weight = operand[1];
  int32_t remainder[2];
  poet_conv s;
  float* dx;
  (void)run;
  memcpy(&s, shape, sizeof s);
  dx = operand[s.result];
  if (s.from >= 0) poet_start(dx, operand[s.from], s.images * s.groups * s.in_channels * s.x[0] * s.x[1]);
  if (s.in_channels <= FEW_CHANNELS) {
    backward_sums(&s, dy, weight, s.from >= 0, dx);
    return POET_KERNEL_OK;
  }
  for (remainder[0] = 0; remainder[0] < s.stride[0]; ++remainder[0]) {
    const phase vertical = phase_of(&s, 0, remainder[0]);
    for (remainder[1] = 0; remainder[1] < s.stride[1]; ++remainder[1]) {
      const phase horizontal = phase_of(&s, 1, remainder[1]);
      if (vertical.points > 0 && horizontal.points > 0)
        backward_phase(&s, &vertical, &horizontal, remainder, dy, weight, s.from >= 0, dx);
    }
  }
  return POET_KERNEL_OK;
}

/* Every element of x in order of output channel and tap. */
static void backward_sums(const poet_conv* s, const float* dy, const float* weight, int add, float* dx) {
  const int32_t x_plane = s->x[0] * s->x[1], y_plane = s->y[0] * s->y[1], taps = s->kernel[0] * s->kernel[1];
  int32_t n, in, h, w, o, a, b;
  for (n = 0; n < s->images; ++n) {
    for (in = 0; in < s->groups * s->in_channels; ++in) {
      const int32_t group = in / s->in_channels;
      float* to = dx + (n * s->groups * s->in_channels + in) * x_plane;
      for (h = 0; h < s->x[0]; ++h) {
        for (w = 0; w < s->x[1]; ++w, ++to) {
          float sum = add ? *to : 0.0F;
          for (o = group * s->out_channels; o < (group + 1) * s->out_channels; ++o) {
            const float* from = dy + (n * s->groups * s->out_channels + o) * y_plane;
            const float* filter = weight + (o * s->in_channels + in % s->in_channels) * taps;
            for (a = 0; a < s->kernel[0]; ++a) {
              const int32_t row = h + s->padding[0] - a * s->dilation[0];
              if (row < 0 || row % s->stride[0] != 0 || row / s->stride[0] >= s->y[0]) continue;
              for (b = 0; b < s->kernel[1]; ++b) {
                const int32_t column = w + s->padding[1] - b * s->dilation[1];
                if (column < 0 || column % s->stride[1] != 0 || column / s->stride[1] >= s->y[1]) continue;
                sum +=
                    filter[a * s->kernel[1] + b] * from[row / s->stride[0] * s->y[1] + column / s->stride[1]];
              }
            }
          }
          *to = sum;
        }
      }
    }
  }
}

/* ---- the gradients of weight and bias */

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
