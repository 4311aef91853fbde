/* Losses that compare numbers with targets of their shape: means over all elements, summed in double. */
#include <math.h> /* NAN */
#include <string.h>

#include "poet_kernels.h"
#include "poet_math.h"

/* The mean of a function of x, its target and the shape's number, doubles. */
#define POET_MEAN(function)                                                             \
  const float *of_x = operand[0], *of_target = operand[1];                              \
  poet_number_loss s;                                                                   \
  double sum;                                                                           \
  (void)run;                                                                            \
  memcpy(&s, shape, sizeof s);                                                          \
  POET_SUM(sum, s.count, i, function((double)of_x[i], (double)of_target[i], s.number)); \
  *(float*)operand[2] = (float)(sum / (double)s.count);                                 \
  return POET_KERNEL_OK

/* Its slope: a function of the same, floats, times whole / n. */
#define POET_SLOPE(whole, function)                                                       \
  const float *of_x = operand[0], *of_target = operand[1];                                \
  float *dx = operand[2], factor, number;                                                 \
  poet_number_loss s;                                                                     \
  int32_t i;                                                                              \
  (void)run;                                                                              \
  memcpy(&s, shape, sizeof s);                                                            \
  factor = (float)((whole) / (double)s.count);                                            \
  number = (float)s.number;                                                               \
  for (i = 0; i < s.count; ++i) dx[i] = factor * function(of_x[i], of_target[i], number); \
  return POET_KERNEL_OK

int poet_mean_loss(const void* shape, void* const* operand, const poet_run* run) {
  const float* x = operand[0];
  poet_number_loss s;
  double sum;
  (void)run;
  memcpy(&s, shape, sizeof s);
  POET_SUM(sum, s.count, i, (double)x[i]);
  *(float*)operand[1] = (float)(sum / (double)s.count);
  return POET_KERNEL_OK;
}
int poet_mean_loss_backward(const void* shape, void* const* operand, const poet_run* run) {
  float* dx = operand[1];
  poet_number_loss s;
  int32_t i;
  (void)run;
  memcpy(&s, shape, sizeof s);
  for (i = 0; i < s.count; ++i) dx[i] = (float)(1.0 / (double)s.count);
  return POET_KERNEL_OK;
}

static double magnitude(double x) { return x < 0.0 ? -x : x; }

/* ---- mean squares, magnitudes, and one for small, the other for large ones */

static double square(double x, double target, double unused) {
  (void)unused;
  return (x - target) * (x - target);
}
static float difference(float x, float target, float unused) {
  (void)unused;
  return x - target;
}
int poet_mse_loss(const void* shape, void* const* operand, const poet_run* run) { POET_MEAN(square); }
int poet_mse_loss_backward(const void* shape, void* const* operand, const poet_run* run) {
  POET_SLOPE(2.0, difference);
}

static double distance(double x, double target, double unused) {
  (void)unused;
  return magnitude(x - target);
}
/* No number where x or its target is none. */
static float side(float x, float target, float unused) {
  const float d = x - target;
  (void)unused;
  return d > 0.0F ? 1.0F : d < 0.0F ? -1.0F : d * 0.0F;
}
int poet_l1_loss(const void* shape, void* const* operand, const poet_run* run) { POET_MEAN(distance); }
int poet_l1_loss_backward(const void* shape, void* const* operand, const poet_run* run) {
  POET_SLOPE(1.0, side);
}

static double huber(double x, double target, double delta) {
  const double d = magnitude(x - target);
  return d <= delta ? 0.5 * d * d : delta * (d - 0.5 * delta);
}
static float huber_slope(float x, float target, float delta) {
  const float d = x - target;
  return d < -delta ? -delta : d > delta ? delta : d;
}
int poet_huber_loss(const void* shape, void* const* operand, const poet_run* run) { POET_MEAN(huber); }
int poet_huber_loss_backward(const void* shape, void* const* operand, const poet_run* run) {
  POET_SLOPE(1.0, huber_slope);
}

/* ---- cross-entropies of yes and no */

/* e^-|x| never overflows, and 1 + it loses nothing that float keeps. */
static double logits(double x, double target, double unused) {
  const double less = (double)poet_exp((float)-magnitude(x));
  (void)unused;
  return (x > 0.0 ? x : 0.0 * x) - x * target + poet_log(1.0 + less);
}
static float logits_slope(float x, float target, float unused) {
  const float less = poet_exp(x < 0.0F ? x : -x);
  (void)unused;
  return (x >= 0.0F ? 1.0F : less) / (1.0F + less) - target;
}
int poet_bce_with_logits_loss(const void* shape, void* const* operand, const poet_run* run) {
  POET_MEAN(logits);
}
int poet_bce_with_logits_loss_backward(const void* shape, void* const* operand, const poet_run* run) {
  POET_SLOPE(1.0, logits_slope);
}

/* PyTorch's: of a probability of 0 the logarithm is -100; of 0 and 1 x (1 - x) is 1e-12. */
static double bounded_log(double x) {
  double y;
  if (!(x > 0.0)) return -100.0;
  y = poet_log(x);
  return y < -100.0 ? -100.0 : y;
}
/* The run ends as of any loss that is no number. */
static double yes_or_no(double x, double target, double unused) {
  (void)unused;
  if (!(x >= 0.0 && x <= 1.0)) return (double)NAN;
  return -(target * bounded_log(x) + (1.0 - target) * bounded_log(1.0 - x));
}
static float yes_or_no_slope(float x, float target, float unused) {
  const float spread = (1.0F - x) * x;
  (void)unused;
  if (!(x >= 0.0F && x <= 1.0F)) return NAN;
  return (x - target) / (spread < 1e-12F ? 1e-12F : spread);
}
int poet_bce_loss(const void* shape, void* const* operand, const poet_run* run) { POET_MEAN(yes_or_no); }
int poet_bce_loss_backward(const void* shape, void* const* operand, const poet_run* run) {
  POET_SLOPE(1.0, yes_or_no_slope);
}
