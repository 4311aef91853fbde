/* A Cortex-M0 as QEMU has it (microbit: an nRF51). No MPU: beyond its 32 KiB there is nothing, which faults.
 */
#ifndef POET_BOARD_H
#define POET_BOARD_H

#define POET_CLOCK_HZ 16000000U

static inline void poet_board_start(void) {}
void poet_board_exit(int code);

#endif
