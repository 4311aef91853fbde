/* QEMU's lm3s6965evb with another processor: a Cortex-M4F and 64 KiB of RAM, or code for a Cortex-M0 on a
 * Cortex-M3, of which the MPU leaves 32 KiB. The storage is an SD card in SPI mode. */
#ifndef POET_BOARD_H
#define POET_BOARD_H

#define POET_CLOCK_HZ 12500000U

#define POET_HAS_MPU 1
#define POET_FLASH 0x00000000U
#define POET_FLASH_BYTES 0x00040000U

#define POET_SPI 0x40008000U         /* a PL022 */
#define POET_CHIP_SELECT 0x40007000U /* port D, pin 0 */

static inline void poet_board_start(void) {}
void poet_board_exit(int code);

#endif
