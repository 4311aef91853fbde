/* Nordic's SPIM with EasyDMA: a block is on its way while the processor computes. Its places in RAM need no
 * alignment. */
#include "poet_board.h"
#include "poet_spi.h"

#define SPIM(offset) (*(volatile uint32_t*)(0x40003000U + (offset)))
#define PORT(offset) (*(volatile uint32_t*)(0x50000000U + (offset)))
#define PIN(number) PORT(0x700U + 4U * (number))

enum {
  OUTPUT = 3,       /* nothing is read from the pin */
  CLOCK_OUTPUT = 1, /* the device reads its clock as well */
  INPUT_HELD_HIGH = 0xC,
  LONGEST_BYTE = 20000 /* times to look whether it has gone: some milliseconds */
};

static volatile uint8_t out_byte, in_byte;
static int under_way;

void poet_spi_full_speed(void) { SPIM(0x524) = 0x80000000U; } /* 8 MHz */

void poet_spi_open(void) {
  PORT(0x50C) = 1U << POET_PIN_CLOCK;
  PORT(0x508) = (1U << POET_PIN_SELECT) | (1U << POET_PIN_OUT);
  PIN(POET_PIN_SELECT) = OUTPUT;
  PIN(POET_PIN_CLOCK) = CLOCK_OUTPUT;
  PIN(POET_PIN_OUT) = OUTPUT;
  PIN(POET_PIN_IN) = INPUT_HELD_HIGH;
  SPIM(0x508) = POET_PIN_CLOCK;
  SPIM(0x50C) = POET_PIN_OUT;
  SPIM(0x510) = POET_PIN_IN;
  SPIM(0x524) = 0x04000000U; /* 250 kHz */
  SPIM(0x554) = 0;
  SPIM(0x5C0) = 0xFF; /* what goes out when nothing is to be sent */
  SPIM(0x500) = 7;
}

void poet_spi_select(int on) { PORT(on ? 0x50CU : 0x508U) = 1U << POET_PIN_SELECT; }

static void start(uintptr_t to, uint32_t to_count, uintptr_t from, uint32_t from_count) {
  SPIM(0x534) = (uint32_t)to;
  SPIM(0x538) = to_count;
  SPIM(0x544) = (uint32_t)from;
  SPIM(0x548) = from_count;
  SPIM(0x118) = 0;
  SPIM(0x010) = 1;
  under_way = 1;
}

int poet_spi_busy(void) {
  if (under_way && SPIM(0x118) != 0) under_way = 0;
  return under_way;
}

/* A bus that stands still is one without a card. */
uint8_t poet_spi_exchange(uint8_t out) {
  uint32_t i;
  if (poet_spi_busy()) return 0xFF;
  out_byte = out;
  start((uintptr_t)&in_byte, 1, (uintptr_t)&out_byte, 1);
  for (i = 0; poet_spi_busy(); ++i)
    if (i == LONGEST_BYTE) return 0xFF;
  return in_byte;
}

uint32_t poet_spi_start(uint8_t* to, const uint8_t* from, uint32_t count, uint32_t budget) {
  (void)budget;
  start((uintptr_t)to, to ? count : 0, (uintptr_t)from, from ? count : 0);
  return count;
}
