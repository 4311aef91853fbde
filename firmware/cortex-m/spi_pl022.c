/* ARM's PL022: eight bytes wait in it at most. No DMA: the processor moves them. */
#include "poet_board.h"
#include "poet_spi.h"

#define SPI(offset) (*(volatile uint32_t*)(POET_SPI + (offset)))
#define PIN(offset) (*(volatile uint32_t*)(POET_CHIP_SELECT + (offset)))

enum { FIFO = 8, HAS_BYTE = 4 };

void poet_spi_open(void) {
  SPI(0x04) = 0;
  SPI(0x10) = 2;    /* the clock, divided by two */
  SPI(0x00) = 0x07; /* 8 bits */
  SPI(0x04) = 2;
  PIN(0x400) |= 1U; /* an output */
  PIN(0x51C) |= 1U;
}

void poet_spi_select(int on) { PIN(1U << 2) = on ? 0U : 1U; }

static uint8_t received(void) {
  while ((SPI(0x0C) & HAS_BYTE) == 0) {
  }
  return (uint8_t)SPI(0x08);
}

uint8_t poet_spi_exchange(uint8_t out) {
  SPI(0x08) = out;
  return received();
}

uint32_t poet_spi_start(uint8_t* to, const uint8_t* from, uint32_t count, uint32_t budget) {
  uint32_t left = count < budget ? count : budget;
  const uint32_t all = left;
  while (left > 0) {
    const uint32_t part = left < FIFO ? left : FIFO;
    uint32_t k;
    for (k = 0; k < part; ++k) SPI(0x08) = from ? *from++ : 0xFFU;
    for (k = 0; k < part; ++k) {
      const uint8_t in = received();
      if (to) *to++ = in;
    }
    left -= part;
  }
  return all;
}

int poet_spi_busy(void) { return 0; }
