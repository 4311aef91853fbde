#include "poet_conv_sums.h"

enum {
  COPIED = 256,      /* elements of x that lie on the stack at once */
  FEW_CHANNELS = 3,  /* with fewer or as many in a group's result nothing is copied */
  BLOCK_COLUMNS = 8, /* of the points whose windows are copied at once, at most */
  BLOCK_POINTS = 16
};

static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

static poet_sums sums_of(const poet_layer* l) {
  const poet_grid* g = &l->grid;
  poet_sums s;
  s.left = l->weight;
  s.right.at = l->from;
  s.right.next = g->step[1], s.right.tap = g->tap_step[1];
  s.right.line = g->tap_step[0] * g->source[1], s.right.channel = g->source[0] * g->source[1];
  s.taps = g->taps[1], s.lines = g->taps[0], s.channels = l->channels;
  s.add = l->add, s.of_row = l->add ? 0 : l->bias;
  return s;
}

static poet_points points_of(const poet_layer* l) {
  poet_points p;
  p.at = l->to;
  p.rows = l->rows, p.columns = l->grid.size[1], p.lines = l->grid.size[0];
  p.row = l->to_row, p.column = l->to_step[1], p.line = l->to_step[0];
  p.right_line = l->grid.step[0] * l->grid.source[1];
  return p;
}

/* ---- without what is outside: in rectangles of points that meet elements by the same taps */

/* From point `begin` of an axis on: the end of those with the same taps inside, and these taps. */
static int32_t same_taps(const poet_grid* g, int axis, int32_t begin, int32_t* tap, int32_t* taps) {
  int32_t end = begin, first, last, t;
  poet_taps_inside(g, axis, begin, &first, &last);
  *tap = first, *taps = last - first;
  do {
    ++end;
    if (end == g->size[axis]) break;
    poet_taps_inside(g, axis, end, &t, &last);
  } while (t == first && last - t == *taps);
  return end;
}

static void rectangle(const poet_layer* l, const float* from, float* to, const int32_t point[2],
                      const int32_t size[2], const int32_t tap[2], const int32_t taps[2]) {
  const poet_grid* g = &l->grid;
  poet_sums s = sums_of(l);
  poet_points p = points_of(l);
  s.lines = taps[0], s.taps = taps[1];
  if (taps[0] == 0 || taps[1] == 0) {
    s.channels = 0;
  } else {
    const int32_t h = point[0] * g->step[0] + tap[0] * g->tap_step[0] + g->first[0];
    const int32_t w = point[1] * g->step[1] + tap[1] * g->tap_step[1] + g->first[1];
    s.left.at += tap[0] * s.left.line + tap[1] * s.left.tap;
    s.right.at = from + h * g->source[1] + w;
  }
  p.at = to + point[0] * p.line + point[1] * p.column;
  p.lines = size[0], p.columns = size[1];
  poet_windows(&s, &p);
}

static void in_rectangles(const poet_layer* l) {
  const poet_grid* g = &l->grid;
  int32_t image, point[2], size[2], tap[2], taps[2];
  for (image = 0; image < l->images; ++image) {
    for (point[0] = 0; point[0] < g->size[0]; point[0] += size[0]) {
      size[0] = same_taps(g, 0, point[0], &tap[0], &taps[0]) - point[0];
      for (point[1] = 0; point[1] < g->size[1]; point[1] += size[1]) {
        size[1] = same_taps(g, 1, point[1], &tap[1], &taps[1]) - point[1];
        rectangle(l, l->from + image * l->from_image, l->to + image * l->to_image, point, size, tap, taps);
      }
    }
  }
}

/* ---- with zeros outside: what windows meet that cross an edge is copied */

/* Points `first` to `first + size` by axis. */
typedef struct area {
  int32_t first[2], size[2];
} area;

static poet_points points_in(const poet_layer* l, const area* a, int32_t image) {
  poet_points p = points_of(l);
  p.at += image * l->to_image + a->first[0] * p.line + a->first[1] * p.column;
  p.lines = a->size[0], p.columns = a->size[1];
  return p;
}

