/* An SD card in SPI mode: commands, blocks one after another, byte by byte so that poll() can be called from
 * anywhere. The card's own checksums are off: pages have their hashes. */
#include "poet_engine.h"
#include "poet_spi.h"

enum {
  PATIENCE = 1000000, /* bytes that a card may take to answer */
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

static uint8_t* to;
static const uint8_t* from;
static uint32_t left;  /* blocks */
static int in_a_block; /* its bytes are on their way */
static int state;      /* a POET_... code; POET_BUSY: goes on */

static int start(uint8_t number, uint32_t block) {
  if (command(number, addresses_are_bytes ? block * POET_BLOCK : block) != 0) return POET_IO_ERROR;
  in_a_block = 0;
  state = POET_BUSY;
  return POET_OK;
}

int poet_storage_start_read(uint32_t block, void* at, uint32_t count) {
  to = at;
  from = 0;
  left = count;
  return start(18, block);
}

int poet_storage_start_write(uint32_t block, const void* at, uint32_t count) {
  to = 0;
  from = at;
  left = count;
  return start(25, block);
}

static int begin_block(void) {
  if (to) {
    if (wait_for(DATA_TOKEN) != POET_OK) return POET_IO_ERROR;
  } else {
    exchange(IDLE); /* a card is promised one before every token */
    exchange(WRITE_TOKEN);
  }
  poet_spi_start(to, from, POET_BLOCK);
  in_a_block = 1;
  return POET_OK;
}

static int end_block(void) {
  in_a_block = 0;
  --left;
  exchange(IDLE); /* its checksum */
  exchange(IDLE);
  if (to) {
    to += POET_BLOCK;
    return POET_OK;
  }
  from += POET_BLOCK;
  return (exchange(IDLE) & 0x1FU) == 5U ? wait_for(IDLE) : POET_IO_ERROR;
}

static int end_transfer(void) {
  if (to) {
    command(12, 0);
  } else {
    exchange(STOP_TOKEN);
    exchange(IDLE);
  }
  return wait_for(IDLE);
}

int poet_storage_poll(void) {
  int code = POET_OK;
  if (state != POET_BUSY || poet_spi_busy()) return state;
  if (in_a_block) code = end_block();
  if (code == POET_OK) code = left > 0 ? begin_block() : end_transfer();
  if (code != POET_OK || left == 0) state = code;
  return state;
}
