/* Means over planes, cross-entropy over classes. */
#include <string.h>

#include "poet_kernels.h"
#include "poet_math.h"
#include "poet_rows.h"

int poet_global_avg_pool(const void* shape, void* const* operand, const poet_run* run) {
  poet_planes s;
  int32_t p;
  (void)run;
  memcpy(&s, shape, sizeof s);
  for (p = 0; p < s.planes; ++p) {
    const float* x = (const float*)operand[0] + p * s.size;
    double sum;
    POET_SUM(sum, s.size, i, x[i]);
    ((float*)operand[1])[p] = (float)(sum / (double)s.size);
  }
  return POET_KERNEL_OK;
}

int poet_global_avg_pool_backward(const void* shape, void* const* operand, const poet_run* run) {
  poet_planes s;
  int32_t p, i;
  (void)run;
  memcpy(&s, shape, sizeof s);
  for (p = 0; p < s.planes; ++p) {
    const float share = ((const float*)operand[0])[p] / (float)s.size;
    float* dx = (float*)operand[1] + p * s.size;
    for (i = 0; i < s.size; ++i) dx[i] = share;
  }
  return POET_KERNEL_OK;
}

int poet_softmax_cross_entropy(const void* shape, void* const* operand, const poet_run* run) {
  const int32_t* targets = operand[1];
  double loss = 0.0;
  poet_cross_entropy s;
  int32_t row;
  (void)run;
  memcpy(&s, shape, sizeof s);
  for (row = 0; row < s.rows; ++row) {
    const float* x = (const float*)operand[0] + row * s.width;
    const int32_t target = targets[row];
    float largest;
    double wanted, sum;
    if (target < 0 || target >= s.width) return POET_KERNEL_BAD_INDEX;
    largest = poet_largest(x, s.width);
    wanted = (double)x[target] - (double)largest;
    if (s.smoothing > 0.0) { /* before p, which may lie on x */
      POET_SUM(sum, s.width, i, (double)x[i] - (double)largest);
      wanted += s.smoothing * (sum / (double)s.width - wanted);
    }
    sum = poet_softmax_row(x, (float*)operand[3] + row * s.width, s.width, largest);
    loss += poet_log(sum) - wanted;
  }
  *(float*)operand[2] = (float)(loss / (double)s.rows);
  return POET_KERNEL_OK;
}

int poet_softmax_cross_entropy_backward(const void* shape, void* const* operand, const poet_run* run) {
  const int32_t* targets = operand[1];
  poet_cross_entropy s;
  int32_t row, i;
  (void)run;
  memcpy(&s, shape, sizeof s);
  for (row = 0; row < s.rows; ++row) {
    const float* p = (const float*)operand[0] + row * s.width;
    float* dx = (float*)operand[2] + row * s.width;
    const int32_t target = targets[row];
    if (target < 0 || target >= s.width) return POET_KERNEL_BAD_INDEX;
    for (i = 0; i < s.width; ++i) dx[i] = (p[i] - (i == target ? s.right : s.others)) / (float)s.rows;
  }
  return POET_KERNEL_OK;
}
