/* An SD card in SPI mode: commands, blocks one after another. A transfer is a state and the bytes that are
 * left, so that poet_storage_poll() can go on with it by as few bytes as an interrupt has time for.
 *
 * The card checks what it is told: a flipped bit in an address would else write a block elsewhere. It does so
 * for commands and data or for neither; data take three instructions a byte. What it says is not checked
 * here: what matters of it has a hash. */
#include "poet_engine.h"
#include "poet_spi.h"
#include "storage_window.h"

enum {
  SLOW_SECOND = 50000, /* bytes in a second of 400 kHz; a slower clock waits longer */
  PATIENCE = 1000000,  /* bytes, at least a second, that a card may take within a transfer */
  ONE_AWAITED = 8,     /* counts as so many: the processor waits for it */
  IDLE = 0xFF,
  DATA_TOKEN = 0xFE,
  WRITE_TOKEN = 0xFC,
  STOP_TOKEN = 0xFD,
  STOP = 12, /* the command */
  IS_IDLE = 1,
  IS_UNKNOWN = 4, /* a command, to an old card */
  TEST_PATTERN = 0x1AA
};

static uint32_t waited; /* bytes, for the card */

static uint8_t exchange(uint8_t out) {
  ++waited;
  return poet_spi_exchange(out);
}

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

/* Seven bits, by x^7 + x^3 + 1; they are the upper ones. */
static uint8_t checksum_of_command(uint8_t sum, uint8_t byte) {
  uint32_t x = (uint32_t)sum ^ byte;
  x ^= (x >> 4) ^ (x >> 7);
  return (uint8_t)((x << 4) ^ (x << 1));
}

static int command(uint8_t number, uint32_t argument) {
  uint8_t byte = (uint8_t)(0x40U | number), sum = 0;
  int i;
  exchange(IDLE); /* or the command's first byte may be lost */
  for (i = 0; i < 5; ++i) {
    exchange(byte);
    sum = checksum_of_command(sum, byte);
    byte = (uint8_t)(argument >> 24);
    argument <<= 8;
  }
  exchange((uint8_t)(sum | 1U));
  if (number == STOP) exchange(IDLE); /* of the transfer that ends: anything */
  return answer();
}

static uint32_t four_bytes(void) {
  uint32_t n = 0;
  int i;
  for (i = 0; i < 4; ++i) n = (n << 8) | exchange(IDLE);
  return n;
}

/* ---- start */

static int wait_for(uint8_t wanted) {
  waited = 0;
  while (waited < SLOW_SECOND)
    if (exchange(IDLE) == wanted) return POET_OK;
  return POET_NO_CARD;
}

/* Where only the processor has been reset, the card may still be within a transfer, or busy. A card at rest
 * takes no notice. */
static void end_old_transfer(void) {
  int i;
  for (i = 0; i < POET_BLOCK + 8; ++i) exchange(IDLE); /* what a block that it writes lacks */
  wait_for(IDLE);
  command(STOP, 0); /* it reads */
  wait_for(IDLE);
  exchange(STOP_TOKEN); /* it writes */
  for (i = 0; i < 8; ++i) exchange(IDLE);
  wait_for(IDLE);
}

/* Until it says that it is ready: about a second, as it is promised. */
static int make_ready(void) {
  int r;
  waited = 0;
  while (command(0, 0) != IS_IDLE) {
    if (waited >= SLOW_SECOND) return POET_NO_CARD;
    command(STOP, 0); /* it may have missed the first one, and still read */
  }
  r = command(8, TEST_PATTERN);
  if (r == IS_IDLE ? (four_bytes() & 0xFFFU) != TEST_PATTERN : r != (IS_IDLE | IS_UNKNOWN))
    return POET_NO_CARD;
  if (command(59, 1) != IS_IDLE) return POET_NO_CARD; /* checksums count from here on */
  waited = 0;
  do {
    if (waited >= SLOW_SECOND) return POET_NO_CARD;
    command(55, 0);
  } while (command(41, r == IS_IDLE ? 0x40000000U : 0) != 0);
  return POET_OK;
}

