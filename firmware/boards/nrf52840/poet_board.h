/* Nordic's nRF52840 (Cortex-M4F, 64 MHz, 1 MiB of flash, 256 KiB of RAM) with an SD card. Pins are those of
 * port 0. */
#ifndef POET_BOARD_H
#define POET_BOARD_H

#define POET_HAS_MPU 1
#define POET_FLASH 0x00000000U
#define POET_FLASH_BYTES 0x00100000U

#define POET_PIN_CLOCK 19U
#define POET_PIN_OUT 20U
#define POET_PIN_IN 21U
#define POET_PIN_SELECT 22U
#define POET_PIN_TEXT 6U /* of the UART, 115,200 baud */

void poet_board_start(void);
void poet_board_exit(int code);

#endif
