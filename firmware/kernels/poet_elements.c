/* What is done element by element, and copies. */
#include <math.h> /* sqrtf */
#include <string.h>

#include "poet_kernels.h"
#include "poet_math.h"

void poet_start(float* to, const float* from, int32_t count) {
  if (from == 0) {
    memset(to, 0, (size_t)count * sizeof *to);
  } else if (from != to) {
    memcpy(to, from, (size_t)count * sizeof *to);
  }
}

/* Where the outer loops of a nest are. */
typedef struct walk {
  int32_t at[4];
  int32_t position[POET_AXES];
} walk;

/* The next run; 0 after the last one. */
static int next_run(const poet_nest* nest, walk* w) {
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
  walk w;                                                                                  \
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
  } while (next_run(&s.nest, &w));                                                         \
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

int poet_copy_boxes(const void* shape, void* const* operand, const poet_run* run) {
  const char* next = (const char*)shape + sizeof(poet_copies);
  poet_copies s;
  int32_t n, i;
  (void)run;
  memcpy(&s, shape, sizeof s);
  if (s.fill_operand >= 0) {
    uint32_t* to = operand[s.fill_operand];
    for (i = 0; i < s.fill_count; ++i) to[i] = s.fill;
  }
  for (n = 0; n < s.copies; ++n, next += sizeof(poet_copy)) {
    poet_copy c;
    walk w;
    memcpy(&c, next, sizeof c);
    memset(&w, 0, sizeof w);
    do {
      uint32_t* to = (uint32_t*)operand[c.to] + c.to_first + w.at[0];
      const uint32_t* from = (const uint32_t*)operand[c.from] + c.from_first + w.at[1];
      for (i = c.nest.count; i > 0; --i, to += c.nest.step[0], from += c.nest.step[1]) *to = *from;
    } while (next_run(&c.nest, &w));
  }
  return POET_KERNEL_OK;
}

#define POET_UPDATE            \
  poet_update s;               \
  walk w;                      \
  memcpy(&s, shape, sizeof s); \
  memset(&w, 0, sizeof w)

int poet_sgd_update(const void* shape, void* const* operand, const poet_run* run) {
  float rate;
  POET_UPDATE;
  (void)run;
  rate = (float)s.rate;
  do {
    float* parameter = (float*)operand[s.state] + w.at[0];
    const float* gradient = (const float*)operand[1] + w.at[1];
    int32_t i;
    for (i = s.nest.count; i > 0; --i, parameter += s.nest.step[0], gradient += s.nest.step[1])
      *parameter -= rate * *gradient;
  } while (next_run(&s.nest, &w));
  return POET_KERNEL_OK;
}

int poet_momentum_update(const void* shape, void* const* operand, const poet_run* run) {
  float rate, momentum;
  POET_UPDATE;
  (void)run;
  rate = (float)s.rate, momentum = (float)s.momentum;
  do {
    float* parameter = (float*)operand[s.state] + w.at[0];
    float* velocity = (float*)operand[s.state + 1] + w.at[0];
    const float* gradient = (const float*)operand[1] + w.at[1];
    int32_t i;
    for (i = s.nest.count; i > 0; --i) {
      *velocity = momentum * *velocity + *gradient;
      *parameter -= rate * *velocity;
      parameter += s.nest.step[0], velocity += s.nest.step[0], gradient += s.nest.step[1];
    }
  } while (next_run(&s.nest, &w));
  return POET_KERNEL_OK;
}

int poet_adam_update(const void* shape, void* const* operand, const poet_run* run) {
  float step_size, correction, b1, b2, new1, new2, eps;
  POET_UPDATE;
  step_size = (float)(s.rate / (1.0 - poet_power(s.beta1, run->step)));
  correction = (float)poet_root(1.0 - poet_power(s.beta2, run->step));
  b1 = (float)s.beta1, b2 = (float)s.beta2;
  new1 = (float)(1.0 - s.beta1), new2 = (float)(1.0 - s.beta2);
  eps = (float)s.eps;
  do {
    float* parameter = (float*)operand[s.state] + w.at[0];
    float* m = (float*)operand[s.state + 1] + w.at[0];
    float* v = (float*)operand[s.state + 2] + w.at[0];
    const float* gradient = (const float*)operand[1] + w.at[1];
    int32_t i;
    for (i = s.nest.count; i > 0; --i) {
      const float d = *gradient;
      *m = b1 * *m + new1 * d;
      *v = b2 * *v + new2 * d * d;
      *parameter -= step_size * (*m / (sqrtf(*v) / correction + eps));
      parameter += s.nest.step[0], m += s.nest.step[0], v += s.nest.step[0], gradient += s.nest.step[1];
    }
  } while (next_run(&s.nest, &w));
  return POET_KERNEL_OK;
}
