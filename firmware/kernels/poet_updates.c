/* What is done to gradients before they update anything, and what optimisers do to parameters. Gradients may
 * lie in another order than the parameter. */
#include <math.h> /* sqrtf */
#include <string.h>

#include "poet_kernels.h"
#include "poet_math.h"
#include "poet_nest.h"

/* Or each optimiser would have tests for the others' numbers in its loop. */
#define INLINE static inline __attribute__((always_inline))

int poet_accumulate_gradient(const void* shape, void* const* operand, const poet_run* run) {
  poet_accumulate s;
  poet_walk w;
  float steps;
  int ends;
  memcpy(&s, shape, sizeof s);
  memset(&w, 0, sizeof w);
  steps = (float)s.every;
  ends = run->step % (uint32_t)s.every == 0;
  do {
    float* mean = (float*)operand[2] + w.at[0];
    const float* gradient = (const float*)operand[0] + w.at[1];
    float* sum = (float*)operand[3] + w.at[2];
    int32_t i;
    for (i = s.nest.count; i > 0; --i) {
      const float so_far = *sum + *gradient / steps;
      *mean = so_far;
      *sum = ends ? 0.0F : so_far;
      mean += s.nest.step[0], gradient += s.nest.step[1], sum += s.nest.step[2];
    }
  } while (poet_next_run(&s.nest, &w));
  return POET_KERNEL_OK;
}

int poet_squared_norm(const void* shape, void* const* operand, const poet_run* run) {
  double lane[8] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}; /* as POET_SUM's */
  poet_norm s;
  poet_walk w;
  uint32_t next = 0;
  double before;
  (void)run;
  memcpy(&s, shape, sizeof s);
  memset(&w, 0, sizeof w);
  do {
    const float* x = (const float*)operand[0] + w.at[1];
    int32_t i;
    for (i = s.nest.count; i > 0; --i, x += s.nest.step[1]) lane[next++ & 7U] += (double)*x * (double)*x;
  } while (poet_next_run(&s.nest, &w));
  before = s.total < 0 ? 0.0 : (double)*(const float*)operand[s.total];
  *(float*)operand[s.result] = (float)(before + (((lane[0] + lane[4]) + (lane[2] + lane[6])) +
                                                 ((lane[1] + lane[5]) + (lane[3] + lane[7]))));
  return POET_KERNEL_OK;
}

int poet_clip_factor(const void* shape, void* const* operand, const poet_run* run) {
  double most, factor;
  (void)run;
  memcpy(&most, shape, sizeof most);
  factor = most / (poet_root((double)*(const float*)operand[0]) + 1e-6); /* PyTorch's, where the norm is 0 */
  *(float*)operand[1] = factor > 1.0 ? 1.0F : (float)factor;
  return POET_KERNEL_OK;
}

/* ---- updates */

static int is_due(const poet_update* s, const poet_run* run) { return run->step % (uint32_t)s->every == 0; }

/* Carries out `change` for every weight: *parameter, *first and *second of its state, and `slope`, the
 * gradient and with `decay` above 0 the parameter's share. Where there is no state the pointers stay on the
 * parameter. */
#define POET_WEIGHTS(decay, first_state, second_state, change)                         \
  do {                                                                                 \
    const float pull = (float)(decay);                                                 \
    poet_walk w;                                                                       \
    memset(&w, 0, sizeof w);                                                           \
    do {                                                                               \
      float* parameter = (float*)operand[s.state] + w.at[0];                           \
      float* first = (float*)operand[s.state + (first_state)] + w.at[0];               \
      float* second = (float*)operand[s.state + (second_state)] + w.at[0];             \
      const float* gradient = (const float*)operand[1] + w.at[1];                      \
      const int32_t step = s.nest.step[0], gradient_step = s.nest.step[1];             \
      int32_t i;                                                                       \
      (void)first, (void)second;                                                       \
      if ((decay) > 0.0) {                                                             \
        for (i = s.nest.count; i > 0; --i) {                                           \
          const float slope = *gradient + pull * *parameter;                           \
          change;                                                                      \
          parameter += step, first += step, second += step, gradient += gradient_step; \
        }                                                                              \
      } else {                                                                         \
        for (i = s.nest.count; i > 0; --i) {                                           \
          const float slope = *gradient;                                               \
          change;                                                                      \
          parameter += step, first += step, second += step, gradient += gradient_step; \
        }                                                                              \
      }                                                                                \
    } while (poet_next_run(&s.nest, &w));                                              \
  } while (0)

int poet_sgd_update(const void* shape, void* const* operand, const poet_run* run) {
  poet_update s;
  float rate;
  memcpy(&s, shape, sizeof s);
  if (!is_due(&s, run)) return POET_KERNEL_OK;
  rate = (float)(s.rate * run->rate_factor);
  POET_WEIGHTS(s.decay, 0, 0, *parameter -= rate * slope);
  return POET_KERNEL_OK;
}

INLINE int momentum(const void* shape, void* const* operand, const poet_run* run, int nesterov) {
  poet_update s;
  float rate, kept;
  memcpy(&s, shape, sizeof s);
  if (!is_due(&s, run)) return POET_KERNEL_OK;
  rate = (float)(s.rate * run->rate_factor);
  kept = (float)s.momentum;
  POET_WEIGHTS(s.decay, 1, 0, {
    const float velocity = kept * *first + slope;
    *first = velocity;
    *parameter -= rate * (nesterov ? slope + kept * velocity : velocity);
  });
  return POET_KERNEL_OK;
}

int poet_momentum_update(const void* shape, void* const* operand, const poet_run* run) {
  return momentum(shape, operand, run, 0);
}
int poet_nesterov_update(const void* shape, void* const* operand, const poet_run* run) {
  return momentum(shape, operand, run, 1);
}

/* `decoupled`: the decay shrinks the parameter beside the step, as AdamW has it. */
INLINE int adam(const void* shape, void* const* operand, const poet_run* run, int decoupled) {
  float step_size, correction, b1, b2, new1, new2, eps, kept;
  unsigned long updates;
  poet_update s;
  double rate;
  memcpy(&s, shape, sizeof s);
  if (!is_due(&s, run)) return POET_KERNEL_OK;
  updates = run->step / (uint32_t)s.every;
  rate = s.rate * run->rate_factor;
  step_size = (float)(rate / (1.0 - poet_power(s.beta1, updates)));
  correction = (float)poet_root(1.0 - poet_power(s.beta2, updates));
  b1 = (float)s.beta1, b2 = (float)s.beta2;
  new1 = (float)(1.0 - s.beta1), new2 = (float)(1.0 - s.beta2);
  eps = (float)s.eps;
  kept = decoupled ? (float)(1.0 - rate * s.decay) : 1.0F;
  POET_WEIGHTS(decoupled ? 0.0 : s.decay, 1, 2, {
    const float m = b1 * *first + new1 * slope;
    const float v = b2 * *second + new2 * slope * slope;
    *first = m;
    *second = v;
    *parameter = kept * *parameter - step_size * (m / (sqrtf(v) / correction + eps));
  });
  return POET_KERNEL_OK;
}

int poet_adam_update(const void* shape, void* const* operand, const poet_run* run) {
  return adam(shape, operand, run, 0);
}
int poet_adamw_update(const void* shape, void* const* operand, const poet_run* run) {
  return adam(shape, operand, run, 1);
}
