/* What an SD card hangs on: bytes out and in at once. */
#ifndef POET_SPI_H
#define POET_SPI_H

#include <stdint.h>

/* Begins with at most 400 kHz, which every card takes; it is as fast as can be when the card is ready. */
void poet_spi_open(void);
void poet_spi_full_speed(void);
void poet_spi_select(int on);
uint8_t poet_spi_exchange(uint8_t out);

/* Starts to move bytes: out of `from` (0: 0xFF) and, where `to` is not 0, into `to`, both in RAM. Returns how
 * many: at most `count`, and where the processor moves them at most `budget`. They are on their way while
 * poet_spi_busy(), which is asked before anything else is started or exchanged. */
uint32_t poet_spi_start(uint8_t* to, const uint8_t* from, uint32_t count, uint32_t budget);
int poet_spi_busy(void);

#endif
