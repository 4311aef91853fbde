/* Pages: whole blocks go from and to where a value lies, what is left of it and the trailer through a buffer.
 * A page that is read is known to be whole when somebody waits for it.
 *
 * The main program issues transfers and waits for them; poet_channel_advance() carries them on, perhaps from
 * an interrupt. Neither writes what the other does: `issued`, `known`, `stopped` and a transfer that is not
 * issued yet are the main program's, `completed`, `under_way` and an issued transfer advance()'s. */
#include <string.h>

#include "poet_engine.h"

enum { QUEUE = 16 };

typedef struct transfer {
  uint32_t block, bytes, step;
  char* at;
  uint32_t hash; /* to be written; or as it was read */
  uint32_t found_step;
  uint8_t write, is_page;
} transfer;

static transfer queue[QUEUE];
static transfer urgent;                     /* goes ahead of the queue; no page */
static volatile uint32_t issued, completed; /* numbers of transfers */
static uint32_t known;                      /* how many of the completed have been checked */
static volatile uint8_t urgent_issued;      /* until it is done */
static volatile uint8_t stopped;            /* nothing new is begun */
static transfer* volatile under_way;        /* 0: none */
static int piece;                           /* of it: whole blocks, then the last one or two */
static volatile int error;
static uint32_t edge[POET_BLOCK / 4]; /* a page's last blocks on their way */

uint32_t poet_block[POET_BLOCK / 4];
uint32_t poet_bad_block;

/* What is written above is in memory before what is written below: the other side may look in between. */
static void in_order(void) { __asm volatile("" ::: "memory"); }

/* ---- one transfer in pieces */

static uint32_t whole_blocks(const transfer* t) { return t->bytes / POET_BLOCK; }

/* The bytes of the value in the last blocks. The trailer has 8 bytes of its own behind them, so that there
 * may be two last blocks; the first of them is then full but for less than 8 bytes, which stay 0. */
static uint32_t rest(const transfer* t) { return t->bytes % POET_BLOCK; }
static int fits_one(const transfer* t) { return rest(t) + POET_TRAILER <= POET_BLOCK; }

static int has_piece(const transfer* t) {
  if (piece == 0) return whole_blocks(t) > 0;
  if (piece == 1) return t->is_page && !fits_one(t); /* else the last block has it */
  return piece == 2 && t->is_page;
}

static int start_piece(transfer* t) {
  const uint32_t whole = whole_blocks(t);
  uint32_t block = t->block + whole;
  if (piece == 0)
    return t->write ? poet_storage_start_write(t->block, t->at, whole)
                    : poet_storage_start_read(t->block, t->at, whole);
  if (piece == 2 && !fits_one(t)) ++block;
  if (!t->write) return poet_storage_start_read(block, edge, 1);
  memset(edge, 0, sizeof edge);
  if (piece == 1 || fits_one(t)) memcpy(edge, t->at + whole * POET_BLOCK, rest(t));
  if (piece == 2) {
    edge[POET_BLOCK / 4 - 2] = t->step;
    edge[POET_BLOCK / 4 - 1] = t->hash;
  }
  return poet_storage_start_write(block, edge, 1);
}

static void end_piece(transfer* t) {
  if (piece == 0 || t->write) return;
  if (piece == 1 || fits_one(t)) memcpy(t->at + whole_blocks(t) * POET_BLOCK, edge, rest(t));
  if (piece == 2) {
    t->found_step = edge[POET_BLOCK / 4 - 2];
    t->hash = edge[POET_BLOCK / 4 - 1];
  }
}

/* ---- one after another */

static transfer* next_one(void) {
  if (stopped || error != POET_OK) return 0;
  if (urgent_issued) return &urgent;
  return completed != issued ? &queue[completed % QUEUE] : 0;
}

static void end_transfer(transfer* t) {
  in_order();
  if (t == &urgent)
    urgent_issued = 0;
  else
    ++completed;
  under_way = 0;
}

static int failed(int code) {
  error = code;
  under_way = 0;
  return 0;
}

int poet_channel_advance(uint32_t bytes) {
  transfer* t = under_way;
  int code;
  if (t == 0) {
    t = next_one();
    if (t == 0) return 0;
    in_order();
    under_way = t;
    piece = 0;
  } else {
    code = poet_storage_poll(bytes);
    if (code == POET_BUSY) return 1;
    if (code != POET_OK) return failed(code);
    end_piece(t);
    ++piece;
  }
  while (piece <= 2 && !has_piece(t)) ++piece;
  if (piece > 2) {
    end_transfer(t);
    return next_one() != 0;
  }
  code = start_piece(t);
  return code == POET_OK || failed(code);
}

/* ---- the main program's */

/* What has come is checked; its place in the queue is free. */
static int check_completed(void) {
  for (; known != completed; ++known) {
    const transfer* t = &queue[known % QUEUE];
    in_order();
    if (t->write) continue;
    poet_bad_block = t->block;
    if (poet_hash(t->at, t->bytes, t->block ^ t->found_step) != t->hash) return POET_DAMAGED;
    if (t->found_step != t->step) return POET_STALE;
  }
  return POET_OK;
}

int poet_channel_wait(uint32_t outstanding) {
  while (issued - completed > outstanding && error == POET_OK) poet_port_carry_on();
  return error != POET_OK ? error : check_completed();
}

void poet_channel_drop(void) {
  stopped = 1;
  while (under_way) poet_port_carry_on();
  known = completed = issued;
  urgent_issued = 0;
  error = POET_OK;
  in_order();
  stopped = 0;
}

static int issue(uint32_t block, float* at, uint32_t bytes, uint32_t step, uint8_t write) {
  transfer* t = &queue[issued % QUEUE];
  if (issued - known == QUEUE) {
    const int code = poet_channel_wait(QUEUE - 1);
    if (code != POET_OK) return code;
  }
  t->block = block;
  t->at = (char*)at;
  t->bytes = bytes;
  t->step = step;
  t->write = write;
  t->is_page = 1;
  if (write) t->hash = poet_hash(at, bytes, block ^ step);
  in_order();
  ++issued;
  poet_port_carry_on();
#ifdef POET_BLOCKING /* to be compared with: nothing goes on beside computing */
  return poet_channel_wait(0);
#else
  return error;
#endif
}

int poet_channel_read(uint32_t block, float* to, uint32_t bytes, uint32_t step) {
  return issue(block, to, bytes, step, 0);
}

int poet_channel_write(uint32_t block, const float* from, uint32_t bytes, uint32_t step) {
  return issue(block, (float*)(uintptr_t)from, bytes, step, 1); /* never written through */
}

static int at_once(uint32_t block, void* at, uint32_t count, uint8_t write) {
  urgent.block = block;
  urgent.at = at;
  urgent.bytes = count * POET_BLOCK;
  urgent.write = write;
  in_order();
  urgent_issued = 1;
  while (urgent_issued && error == POET_OK) poet_port_carry_on();
  in_order();
  return error;
}

int poet_read_blocks(uint32_t block, void* to, uint32_t count) { return at_once(block, to, count, 0); }

int poet_write_blocks(uint32_t block, const void* from, uint32_t count) {
  return at_once(block, (void*)(uintptr_t)from, count, 1); /* never written through */
}

int poet_read_sealed(uint32_t block, uint32_t* to) {
  const int code = poet_read_blocks(block, to, 1);
  if (code != POET_OK) return code;
  poet_bad_block = block;
  return poet_hash(to, POET_SEALED, block) == to[POET_SEALED / 4] ? POET_OK : POET_DAMAGED;
}
