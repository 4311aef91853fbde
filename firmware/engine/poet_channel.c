/* Pages: whole blocks go from and to where a value lies, what is left of it and the trailer through one
 * buffer. A page that is read is known to be whole when somebody waits for it. */
#include <string.h>

#include "poet_engine.h"

enum { QUEUE = 16 };

typedef struct transfer {
  uint32_t block, bytes, step;
  float* at;
  uint32_t hash; /* to be written; or as it was read */
  uint8_t write, done;
  uint32_t found_step;
} transfer;

static transfer queue[QUEUE];
static uint32_t issued, completed, known; /* numbers of transfers; known: waited for */
static int active, phase; /* of transfer `completed`: whole blocks, then the last one or two */

uint32_t poet_block[POET_BLOCK / 4];
uint32_t poet_bad_page;

static uint32_t whole_blocks(const transfer* t) { return t->bytes / POET_BLOCK; }

/* Of the buffer: the bytes of the value in the last blocks. The trailer has 8 bytes of its own behind them,
 * so that there may be two last blocks; the first of them is then full but for less than 8 bytes, which stay
 * 0. */
static uint32_t rest(const transfer* t) { return t->bytes % POET_BLOCK; }
static int fits_one(const transfer* t) { return rest(t) + POET_TRAILER <= POET_BLOCK; }

static int start_phase(transfer* t) {
  for (;; ++phase) {
    const uint32_t whole = whole_blocks(t);
    if (phase == 0) {
      if (whole == 0) continue;
      return t->write ? poet_storage_start_write(t->block, t->at, whole)
                      : poet_storage_start_read(t->block, t->at, whole);
    }
    if (phase == 1) {
      if (fits_one(t)) continue; /* the last block has the trailer */
      if (t->write) {
        memset(poet_block, 0, sizeof poet_block);
        memcpy(poet_block, (const char*)t->at + whole * POET_BLOCK, rest(t));
        return poet_storage_start_write(t->block + whole, poet_block, 1);
      }
      return poet_storage_start_read(t->block + whole, poet_block, 1);
    }
    if (t->write) {
      memset(poet_block, 0, sizeof poet_block);
      if (fits_one(t)) memcpy(poet_block, (const char*)t->at + whole * POET_BLOCK, rest(t));
      poet_block[POET_BLOCK / 4 - 2] = t->step;
      poet_block[POET_BLOCK / 4 - 1] = t->hash;
      return poet_storage_start_write(t->block + whole + (fits_one(t) ? 0U : 1U), poet_block, 1);
    }
    return poet_storage_start_read(t->block + whole + (fits_one(t) ? 0U : 1U), poet_block, 1);
  }
}

static void end_phase(transfer* t) {
  if (phase == 0) return;
  if (!t->write && ((phase == 1) || fits_one(t)))
    memcpy((char*)t->at + whole_blocks(t) * POET_BLOCK, poet_block, rest(t));
  if (phase == 2 && !t->write) {
    t->found_step = poet_block[POET_BLOCK / 4 - 2];
    t->hash = poet_block[POET_BLOCK / 4 - 1];
  }
}

/* Carries the channel on by a bit. */
static int advance(void) {
  transfer* t = &queue[completed % QUEUE];
  int code = POET_OK;
  if (completed == issued) return POET_OK;
  if (!active) {
    phase = 0;
    active = 1;
    return start_phase(t);
  }
  code = poet_storage_poll();
  if (code == POET_BUSY) return POET_OK;
  if (code != POET_OK) return code;
  end_phase(t);
  if (phase < 2) {
    ++phase;
    return start_phase(t);
  }
  active = 0;
  ++completed;
  return POET_OK;
}

/* What has come is checked; its place in the queue is free. */
static int check_completed(void) {
  for (; known != completed; ++known) {
    const transfer* t = &queue[known % QUEUE];
    if (t->write) continue;
    poet_bad_page = t->block;
    if (poet_hash(t->at, t->bytes, t->block ^ t->found_step) != t->hash) return POET_DAMAGED;
    if (t->found_step != t->step) return POET_STALE;
  }
  return POET_OK;
}

int poet_channel_wait(uint32_t outstanding) {
  while (issued - completed > outstanding) {
    const int code = advance();
    if (code != POET_OK) return code;
  }
  return check_completed();
}

void poet_channel_drop(void) {
  while (active && poet_storage_poll() == POET_BUSY) {
  }
  active = 0;
  known = completed = issued;
}

static int issue(uint32_t block, float* at, uint32_t bytes, uint32_t step, uint8_t write) {
  transfer* t;
  if (issued - known == QUEUE) {
    const int code = poet_channel_wait(QUEUE - 1);
    if (code != POET_OK) return code;
  }
  t = &queue[issued % QUEUE];
  t->block = block;
  t->at = at;
  t->bytes = bytes;
  t->step = step;
  t->write = write;
  if (write) t->hash = poet_hash(at, bytes, block ^ step);
  ++issued;
  return active ? POET_OK : advance();
}

int poet_channel_read(uint32_t block, float* to, uint32_t bytes, uint32_t step) {
  return issue(block, to, bytes, step, 0);
}

int poet_channel_write(uint32_t block, const float* from, uint32_t bytes, uint32_t step) {
  return issue(block, (float*)(uintptr_t)from, bytes, step, 1); /* never written through */
}

static int finish(int code) {
  while (code == POET_OK) {
    code = poet_storage_poll();
    if (code != POET_BUSY) return code;
    code = POET_OK;
  }
  return code;
}

int poet_read_blocks(uint32_t block, void* to, uint32_t count) {
  const int code = poet_channel_wait(0);
  return code != POET_OK ? code : finish(poet_storage_start_read(block, to, count));
}

int poet_write_blocks(uint32_t block, const void* from, uint32_t count) {
  const int code = poet_channel_wait(0);
  return code != POET_OK ? code : finish(poet_storage_start_write(block, from, count));
}
