/* ARM's PL022: eight bytes wait in it at most. No DMA: bytes are on their way from one call to the next, and
 * the processor waits for none of them. */
#include "poet_board.h"
#include "poet_spi.h"

#define SPI(offset) (*(volatile uint32_t*)(POET_SPI + (offset)))
#define PIN(offset) (*(volatile uint32_t*)(POET_CHIP_SELECT + (offset)))

#define DATA SPI(0x08)
#define STATUS SPI(0x0C)

enum {
  FIFO = 8,
  HAS_BYTE = 4,
  IS_FULL = 8,
  FASTEST = 2, /* what the clock is divided by: an even number */
  SLOW = 2 * ((POET_CLOCK_HZ + 799999U) / 800000U)
};

static uint8_t* into;     /* 0: what comes is not wanted */
static uint32_t expected; /* bytes on their way */

static void set_clock(uint32_t divided_by) {
  SPI(0x04) = 0;
  SPI(0x10) = divided_by;
  SPI(0x04) = 2;
}

void poet_spi_full_speed(void) { set_clock(FASTEST); }

void poet_spi_open(void) {
  SPI(0x00) = 0x07; /* 8 bits */
  set_clock(SLOW);
  PIN(0x400) |= 1U; /* an output */
  PIN(0x51C) |= 1U;
}

void poet_spi_select(int on) { PIN(1U << 2) = on ? 0U : 1U; }

uint8_t poet_spi_exchange(uint8_t out) {
  DATA = out;
  while ((STATUS & HAS_BYTE) == 0) {
  }
  return (uint8_t)DATA;
}

/* Full FIFOs without loops: they are what an interrupt does again and again. */
static void send_all(const uint8_t* from) {
  DATA = from[0], DATA = from[1], DATA = from[2], DATA = from[3];
  DATA = from[4], DATA = from[5], DATA = from[6], DATA = from[7];
}

static void send_idle(void) {
  DATA = 0xFF, DATA = 0xFF, DATA = 0xFF, DATA = 0xFF;
  DATA = 0xFF, DATA = 0xFF, DATA = 0xFF, DATA = 0xFF;
}

static void receive_all(uint8_t* to) {
  to[0] = (uint8_t)DATA, to[1] = (uint8_t)DATA, to[2] = (uint8_t)DATA, to[3] = (uint8_t)DATA;
  to[4] = (uint8_t)DATA, to[5] = (uint8_t)DATA, to[6] = (uint8_t)DATA, to[7] = (uint8_t)DATA;
}

static void drop_all(void) {
  (void)DATA, (void)DATA, (void)DATA, (void)DATA;
  (void)DATA, (void)DATA, (void)DATA, (void)DATA;
}

uint32_t poet_spi_start(uint8_t* to, const uint8_t* from, uint32_t count, uint32_t budget) {
  uint32_t k;
  if (count > budget) count = budget;
  if (count > FIFO) count = FIFO;
  into = to;
  expected = count;
  if (count < FIFO) {
    for (k = 0; k < count; ++k) DATA = from ? from[k] : 0xFFU;
  } else if (from) {
    send_all(from);
  } else {
    send_idle();
  }
  return count;
}

int poet_spi_busy(void) {
  if (expected == FIFO && (STATUS & IS_FULL)) {
    if (into)
      receive_all(into);
    else
      drop_all();
    expected = 0;
  }
  for (; expected > 0 && (STATUS & HAS_BYTE); --expected) {
    const uint8_t in = (uint8_t)DATA;
    if (into) *into++ = in;
  }
  return expected > 0;
}
