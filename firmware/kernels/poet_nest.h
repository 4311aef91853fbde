/* Going through a nest of loops (poet_nest). */
#ifndef POET_NEST_H
#define POET_NEST_H

#include "poet_kernels.h"

/* Where the outer loops are: elements from each operand's beginning. All 0 at first. */
typedef struct poet_walk {
  int32_t at[4];
  int32_t position[POET_AXES];
} poet_walk;

/* The next run; 0 after the last one. */
int poet_next_run(const poet_nest* nest, poet_walk* w);

#endif