/* No window of the area crosses an edge. */
static void sum_inside(const poet_layer* l, const area* a, int32_t image) {
  const poet_grid* g = &l->grid;
  const poet_points p = points_in(l, a, image);
  poet_sums s = sums_of(l);
  s.right.at += image * l->from_image + (a->first[0] * g->step[0] + g->first[0]) * g->source[1] +
                a->first[1] * g->step[1] + g->first[1];
  poet_windows(&s, &p);
}

/* As many channels at a time as there is room for. */
static void sum_copied(const poet_layer* l, const area* a, int32_t image) {
  const poet_grid* g = &l->grid;
  const int32_t plane = g->source[0] * g->source[1];
  poet_points p = points_in(l, a, image);
  poet_sums s = sums_of(l);
  float copied[COPIED];
  int32_t size[2], some, channel;
  poet_block_size(g, a->size, size);
  s.right.line = g->tap_step[0] * size[1], s.right.channel = size[0] * size[1];
  p.right_line = g->step[0] * size[1];
  some = COPIED / s.right.channel;
  for (channel = 0; channel < l->channels; channel += some) {
    s.channels = smaller(some, l->channels - channel);
    s.right.at = copied + poet_copy_blocks(g, l->from + image * l->from_image + channel * plane, s.channels,
                                           a->first[0], a->first[1], size, copied);
    poet_windows(&s, &p);
    s.left.at += s.channels * s.left.channel;
    s.add = 1, s.of_row = 0;
  }
}

/* The windows of so many points fit `channels` times. */
static int fits(const poet_grid* g, int32_t lines, int32_t columns, int32_t channels) {
  const int32_t points[2] = {lines, columns};
  int32_t size[2];
  poet_block_size(g, points, size);
  return size[0] * size[1] * channels <= COPIED;
}

/* In blocks of some 16 points, in rows of no less than four. */
static void sum_blocks(const poet_layer* l, int32_t top, int32_t bottom, int32_t left, int32_t right,
                       int32_t image) {
  const int32_t widest = fits(&l->grid, 1, BLOCK_COLUMNS, 4) ? BLOCK_COLUMNS : 4;
  area a;
  for (a.first[1] = left; a.first[1] < right; a.first[1] += a.size[1]) {
    const int32_t columns = right - a.first[1];
    int32_t lines = 1;
    a.size[1] = columns <= widest ? columns : columns < widest + 4 ? columns - 4 : widest;
    while (2 * lines * a.size[1] <= BLOCK_POINTS && fits(&l->grid, 2 * lines, a.size[1], 4)) lines *= 2;
    for (a.first[0] = top; a.first[0] < bottom; a.first[0] += a.size[0]) {
      a.size[0] = smaller(lines, bottom - a.first[0]);
      sum_copied(l, &a, image);
    }
  }
}

/* The points of an axis all of whose taps meet elements. */
static void whole_windows(const poet_grid* g, int axis, int32_t* begin, int32_t* end) {
  int32_t low, high;
  poet_points_inside(g, axis, 0, begin, end);
  poet_points_inside(g, axis, g->taps[axis] - 1, &low, &high);
  if (low > *begin) *begin = low;
  if (high < *end) *end = high;
}

static void with_zeros(const poet_layer* l) {
  const poet_grid* g = &l->grid;
  const int32_t height = g->size[0], width = g->size[1];
  int32_t image, top, bottom, left, right;
  whole_windows(g, 0, &top, &bottom);
  whole_windows(g, 1, &left, &right);
  if (left > 0 && left < 4) left = 4; /* what is beside has rows of four, too */
  if (right < width && right > width - 4) right = width - 4;
  if (right - left < 4 || bottom <= top) top = bottom = height;
  for (image = 0; image < l->images; ++image) {
    sum_blocks(l, 0, top, 0, width, image);
    if (top < bottom) {
      area a;
      a.first[0] = top, a.first[1] = left;
      a.size[0] = bottom - top, a.size[1] = right - left;
      sum_inside(l, &a, image);
      sum_blocks(l, top, bottom, 0, left, image);
      sum_blocks(l, top, bottom, right, width, image);
    }
    sum_blocks(l, bottom, height, 0, width, image);
  }
}

/* ---- the same where rows are short or windows large: four points of any rows, each with windows of its own
 */

