/* Sums along axes, in double: of numbers, and of products where a gradient goes to an operand that was
 * stretched. The order is that of the host's portable kernels. */
#include <string.h>

#include "poet_kernels.h"
#include "poet_nest.h"

/* Or calls by address would be left, whose stack no compiler can bound, and one for each number. */
#define INLINE static inline __attribute__((always_inline))

/* What is summed, of operands 0 and 1 (or 0 again). */
typedef double (*summand)(double a, double b);

static double number(double a, double b) {
  (void)b;
  return a;
}
static double negated(double a, double b) {
  (void)b;
  return -a;
}
static double product(double a, double b) { return a * b; }

/* Of all runs that fall together, each by itself; or one after another where neighbours go to different sums.
 */
INLINE double sum_at(const poet_fold* s, summand f, const float* a, const float* b) {
  const int32_t a_step = s->summed.step[0], b_step = s->summed.step[1];
  double sum = 0.0;
  poet_walk w;
  memset(&w, 0, sizeof w);
  do {
    const float* from_a = a + w.at[0];
    const float* from_b = b + w.at[1];
    if (s->by_columns) {
      int32_t k;
      for (k = 0; k < s->summed.count; ++k) sum += f((double)from_a[k * a_step], (double)from_b[k * b_step]);
    } else {
      double run;
      POET_SUM(run, s->summed.count, i, f((double)from_a[i * a_step], (double)from_b[i * b_step]));
      sum += run;
    }
  } while (poet_next_run(&s->summed, &w));
  return sum;
}

INLINE int fold(const void* shape, void* const* operand, int second, int result, summand f) {
  poet_fold s;
  poet_walk w;
  memcpy(&s, shape, sizeof s);
  memset(&w, 0, sizeof w);
  do {
    const float* a = (const float*)operand[0] + w.at[0];
    const float* b = (const float*)operand[second] + w.at[1];
    float* to = (float*)operand[result] + w.at[3];
    int32_t k;
    for (k = 0; k < s.kept.count; ++k) {
      *to = (float)(s.factor * sum_at(&s, f, a, b));
      a += s.kept.step[0];
      b += s.kept.step[1];
      to += s.kept.step[3];
    }
  } while (poet_next_run(&s.kept, &w));
  return POET_KERNEL_OK;
}

int poet_sum(const void* shape, void* const* operand, const poet_run* run) {
  (void)run;
  return fold(shape, operand, 0, 1, number);
}
int poet_negated_sum(const void* shape, void* const* operand, const poet_run* run) {
  (void)run;
  return fold(shape, operand, 0, 1, negated);
}
int poet_sum_of_products(const void* shape, void* const* operand, const poet_run* run) {
  (void)run;
  return fold(shape, operand, 1, 2, product);
}
