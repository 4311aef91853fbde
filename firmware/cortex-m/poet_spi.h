/* What an SD card hangs on: bytes out and in at once. */
#ifndef POET_SPI_H
#define POET_SPI_H

#include <stdint.h>

void poet_spi_open(void);
void poet_spi_select(int on);
uint8_t poet_spi_exchange(uint8_t out);

/* Starts to move `count` bytes: out of `from` (0: 0xFF) and, where `to` is not 0, into `to`, both in RAM.
 * Where there is DMA it goes on while poet_spi_busy(). */
void poet_spi_start(uint8_t* to, const uint8_t* from, uint32_t count);
int poet_spi_busy(void);

#endif
