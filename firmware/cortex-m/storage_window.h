/* The part of RAM that storage is read into and written from. Neither a DMA nor semihosting asks the MPU. */
#ifndef POET_STORAGE_WINDOW_H
#define POET_STORAGE_WINDOW_H

#include "../engine/poet_engine.h"

extern uint32_t poet_window[], poet_window_end[];

/* Whether so many blocks from `at` on lie in it; no sum or product of these can wrap. */
static inline int poet_in_window(uintptr_t at, uint32_t count) {
  return at >= (uintptr_t)poet_window && at <= (uintptr_t)poet_window_end &&
         count <= ((uintptr_t)poet_window_end - at) / POET_BLOCK;
}

#endif