/* Of the card, from what it says about itself; 0: in no form that is known here. */
static uint32_t blocks_of(const uint8_t* about) {
  if ((about[0] >> 6) == 1) { /* larger than 2 GB */
    const uint32_t size = ((uint32_t)(about[7] & 0x3FU) << 16) | ((uint32_t)about[8] << 8) | about[9];
    return (size + 1U) << 10;
  } else {
    const uint32_t size = ((uint32_t)(about[6] & 3U) << 10) | ((uint32_t)about[7] << 2) | (about[8] >> 6);
    const uint32_t factor = ((uint32_t)(about[9] & 3U) << 1) | (about[10] >> 7);
    const uint32_t length = about[5] & 15U;
    if ((about[0] >> 6) != 0 || length < 9U || length > 11U) return 0;
    return (size + 1U) << (factor + 2U + length - 9U);
  }
}

int poet_storage_open(uint32_t* blocks) {
  uint8_t about[16];
  int i;
  poet_spi_open();
  poet_spi_select(0);
  for (i = 0; i < 10; ++i) exchange(IDLE);
  poet_spi_select(1);
  end_old_transfer();
  if (make_ready() != POET_OK) return POET_NO_CARD;
  if ((command(58, 0) & ~IS_IDLE) != 0) return POET_NO_CARD; /* emulators say "idle" here */
  addresses_are_bytes = (four_bytes() & 0x40000000U) == 0;
  if (command(16, POET_BLOCK) != 0) return POET_NO_CARD;
  if (command(9, 0) != 0 || wait_for(DATA_TOKEN) != POET_OK) return POET_NO_CARD;
  for (i = 0; i < 16; ++i) about[i] = exchange(IDLE);
  exchange(IDLE);
  exchange(IDLE);
  *blocks = blocks_of(about);
  if (*blocks == 0) return POET_NO_CARD;
  poet_spi_full_speed();
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
  STOPPING, /* the card is busy */
  WRITTEN   /* whether all went well is not known yet */
} state_of_transfer;

static state_of_transfer state;
static int result; /* at rest */
static uint8_t* to;
static const uint8_t* from;
static uint32_t blocks_left, bytes_left; /* bytes: of the block */
static uint32_t remainder;               /* writing: of the block's bytes so far */

/* A block's checksum is its remainder by p = x^16 + x^12 + x^5 + 1, times x^16. Word by word it is the
 * remainder by p * p = x^32 + x^24 + x^10 + 1, which takes fewer instructions, and in the end that one's by
 * p. What is shifted to the right is what overflows, and what overflows of that. */
static void add_to_remainder(const uint8_t* bytes, uint32_t count) {
  const uint32_t* word = (const uint32_t*)(const void*)bytes;
  const uint32_t* end = word + count / 4;
  uint32_t x = remainder;
  while (word != end) {
    uint32_t over;
    x ^= x >> 16;
    over = x ^ (x >> 8) ^ (x >> 22);
    x = over ^ (over << 10) ^ (over << 24) ^ __builtin_bswap32(*word++);
  }
  remainder = x;
}

static uint32_t checksum_of_block(void) {
  uint32_t x = remainder;
  x ^= x >> 16;
  x ^= (x >> 8) ^ (x >> 22);
  x ^= (x >> 4) ^ (x >> 11) ^ (x >> 16);
  return (x ^ (x << 5) ^ (x << 12)) & 0xFFFFU;
}

/* The card is told that nothing follows, so that it takes the next command. */
static void fail(void) {
  result = POET_IO_ERROR;
  if (state == STOPPING) {
    state = AT_REST;
    return;
  }
  command(STOP, 0);
  state = STOPPING;
  waited = 0;
}

