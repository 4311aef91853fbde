#include "poet_rows.h"

#include "poet_kernels.h"
#include "poet_math.h"

float poet_largest(const float* x, int32_t n) {
  float largest = x[0];
  int32_t i;
  for (i = 1; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
  return largest;
}

double poet_softmax_row(const float* x, float* y, int32_t n, float largest) {
  double sum;
  float total;
  int32_t i;
  for (i = 0; i < n; ++i) y[i] = poet_exp(x[i] - largest);
  POET_SUM(sum, n, k, y[k]);
  total = (float)sum;
  for (i = 0; i < n; ++i) y[i] /= total;
  return sum;
}

void poet_statistics(const float* x, int32_t runs, int32_t run, int32_t stride, double eps, double* mean,
                     double* inverse) {
  const double n = (double)(runs * run);
  double sum = 0.0, square = 0.0, part;
  int32_t r;
  for (r = 0; r < runs; ++r) {
    const float* at = x + r * stride;
    POET_SUM(part, run, i, at[i]);
    sum += part;
  }
  *mean = sum / n;
  for (r = 0; r < runs; ++r) {
    const float* at = x + r * stride;
    POET_SUM(part, run, i, ((double)at[i] - *mean) * ((double)at[i] - *mean));
    square += part;
  }
  *inverse = 1.0 / poet_root(square / n + eps);
}
