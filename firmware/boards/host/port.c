/* A board of one's own as a program for Linux: the storage is a file, the firmware the same C.
 *
 *     firmware CARD
 *
 * Exits with the code of poet_train(). */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "poet_engine.h"
#include "poet_plan.h"

float poet_ram[POET_RAM_BYTES / 4 + 1];

static const char* card;
static int file = -1;
static int result;

void poet_port_text(const char* text) {
  fputs(text, stdout);
  fflush(stdout);
}

uint64_t poet_port_instructions(void) { return 0; }

int poet_storage_open(uint32_t* blocks) {
  struct stat about;
  file = open(card, O_RDWR);
  if (file < 0 || fstat(file, &about) != 0) return POET_NO_CARD;
  *blocks = (uint32_t)(about.st_size / POET_BLOCK);
  return POET_OK;
}

static int moved(uint32_t block, void* at, const void* from, uint32_t count) {
  size_t left = (size_t)count * POET_BLOCK;
  off_t place = (off_t)block * POET_BLOCK;
  char* to = at;
  const char* out = from;
  while (left > 0) {
    const ssize_t part = to ? pread(file, to, left, place) : pwrite(file, out, left, place);
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) return POET_IO_ERROR;
    if (to) to += part;
    if (out) out += part;
    left -= (size_t)part;
    place += part;
  }
  return POET_OK;
}

int poet_storage_start_read(uint32_t block, void* to, uint32_t count) {
  result = moved(block, to, 0, count);
  return result;
}

int poet_storage_start_write(uint32_t block, const void* from, uint32_t count) {
  result = moved(block, 0, from, count);
  return result;
}

int poet_storage_poll(uint32_t bytes) {
  (void)bytes;
  return result;
}

void poet_port_carry_on(void) { poet_channel_advance(POET_BLOCK); }

int main(int argc, char** argv) {
  if (argc != 2) {
    fputs("usage: firmware CARD\n", stderr);
    return 2;
  }
  card = argv[1];
  return poet_train();
}
