/* How the learning rate changes from update to update: a factor on the optimiser's, told by the number of the
 * update alone. `poet run` calls the same function, so both have the same bits. */
#ifndef POET_RATE_H
#define POET_RATE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { POET_RATE_CONSTANT = 0, POET_RATE_STEP, POET_RATE_COSINE };

typedef struct poet_schedule {
  uint32_t kind;
  uint32_t warmup; /* updates over which the rate rises to what the schedule begins with */
  uint32_t length; /* updates from one step to the next; of a cosine: until its end */
  uint32_t unused;
  double number; /* what each step multiplies the rate by; the part of the rate where a cosine ends */
} poet_schedule;

/* Of update `number`, from 1 on. The last one of the warm-up has the whole rate, as has the first one behind
 * it. */
double poet_rate_factor(const poet_schedule* schedule, uint32_t number);

#ifdef __cplusplus
}
#endif

#endif
