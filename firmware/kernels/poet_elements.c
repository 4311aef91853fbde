/* What is done element by element, and copies. */
#include <math.h> /* sqrtf */
#include <string.h>

#include "poet_kernels.h"
#include "poet_math.h"
#include "poet_nest.h"

void poet_start(float* to, const float* from, int32_t count) {
  if (from == 0) {
    memset(to, 0, (size_t)count * sizeof *to);
  } else if (from != to) {
    memcpy(to, from, (size_t)count * sizeof *to);
  }
}

int poet_next_run(const poet_nest* nest, poet_walk* w) {
  int32_t axis, r;
  for (axis = nest->rank - 1; axis >= 0; --axis) {
    for (r = 0; r < 4; ++r) w->at[r] += nest->stride[axis][r];
    if (++w->position[axis] < nest->size[axis]) return 1;
    w->position[axis] = 0;
    for (r = 0; r < 4; ++r) w->at[r] -= nest->stride[axis][r] * nest->size[axis];
  }
  return 0;
}

/* The body of a kernel: `expression` of the elements a and b of operands 0 and 1, the result in operand
 * RESULT. */
#define POET_ELEMENTWISE(RESULT, expression)                                               \
  poet_elementwise s;                                                                      \
  poet_walk w;                                                                             \
  (void)run;                                                                               \
  memcpy(&s, shape, sizeof s);                                                             \
  memset(&w, 0, sizeof w);                                                                 \
  do {                                                                                     \
    float* y = (float*)operand[RESULT] + w.at[0];                                          \
    const float* in0 = (const float*)operand[0] + w.at[1];                                 \
    const float* in1 = (const float*)operand[(RESULT)-1] + w.at[2];                        \
    const int32_t y_step = s.nest.step[0], step0 = s.nest.step[1], step1 = s.nest.step[2]; \
    int32_t i;                                                                             \
    for (i = s.nest.count; i > 0; --i, y += y_step, in0 += step0, in1 += step1) {          \
      const float a = *in0;                                                                \
      const float b = *in1;                                                                \
      (void)b;                                                                             \
      *y = (expression);                                                                   \
    }                                                                                      \
  } while (poet_next_run(&s.nest, &w));                                                    \
  return POET_KERNEL_OK

int poet_add(const void* shape, void* const* operand, const poet_run* run) { POET_ELEMENTWISE(2, a + b); }
int poet_sub(const void* shape, void* const* operand, const poet_run* run) { POET_ELEMENTWISE(2, a - b); }
int poet_mul(const void* shape, void* const* operand, const poet_run* run) { POET_ELEMENTWISE(2, a * b); }
int poet_scale(const void* shape, void* const* operand, const poet_run* run) {
  POET_ELEMENTWISE(1, s.number[0] * a + s.number[1]);
}
int poet_scale_backward(const void* shape, void* const* operand, const poet_run* run) {
  POET_ELEMENTWISE(1, s.number[0] * a);
}
int poet_relu(const void* shape, void* const* operand, const poet_run* run) {
  POET_ELEMENTWISE(1, a < 0.0F ? 0.0F : a);
}
int poet_relu_backward(const void* shape, void* const* operand, const poet_run* run) {
  POET_ELEMENTWISE(2, b > 0.0F ? a : 0.0F);
}
int poet_clip(const void* shape, void* const* operand, const poet_run* run) {
  POET_ELEMENTWISE(1, (a < s.number[0] ? s.number[0] : a) > s.number[1] ? s.number[1]
                      : a < s.number[0]                                 ? s.number[0]
                                                                        : a);
}
int poet_clip_backward(const void* shape, void* const* operand, const poet_run* run) {
  POET_ELEMENTWISE(2, b > s.number[0] && b < s.number[1] ? a : 0.0F);
}

static float sigmoid_of(float x) { return 1.0F / (1.0F + poet_exp(-x)); }
static float gelu_slope(float x) {
  return 0.5F * poet_erfc(-x * 0.70710678118654752F) + x * 0.39894228040143268F * poet_exp(-0.5F * x * x);
}
static float silu_slope(float x) {
  const float s = sigmoid_of(x);
  return s * (1.0F + x * (1.0F - s));
}
static float unit_clipped(float x) { return x < 0.0F ? 0.0F : 1.0F < x ? 1.0F : x; }

