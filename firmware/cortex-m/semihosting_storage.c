/* The storage is the file card.img of the machine that emulates. */
#include "poet_engine.h"
#include "semihosting.h"
#include "storage_window.h"

static uint32_t file;
static int result;

int poet_storage_open(uint32_t* blocks) {
  static const char name[] = "card.img";
  uint32_t arguments[3], bytes;
  int32_t found;
  arguments[0] = (uint32_t)(uintptr_t)name;
  arguments[1] = 3; /* r+b */
  arguments[2] = sizeof name - 1;
  found = poet_semihosting(SYS_OPEN, arguments);
  if (found < 0) return POET_NO_CARD;
  file = (uint32_t)found;
  bytes = (uint32_t)poet_semihosting(SYS_FLEN, &file);
  if (bytes == 0xFFFFFFFFU) return POET_NO_CARD; /* it does not say */
  if (bytes == 0) {                              /* images have powers of two: the length's lower 32 bits */
    poet_port_text("poet: card.img is empty, or has 4 GiB or more, beyond what semihosting reaches\n");
    return POET_CARD_TOO_SMALL;
  }
  *blocks = bytes / POET_BLOCK;
  return POET_OK;
}

static int move(uint32_t call, uint32_t block, uintptr_t at, uint32_t count) {
  uint32_t arguments[3];
  if (!poet_in_window(at, count)) return POET_IO_ERROR;
  arguments[0] = file;
  arguments[1] = block * POET_BLOCK;
  if (poet_semihosting(SYS_SEEK, arguments) != 0) return POET_IO_ERROR;
  arguments[1] = (uint32_t)at;
  arguments[2] = count * POET_BLOCK;
  return poet_semihosting(call, arguments) == 0 ? POET_OK : POET_IO_ERROR;
}

int poet_storage_start_read(uint32_t block, void* to, uint32_t count) {
  result = move(SYS_READ, block, (uintptr_t)to, count);
  return result;
}

int poet_storage_start_write(uint32_t block, const void* from, uint32_t count) {
  result = move(SYS_WRITE, block, (uintptr_t)from, count);
  return result;
}

int poet_storage_poll(uint32_t bytes) {
  (void)bytes;
  return result;
}
