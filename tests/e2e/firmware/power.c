/* Power that goes after so many units have been written. For the host these are blocks, the one after the
 * last in part (POET_POWER in the environment; without it, how many there were is said in the end); for
 * boards, where poet_power in the program's file says how many, blocks of a file or bytes of a card. power.py
 * says which function is wrapped. */
#ifdef POWER_OF_HOST
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

ssize_t __real_pwrite(int file, const void* from, size_t bytes, off_t at);
ssize_t __wrap_pwrite(int file, const void* from, size_t bytes, off_t at);

static unsigned long written;

ssize_t __wrap_pwrite(int file, const void* from, size_t bytes, off_t at) {
  const char* power = getenv("POET_POWER");
  const unsigned long blocks = bytes / 512, left = power ? strtoul(power, 0, 10) - written : blocks + 1;
  if (left <= blocks) {
    const size_t torn = left * 512 + (left < blocks ? (written + left) % 512 : 0);
    if (torn > 0 && __real_pwrite(file, from, torn, at) < 0) _exit(1);
    _exit(99);
  }
  written += blocks;
  return __real_pwrite(file, from, bytes, at);
}

static void __attribute__((destructor)) say(void) {
  if (!getenv("POET_POWER")) fprintf(stderr, "%lu blocks written\n", written);
}
#else
#include "board/semihosting.h"

static volatile uint32_t poet_power[3] = {0x2E776F70, 0x7265776F, 0xFFFFFFFF};

static uint32_t lasts_for(uint32_t units) {
  const uint32_t left = poet_power[2];
  poet_power[2] = left > units ? left - units : 0;
  return left;
}

#ifdef POWER_OF_CARD
uint32_t __real_poet_spi_start(uint8_t* to, const uint8_t* from, uint32_t count, uint32_t budget);
uint32_t __wrap_poet_spi_start(uint8_t* to, const uint8_t* from, uint32_t count, uint32_t budget);

uint32_t __wrap_poet_spi_start(uint8_t* to, const uint8_t* from, uint32_t count, uint32_t budget) {
  const uint32_t bytes = __real_poet_spi_start(to, from, count, budget);
  if (from && lasts_for(bytes) <= bytes) poet_semihosting_exit(99);
  return bytes;
}
#else
int __real_poet_storage_start_write(uint32_t block, const void* from, uint32_t count);
int __wrap_poet_storage_start_write(uint32_t block, const void* from, uint32_t count);

int __wrap_poet_storage_start_write(uint32_t block, const void* from, uint32_t count) {
  const uint32_t left = lasts_for(count);
  if (left <= count) {
    if (left > 0) __real_poet_storage_start_write(block, from, left);
    poet_semihosting_exit(99);
  }
  return __real_poet_storage_start_write(block, from, count);
}
#endif
#endif
