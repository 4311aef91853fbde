/* What networks of tokens need: softmax, layer norms, rows of tables, dropout. */
#include <string.h>

#include "poet_kernels.h"
#include "poet_rows.h"

/* ---- softmax over rows; a result may lie on its operand */

int poet_softmax(const void* shape, void* const* operand, const poet_run* run) {
  poet_rows s;
  int32_t row;
  (void)run;
  memcpy(&s, shape, sizeof s);
  for (row = 0; row < s.rows; ++row) {
    const float* x = (const float*)operand[0] + row * s.width;
    poet_softmax_row(x, (float*)operand[1] + row * s.width, s.width, poet_largest(x, s.width));
  }
  return POET_KERNEL_OK;
}

int poet_softmax_backward(const void* shape, void* const* operand, const poet_run* run) {
  poet_rows s;
  int32_t row, i;
  (void)run;
  memcpy(&s, shape, sizeof s);
  for (row = 0; row < s.rows; ++row) {
    const float* dy = (const float*)operand[0] + row * s.width;
    const float* y = (const float*)operand[1] + row * s.width;
    float* dx = (float*)operand[2] + row * s.width;
    double sum;
    float dot;
    POET_SUM(sum, s.width, k, (double)dy[k] * (double)y[k]);
    dot = (float)sum;
    for (i = 0; i < s.width; ++i) dx[i] = y[i] * (dy[i] - dot);
  }
  return POET_KERNEL_OK;
}

/* ---- layer norm */

int poet_layer_norm_forward(const void* shape, void* const* operand, const poet_run* run) {
  const float *weight = operand[1], *bias = operand[2];
  poet_layer_norm s;
  int32_t row, i;
  (void)run;
  memcpy(&s, shape, sizeof s);
  for (row = 0; row < s.rows; ++row) {
    const float* x = (const float*)operand[0] + row * s.width;
    float* y = (float*)operand[3] + row * s.width;
    double mean, found;
    float middle, inverse;
    poet_statistics(x, 1, s.width, 0, s.eps, &mean, &found);
    middle = (float)mean, inverse = (float)found;
    ((float*)operand[4])[row] = middle;
    ((float*)operand[5])[row] = inverse;
    for (i = 0; i < s.width; ++i) y[i] = (x[i] - middle) * inverse * weight[i] + bias[i];
  }
  return POET_KERNEL_OK;
}

int poet_layer_norm_backward(const void* shape, void* const* operand, const poet_run* run) {
  const float *dys = operand[0], *xs = operand[1], *weight = operand[2], *means = operand[3],
              *inverses = operand[4];
  poet_layer_norm s;
  int32_t row, i;
  (void)run;
  memcpy(&s, shape, sizeof s);
  for (row = 0; s.dx >= 0 && row < s.rows; ++row) {
    const float *dy = dys + row * s.width, *x = xs + row * s.width;
    float* to = (float*)operand[s.dx] + row * s.width;
    const float mean = means[row], inverse = inverses[row];
    const double n = (double)s.width;
    double sum, projection;
    float of_all, of_x;
    POET_SUM(sum, s.width, k, dy[k] * weight[k]);
    POET_SUM(projection, s.width, k, (double)(dy[k] * weight[k]) * (double)(x[k] - mean));
    of_all = (float)(sum / n);
    of_x = (float)((double)inverse * (double)inverse * projection / n);
    for (i = 0; i < s.width; ++i) to[i] = inverse * ((dy[i] * weight[i] - of_all) - (x[i] - mean) * of_x);
  }
  if (s.dweight >= 0) {
    float* to = operand[s.dweight];
    poet_start(to, s.from_weight >= 0 ? operand[s.from_weight] : 0, s.width);
    for (row = 0; row < s.rows; ++row) {
      for (i = 0; i < s.width; ++i)
        to[i] += dys[row * s.width + i] * ((xs[row * s.width + i] - means[row]) * inverses[row]);
    }
  }
  if (s.dbias >= 0) {
    float* to = operand[s.dbias];
    poet_start(to, s.from_bias >= 0 ? operand[s.from_bias] : 0, s.width);
    for (row = 0; row < s.rows; ++row) {
      for (i = 0; i < s.width; ++i) to[i] += dys[row * s.width + i];
    }
  }
  return POET_KERNEL_OK;
}

/* ---- rows of tables, of which there may be a part: rows `first` to `first + size` of `rows` */