int poet_exp_each(const void* shape, void* const* operand, const poet_run* run) {
  POET_ELEMENTWISE(1, poet_exp(a));
}
int poet_tanh_each(const void* shape, void* const* operand, const poet_run* run) {
  POET_ELEMENTWISE(1, poet_tanh(a));
}
int poet_tanh_backward(const void* shape, void* const* operand, const poet_run* run) {
  POET_ELEMENTWISE(2, a * (1.0F - b * b));
}
int poet_gelu(const void* shape, void* const* operand, const poet_run* run) {
  POET_ELEMENTWISE(1, 0.5F * a * poet_erfc(-a * 0.70710678118654752F));
}
int poet_gelu_backward(const void* shape, void* const* operand, const poet_run* run) {
  POET_ELEMENTWISE(2, a * gelu_slope(b));
}
int poet_sigmoid(const void* shape, void* const* operand, const poet_run* run) {
  POET_ELEMENTWISE(1, sigmoid_of(a));
}
int poet_sigmoid_backward(const void* shape, void* const* operand, const poet_run* run) {
  POET_ELEMENTWISE(2, a * (b * (1.0F - b)));
}
int poet_silu(const void* shape, void* const* operand, const poet_run* run) {
  POET_ELEMENTWISE(1, a * sigmoid_of(a));
}
int poet_silu_backward(const void* shape, void* const* operand, const poet_run* run) {
  POET_ELEMENTWISE(2, a * silu_slope(b));
}
int poet_hardswish(const void* shape, void* const* operand, const poet_run* run) {
  POET_ELEMENTWISE(1, a * unit_clipped(a / 6.0F + 0.5F));
}
int poet_hardswish_backward(const void* shape, void* const* operand, const poet_run* run) {
  POET_ELEMENTWISE(2, a * (b <= -3.0F ? 0.0F : b >= 3.0F ? 1.0F : b / 3.0F + 0.5F));
}

int poet_sqrt_each(const void* shape, void* const* operand, const poet_run* run) {
  POET_ELEMENTWISE(1, sqrtf(a));
}
int poet_sqrt_backward(const void* shape, void* const* operand, const poet_run* run) {
  POET_ELEMENTWISE(2, a * (0.5F / b));
}
int poet_leaky_relu(const void* shape, void* const* operand, const poet_run* run) {
  POET_ELEMENTWISE(1, a > 0.0F ? a : s.number[0] * a);
}
int poet_leaky_relu_backward(const void* shape, void* const* operand, const poet_run* run) {
  POET_ELEMENTWISE(2, a * (b > 0.0F ? 1.0F : s.number[0]));
}
int poet_hardsigmoid(const void* shape, void* const* operand, const poet_run* run) {
  POET_ELEMENTWISE(1, unit_clipped(s.number[0] * a + s.number[1]));
}
int poet_hardsigmoid_backward(const void* shape, void* const* operand, const poet_run* run) {
  POET_ELEMENTWISE(2, a * (b > 0.0F && b < 1.0F ? s.number[0] : 0.0F));
}

/* The body of a kernel that copies boxes of elements of this type. */
#define POET_COPY_BOXES(type)                                                                       \
  const char* next = (const char*)shape + sizeof(poet_copies);                                      \
  poet_copies s;                                                                                    \
  int32_t n, i;                                                                                     \
  (void)run;                                                                                        \
  memcpy(&s, shape, sizeof s);                                                                      \
  if (s.fill_operand >= 0) {                                                                        \
    type* to = operand[s.fill_operand];                                                             \
    for (i = 0; i < s.fill_count; ++i) to[i] = (type)s.fill;                                        \
  }                                                                                                 \
  for (n = 0; n < s.copies; ++n, next += sizeof(poet_copy)) {                                       \
    poet_copy c;                                                                                    \
    poet_walk w;                                                                                    \
    memcpy(&c, next, sizeof c);                                                                     \
    memset(&w, 0, sizeof w);                                                                        \
    do {                                                                                            \
      type* to = (type*)operand[c.to] + c.to_first + w.at[0];                                       \
      const type* from = (const type*)operand[c.from] + c.from_first + w.at[1];                     \
      for (i = c.nest.count; i > 0; --i, to += c.nest.step[0], from += c.nest.step[1]) *to = *from; \
    } while (poet_next_run(&c.nest, &w));                                                           \
  }                                                                                                 \
  return POET_KERNEL_OK

int poet_copy_boxes(const void* shape, void* const* operand, const poet_run* run) {
  POET_COPY_BOXES(uint32_t);
}
int poet_copy_halves(const void* shape, void* const* operand, const poet_run* run) {
  POET_COPY_BOXES(uint16_t);
}