static int start(uint8_t number, uint32_t block, uintptr_t at, uint32_t count) {
  /* Checksums are of whole words. */
  if ((at & 3U) != 0 || !poet_in_window(at, count)) return POET_IO_ERROR;
  result = POET_OK;
  state = BEFORE_BLOCK;
  blocks_left = count;
  if (command(number, addresses_are_bytes ? block * POET_BLOCK : block) != 0) fail();
  waited = 0;
  return POET_OK;
}

int poet_storage_start_read(uint32_t block, void* at, uint32_t count) {
  to = at;
  from = 0;
  return start(18, block, (uintptr_t)at, count);
}

int poet_storage_start_write(uint32_t block, const void* at, uint32_t count) {
  to = 0;
  from = at;
  return start(25, block, (uintptr_t)at, count);
}

/* One byte from the card, for which it may take its time. Instead of data it may send what went wrong. */
static void poll_for_byte(uint8_t wanted, state_of_transfer next) {
  const uint8_t in = exchange(IDLE);
  if (in == wanted) {
    state = next;
    waited = 0;
  } else if (waited >= PATIENCE || (wanted == DATA_TOKEN && in != IDLE)) {
    fail();
  }
}

/* Returns how many bytes' time that took. */
static uint32_t advance_transfer(uint32_t budget) {
  uint32_t moved, sum;
  switch (state) {
    case BEFORE_BLOCK:
      bytes_left = POET_BLOCK;
      if (to) {
        poll_for_byte(DATA_TOKEN, IN_BLOCK);
        return ONE_AWAITED;
      }
      remainder = 0;
      exchange(IDLE); /* a card is promised one before every token */
      exchange(WRITE_TOKEN);
      state = IN_BLOCK;
      return 2 * ONE_AWAITED;
    case IN_BLOCK:
      moved = poet_spi_start(to, from, bytes_left, (budget + 3U) & ~3U); /* whole words */
      if (to) {
        to += moved;
      } else {
        add_to_remainder(from, moved);
        from += moved;
      }
      bytes_left -= moved;
      if (bytes_left == 0) state = AFTER_BLOCK;
      return moved;
    case AFTER_BLOCK:
      sum = to ? 0xFFFFU : checksum_of_block(); /* reading: nothing that may look like a command */
      exchange((uint8_t)(sum >> 8));
      exchange((uint8_t)sum);
      --blocks_left;
      if (to)
        state = blocks_left > 0 ? BEFORE_BLOCK : AFTER_LAST;
      else if ((exchange(IDLE) & 0x1FU) == 5U)
        state = IN_PROGRAMMING;
      else
        fail();
      return 3 * ONE_AWAITED;
    case IN_PROGRAMMING:
      poll_for_byte(IDLE, blocks_left > 0 ? BEFORE_BLOCK : AFTER_LAST);
      return ONE_AWAITED;
    case AFTER_LAST:
      if (to) {
        command(STOP, 0);
      } else {
        exchange(STOP_TOKEN);
        exchange(IDLE);
      }
      state = STOPPING;
      return 8 * ONE_AWAITED;
    case WRITTEN: /* the answer has two bytes: neither may name an error */
      if (command(13, 0) != 0) result = POET_IO_ERROR;
      if (exchange(IDLE) != 0) result = POET_IO_ERROR;
      state = AT_REST;
      return 8 * ONE_AWAITED;
    default:
      poll_for_byte(IDLE, from && result == POET_OK ? WRITTEN : AT_REST);
      return ONE_AWAITED;
  }
}

int poet_storage_poll(uint32_t bytes) {
  while (state != AT_REST && bytes > 0) {
    uint32_t moved;
    if (poet_spi_busy()) {
      if (++waited < PATIENCE) break;
      result = POET_IO_ERROR; /* the bus stands still: nobody could be told */
      state = AT_REST;
      break;
    }
    moved = advance_transfer(bytes);
    bytes -= moved < bytes ? moved : bytes;
  }
  return state == AT_REST ? result : POET_BUSY;
}