int poet_embedding(const void* shape, void* const* operand, const poet_run* run) {
  const int32_t* ids = operand[0];
  poet_embedding_shape s;
  float* to;
  int32_t i;
  (void)run;
  memcpy(&s, shape, sizeof s);
  to = operand[s.result];
  if (s.from >= 0 || s.size < s.rows) poet_start(to, s.from >= 0 ? operand[s.from] : 0, s.ids * s.width);
  for (i = 0; i < s.ids; ++i) {
    const int32_t row = ids[i] - s.first;
    if (ids[i] < 0 || ids[i] >= s.rows) return POET_KERNEL_BAD_INDEX;
    if (row >= 0 && row < s.size)
      memcpy(to + i * s.width, (const float*)operand[1] + row * s.width, (size_t)s.width * sizeof *to);
  }
  return POET_KERNEL_OK;
}

int poet_embedding_backward(const void* shape, void* const* operand, const poet_run* run) {
  const int32_t* ids = operand[1];
  poet_embedding_shape s;
  float* table;
  int32_t i, k;
  (void)run;
  memcpy(&s, shape, sizeof s);
  table = operand[s.result];
  poet_start(table, s.from >= 0 ? operand[s.from] : 0, s.size * s.width);
  for (i = 0; i < s.ids; ++i) {
    const int32_t row = ids[i] - s.first;
    const float* from = (const float*)operand[0] + i * s.width;
    if (ids[i] < 0 || ids[i] >= s.rows) return POET_KERNEL_BAD_INDEX;
    if (row < 0 || row >= s.size) continue;
    for (k = 0; k < s.width; ++k) table[row * s.width + k] += from[k];
  }
  return POET_KERNEL_OK;
}

/* ---- runs of the elements of a part in its tensor */

int poet_first_occurrences(const void* shape, void* const* operand, const poet_run* run) {
  const int32_t* ids = operand[0];
  const char* next = (const char*)shape + sizeof(poet_dropout_shape);
  int32_t* to = operand[1];
  poet_dropout_shape s;
  int32_t r, i, first;
  (void)run;
  memcpy(&s, shape, sizeof s);
  for (r = 0; r < s.runs; ++r, next += sizeof(poet_run_of_part)) {
    poet_run_of_part part;
    memcpy(&part, next, sizeof part);
    for (i = part.first; i < part.first + part.count; ++i) {
      for (first = 0; ids[first] != ids[i];) ++first;
      *to++ = first;
    }
  }
  return POET_KERNEL_OK;
}

/* Philox-4x32-10 (Salmon and others, 2011). */
static void philox(uint32_t word[4], uint32_t key0, uint32_t key1) {
  int round;
  for (round = 0; round < 10; ++round) {
    const uint64_t a = (uint64_t)0xD2511F53U * word[0];
    const uint64_t b = (uint64_t)0xCD9E8D57U * word[2];
    word[0] = (uint32_t)(b >> 32) ^ word[1] ^ key0;
    word[1] = (uint32_t)b;
    word[2] = (uint32_t)(a >> 32) ^ word[3] ^ key1;
    word[3] = (uint32_t)a;
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
}

int poet_dropout(const void* shape, void* const* operand, const poet_run* run) {
  const char* next = (const char*)shape + sizeof(poet_dropout_shape);
  const float* x = operand[0];
  float* y = operand[1];
  uint8_t* mask = operand[2];
  poet_dropout_shape s;
  int32_t r;
  memcpy(&s, shape, sizeof s);
  for (r = 0; r < s.runs; ++r, next += sizeof(poet_run_of_part)) {
    poet_run_of_part part;
    uint32_t word[4], i, end;
    memcpy(&part, next, sizeof part);
    end = (uint32_t)part.first + (uint32_t)part.count;
    for (i = (uint32_t)part.first; i < end; ++i) {
      int kept;
      if (i % 4 == 0 ||
          i == (uint32_t)part.first) { /* the word of an element is that of its place in the whole tensor */
        word[0] = i / 4;
        word[1] = 0;
        word[2] = run->step;
        word[3] = s.seed;
        philox(word, run->seed_low, run->seed_high);
      }
      kept = word[i % 4] >= s.threshold;
      *mask++ = kept ? 1 : 0;
      *y++ = kept ? *x * s.factor : 0.0F;
      ++x;
    }
  }
  return POET_KERNEL_OK;
}

int poet_dropout_backward(const void* shape, void* const* operand, const poet_run* run) {
  const float* dy = operand[0];
  const uint8_t* mask = operand[1];
  float* dx = operand[2];
  poet_dropout_shape s;
  int32_t i;
  (void)run;
  memcpy(&s, shape, sizeof s);
  for (i = 0; i < s.count; ++i) dx[i] = mask[i] ? dy[i] * s.factor : 0.0F;
  return POET_KERNEL_OK;
}