/* `lines` rows of taps from `first` on, counted through the channels. */
static void copy_windows(const poet_grid* g, const float* from, const int32_t point[2], int32_t first,
                         int32_t lines, float* to) {
  const int32_t plane = g->source[0] * g->source[1], width = g->source[1];
  int32_t tap = first % g->taps[0], j;
  from += first / g->taps[0] * plane;
  for (; lines > 0; --lines, to += 4 * g->taps[1]) {
    const int32_t h = point[0] * g->step[0] + tap * g->tap_step[0] + g->first[0];
    const float* row = h >= 0 && h < g->source[0] ? from + h * width : 0;
    int32_t w = point[1] * g->step[1] + g->first[1];
    for (j = 0; j < g->taps[1]; ++j, w += g->tap_step[1]) to[j] = row && w >= 0 && w < width ? row[w] : 0.0F;
    if (++tap < g->taps[0]) continue;
    tap = 0;
    from += plane;
  }
}

/* One tile: the points' windows are in `copied`, their results at `place`. */
static void four_points(const poet_layer* l, poet_sums* s, const float* copied, const int32_t place[4],
                        int32_t count) {
  const float* weight = s->left.at;
  poet_points p;
  int32_t m, r, j;
  float result[16];
  p.at = result, p.columns = 4, p.lines = 1, p.row = 4, p.column = 1, p.line = p.right_line = 0;
  for (m = 0; m < l->rows; m += 4) {
    p.rows = smaller(4, l->rows - m);
    for (r = 0; r < p.rows; ++r) {
      const float start = l->bias ? l->bias[m + r] : 0.0F;
      for (j = 0; j < 4; ++j)
        result[4 * r + j] = j >= count ? 0.0F : s->add ? l->to[(m + r) * l->to_row + place[j]] : start;
    }
    {
      poet_sums tile = *s;
      tile.left.at = weight + m * s->left.next, tile.right.at = copied;
      tile.add = 1, tile.of_row = 0;
      poet_windows(&tile, &p);
    }
    for (r = 0; r < p.rows; ++r) {
      for (j = 0; j < count; ++j) l->to[(m + r) * l->to_row + place[j]] = result[4 * r + j];
    }
  }
}

static void in_fours(const poet_layer* l) {
  const poet_grid* g = &l->grid;
  const int32_t line = 4 * g->taps[1], lines = l->channels * g->taps[0], points = g->size[0] * g->size[1];
  const int32_t whole = COPIED / (line * g->taps[0]); /* channels that fit */
  int32_t first, n, c;
  float copied[COPIED];
  for (first = 0; first < l->images * points; first += 4) {
    const int32_t count = smaller(4, l->images * points - first);
    poet_sums s = sums_of(l);
    int32_t some = 0;
    s.right.next = g->taps[1], s.right.tap = 1, s.right.line = line, s.right.channel = line * g->taps[0];
    for (n = 0; n < lines; n += some) {
      int32_t place[4];
      some = whole > 0 ? smaller(whole * g->taps[0], lines - n)
                       : smaller(COPIED / line, g->taps[0] - n % g->taps[0]);
      s.lines = whole > 0 ? g->taps[0] : some;
      s.channels = whole > 0 ? some / g->taps[0] : 1;
      s.left.at = l->weight.at + n / g->taps[0] * s.left.channel + n % g->taps[0] * s.left.line;
      for (c = 0; c < 4; ++c) {
        const int32_t number = first + smaller(c, count - 1), image = number / points;
        const int32_t point[2] = {number % points / g->size[1], number % points % g->size[1]};
        place[c] = image * l->to_image + point[0] * l->to_step[0] + point[1] * l->to_step[1];
        copy_windows(g, l->from + image * l->from_image, point, n, some, copied + c * g->taps[1]);
      }
      four_points(l, &s, copied, place, count);
      s.add = 1;
    }
  }
}

void poet_sum_windows(const poet_layer* l) {
  const poet_grid* g = &l->grid;
  if (l->rows <= FEW_CHANNELS || g->taps[0] == 0 || g->taps[1] == 0) {
    in_rectangles(l);
  } else if (g->size[1] < 4 || !fits(g, 1, 4, 1)) {
    in_fours(l);
  } else {
    with_zeros(l);
  }
}
