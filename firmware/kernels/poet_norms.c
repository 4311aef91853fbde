/* Batch norms. Statistics are summed image after image. */
#include <string.h>

#include "poet_kernels.h"
#include "poet_rows.h"

int poet_batch_norm_forward(const void* shape, void* const* operand, const poet_run* run) {
  const float *x = operand[0], *weight = operand[1], *bias = operand[2];
  float *y = operand[3], *means = operand[4], *inverses = operand[5];
  poet_batch_norm s;
  int32_t c, n, i;
  (void)run;
  memcpy(&s, shape, sizeof s);
  for (c = 0; c < s.channels; ++c) {
    const int32_t stride = s.channels * s.plane;
    double found_mean, found_inverse;
    float mean, inverse, factor, start;
    poet_statistics(x + c * s.plane, s.images, s.plane, stride, s.eps, &found_mean, &found_inverse);
    mean = (float)found_mean, inverse = (float)found_inverse;
    means[c] = mean, inverses[c] = inverse;
    factor = inverse * weight[c], start = bias[c];
    for (n = 0; n < s.images; ++n) {
      const float* from = x + n * stride + c * s.plane;
      float* to = y + n * stride + c * s.plane;
      for (i = 0; i < s.plane; ++i) to[i] = (from[i] - mean) * factor + start;
    }
  }
  return POET_KERNEL_OK;
}

int poet_batch_norm_backward(const void* shape, void* const* operand, const poet_run* run) {
  const float *dy = operand[0], *x = operand[1], *weight = operand[2], *means = operand[3],
              *inverses = operand[4];
  poet_batch_norm s;
  int32_t c, n, i;
  (void)run;
  memcpy(&s, shape, sizeof s);
  for (c = 0; c < s.channels; ++c) {
    const int32_t stride = s.channels * s.plane;
    const float mean = means[c], inverse = inverses[c];
    const double count = (double)(s.images * s.plane);
    double sum = 0.0, projection = 0.0, part;
    float factor, of_all, of_x;
    for (n = 0; n < s.images; ++n) {
      const float* at = dy + n * stride + c * s.plane;
      POET_SUM(part, s.plane, k, at[k]);
      sum += part;
    }
    for (n = 0; n < s.images; ++n) {
      const float *at = dy + n * stride + c * s.plane, *from = x + n * stride + c * s.plane;
      POET_SUM(part, s.plane, k, (double)at[k] * (double)(from[k] - mean));
      projection += part;
    }
    projection = (double)inverse * projection;
    if (s.dweight >= 0) ((float*)operand[s.dweight])[c] = (float)projection;
    if (s.dbias >= 0) ((float*)operand[s.dbias])[c] = (float)sum;
    if (s.dx < 0) continue;
    factor = inverse * weight[c];
    of_all = (float)(sum / count);
    of_x = (float)((double)inverse * projection / count);
    for (n = 0; n < s.images; ++n) {
      const float *gradient = dy + n * stride + c * s.plane, *from = x + n * stride + c * s.plane;
      float* to = (float*)operand[s.dx] + n * stride + c * s.plane;
      for (i = 0; i < s.plane; ++i) to[i] = factor * ((gradient[i] - of_all) - (from[i] - mean) * of_x);
    }
  }
  return POET_KERNEL_OK;
}

static void move(float* running, double to, double momentum) {
  *running = (float)((1.0 - momentum) * (double)*running + momentum * to);
}

int poet_batch_norm_stats(const void* shape, void* const* operand, const poet_run* run) {
  const float *mean = operand[0], *inverse = operand[1];
  poet_batch_norm s;
  float *running_mean, *running_variance;
  int32_t c;
  (void)run;
  memcpy(&s, shape, sizeof s);
  running_mean = operand[s.dx], running_variance = operand[s.dx + 1];
  for (c = 0; c < s.channels; ++c) {
    const double i = (double)inverse[c];
    const double variance =
        (1.0 / (i * i) - s.eps) * s.count / (s.count - 1.0); /* without bias, from 1 / deviation */
    move(&running_mean[c], (double)mean[c], s.momentum);
    move(&running_variance[c], variance, s.momentum);
  }
  return POET_KERNEL_OK;
}
