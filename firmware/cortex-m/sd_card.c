/* An SD card in SPI mode: commands, blocks one after another. A transfer is a state and the bytes that are
 * left, so that poet_storage_poll() can go on with it by as few bytes as an interrupt has time for. The
 * card's own checksums are off: what matters has its hash. */
#include "poet_engine.h"
#include "poet_spi.h"

enum {
  PATIENCE = 1000000, /* bytes that a card may take to answer */
  ONE_AWAITED = 8,    /* counts as so many: the processor waits for it */
  IDLE = 0xFF,
  DATA_TOKEN = 0xFE,
  WRITE_TOKEN = 0xFC,
  STOP_TOKEN = 0xFD
};

static uint8_t exchange(uint8_t out) { return poet_spi_exchange(out); }

/* ---- commands */

static int addresses_are_bytes;

static int answer(void) {
  int i;
  for (i = 0; i < 16; ++i) {
    const uint8_t r = exchange(IDLE);
    if ((r & 0x80U) == 0) return r;
  }
  return -1;
}

static int command(uint8_t number, uint32_t argument) {
  exchange(IDLE); /* or the command's first byte may be lost */
  exchange((uint8_t)(0x40U | number));
  exchange((uint8_t)(argument >> 24));
  exchange((uint8_t)(argument >> 16));
  exchange((uint8_t)(argument >> 8));
  exchange((uint8_t)argument);
  exchange(number == 0 ? 0x95 : number == 8 ? 0x87 : 0x01); /* the only two whose checksums a card looks at */
  return answer();
}

static int wait_for(uint8_t wanted) {
  int32_t i;
  for (i = 0; i < PATIENCE; ++i)
    if (exchange(IDLE) == wanted) return POET_OK;
  return POET_IO_ERROR;
}

int poet_storage_open(uint32_t* blocks) {
  uint8_t about[16];
  int i;
  poet_spi_open();
  poet_spi_select(0);
  for (i = 0; i < 10; ++i) exchange(IDLE);
  poet_spi_select(1);
  for (i = 0; i < 100 && command(0, 0) != 1; ++i) {
  }
  if (i == 100) return POET_NO_CARD;
  if (command(8, 0x1AA) == 1)
    for (i = 0; i < 4; ++i) exchange(IDLE);
  for (i = 0; i < PATIENCE; ++i) {
    command(55, 0);
    if (command(41, 0x40000000U) == 0) break;
  }
  if (i == PATIENCE) return POET_NO_CARD;
  if (command(58, 0) < 0) return POET_NO_CARD; /* emulators say "idle" here */
  addresses_are_bytes = (exchange(IDLE) & 0x40U) == 0;
  for (i = 0; i < 3; ++i) exchange(IDLE);
  if (command(16, POET_BLOCK) != 0) return POET_NO_CARD;
  if (command(9, 0) != 0 || wait_for(DATA_TOKEN) != POET_OK) return POET_NO_CARD;
  for (i = 0; i < 16; ++i) about[i] = exchange(IDLE);
  exchange(IDLE);
  exchange(IDLE);
  if ((about[0] >> 6) == 1) { /* larger than 2 GB */
    const uint32_t size = ((uint32_t)(about[7] & 0x3FU) << 16) | ((uint32_t)about[8] << 8) | about[9];
    *blocks = (size + 1U) << 10;
  } else {
    const uint32_t size = ((uint32_t)(about[6] & 3U) << 10) | ((uint32_t)about[7] << 2) | (about[8] >> 6);
    const uint32_t factor = ((uint32_t)(about[9] & 3U) << 1) | (about[10] >> 7);
    const uint32_t length = about[5] & 15U;
    *blocks = (size + 1U) << (factor + 2U + length - 9U);
  }
  return POET_OK;
}

/* ---- the transfer under way */

typedef enum {
  AT_REST,
  BEFORE_BLOCK, /* reading: the card has not said yet that a block comes */
  IN_BLOCK,
  AFTER_BLOCK,
  IN_PROGRAMMING, /* writing: the card is busy with the block */
  AFTER_LAST,
  STOPPING /* the card is busy */
} state_of_transfer;

static state_of_transfer state;
static int result; /* at rest */
static uint8_t* to;
static const uint8_t* from;
static uint32_t blocks_left, bytes_left; /* bytes: of the block */
static uint32_t waited;                  /* bytes, for the card */

static int start(uint8_t number, uint32_t block, uint32_t count) {
  result = command(number, addresses_are_bytes ? block * POET_BLOCK : block) == 0 ? POET_OK : POET_IO_ERROR;
  state = result == POET_OK ? BEFORE_BLOCK : AT_REST;
  blocks_left = count;
  waited = 0;
  return result;
}

int poet_storage_start_read(uint32_t block, void* at, uint32_t count) {
  to = at;
  from = 0;
  return start(18, block, count);
}

int poet_storage_start_write(uint32_t block, const void* at, uint32_t count) {
  to = 0;
  from = at;
  return start(25, block, count);
}

static void fail(void) {
  state = AT_REST;
  result = POET_IO_ERROR;
}

/* One byte from the card, for which it may take its time. */
static void await(uint8_t wanted, state_of_transfer next) {
  if (exchange(IDLE) == wanted) {
    state = next;
    waited = 0;
  } else if (++waited == PATIENCE) {
    fail();
  }
}

/* Returns how many bytes' time that took. */
static uint32_t go_on(uint32_t budget) {
  uint32_t moved;
  switch (state) {
    case BEFORE_BLOCK:
      bytes_left = POET_BLOCK;
      if (to) {
        await(DATA_TOKEN, IN_BLOCK);
        return ONE_AWAITED;
      }
      exchange(IDLE); /* a card is promised one before every token */
      exchange(WRITE_TOKEN);
      state = IN_BLOCK;
      return 2 * ONE_AWAITED;
    case IN_BLOCK:
      moved = poet_spi_start(to, from, bytes_left, budget);
      if (to) to += moved;
      if (from) from += moved;
      bytes_left -= moved;
      if (bytes_left == 0) state = AFTER_BLOCK;
      return moved;
    case AFTER_BLOCK:
      exchange(IDLE); /* its checksum */
      exchange(IDLE);
      --blocks_left;
      if (to)
        state = blocks_left > 0 ? BEFORE_BLOCK : AFTER_LAST;
      else if ((exchange(IDLE) & 0x1FU) == 5U)
        state = IN_PROGRAMMING;
      else
        fail();
      return 3 * ONE_AWAITED;
    case IN_PROGRAMMING:
      await(IDLE, blocks_left > 0 ? BEFORE_BLOCK : AFTER_LAST);
      return ONE_AWAITED;
    case AFTER_LAST:
      if (to) {
        command(12, 0);
      } else {
        exchange(STOP_TOKEN);
        exchange(IDLE);
      }
      state = STOPPING;
      return 8 * ONE_AWAITED;
    default:
      await(IDLE, AT_REST);
      return ONE_AWAITED;
  }
}

int poet_storage_poll(uint32_t bytes) {
  while (state != AT_REST && bytes > 0 && !poet_spi_busy()) {
    const uint32_t moved = go_on(bytes);
    bytes -= moved < bytes ? moved : bytes;
  }
  return state == AT_REST ? result : POET_BUSY;
}
