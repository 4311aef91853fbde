/* The learning rate's schedule. */
#include "poet_rate.h"

#include "../kernels/poet_math.h"

double poet_rate_factor(const poet_schedule* schedule, uint32_t number) {
  uint32_t done;
  if (number <= schedule->warmup) return (double)number / (double)schedule->warmup;
  done = number - schedule->warmup - 1;
  switch (schedule->kind) {
    case POET_RATE_STEP:
      return poet_power(schedule->number, done / schedule->length);
    case POET_RATE_COSINE:
      if (done >= schedule->length) return schedule->number;
      return schedule->number +
             (1.0 - schedule->number) * 0.5 * (1.0 + poet_cos_pi((double)done / (double)schedule->length));
    default:
      return 1.0;
  }
}
