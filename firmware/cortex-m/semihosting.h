/* Calls of the debugger or emulator. */
#ifndef POET_SEMIHOSTING_H
#define POET_SEMIHOSTING_H

#include <stdint.h>

enum {
  SYS_OPEN = 0x01,
  SYS_WRITE0 = 0x04,
  SYS_WRITE = 0x05,
  SYS_READ = 0x06,
  SYS_SEEK = 0x0A,
  SYS_FLEN = 0x0C,
  SYS_EXIT_EXTENDED = 0x20
};

static inline int32_t poet_semihosting(uint32_t number, const void* arguments) {
  register uint32_t r0 __asm("r0") = number;
  register const void* r1 __asm("r1") = arguments;
  __asm volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
  return (int32_t)r0;
}

static inline void poet_semihosting_exit(int code) {
  uint32_t block[2];
  block[0] = 0x20026U; /* the application has ended */
  block[1] = (uint32_t)code;
  for (;;) poet_semihosting(SYS_EXIT_EXTENDED, block);
}

#endif
