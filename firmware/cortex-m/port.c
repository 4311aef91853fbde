/* Text and exit codes by semihosting; the plan's RAM. */
#include "poet_board.h"
#include "poet_engine.h"
#include "poet_plan.h"
#include "semihosting.h"

float poet_ram[POET_RAM_BYTES / 4] __attribute__((section(".poet_ram")));

#ifdef POET_COUNT
/* `make run COUNT=1`: QEMU's clock goes on by 1 ns with every instruction (-icount shift=0), SysTick with the
 * board's clock. */
#define SYSTICK(offset) (*(volatile uint32_t*)(0xE000E010U + (offset)))

static volatile uint32_t rounds;

void poet_tick(void);
void poet_tick(void) { ++rounds; }

uint64_t poet_port_instructions(void) {
  uint32_t before, ticks;
  if (SYSTICK(0x00) == 0) {
    SYSTICK(0x04) = 0xFFFFFFU;
    SYSTICK(0x08) = 0;
    SYSTICK(0x00) = 7;
    while (SYSTICK(0x08) == 0) {
    }
  }
  do {
    before = rounds;
    ticks = 0xFFFFFFU - (SYSTICK(0x08) & 0xFFFFFFU);
  } while (before != rounds);
  return (((uint64_t)before << 24) + ticks) * (1000000000U / POET_CLOCK_HZ) + 1U;
}
#else
uint64_t poet_port_instructions(void) { return 0; }
#endif

void poet_board_exit(int code) { poet_semihosting_exit(code); }

void poet_port_text(const char* text) { poet_semihosting(SYS_WRITE0, text); }
