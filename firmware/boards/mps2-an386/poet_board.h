/* A Cortex-M4F as QEMU has it (mps2-an386). */
#ifndef POET_BOARD_H
#define POET_BOARD_H

#define POET_CLOCK_HZ 25000000U

#define POET_HAS_MPU 1
#define POET_FLASH 0x00000000U
#define POET_FLASH_BYTES 0x00400000U /* RAM of the machine; the MPU makes it read-only */

static inline void poet_board_start(void) {}
void poet_board_exit(int code);

#endif
