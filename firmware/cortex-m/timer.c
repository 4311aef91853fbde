/* SysTick, for two purposes.
 *
 * It interrupts every poet_tick_ns what the processor computes and moves poet_tick_bytes of a transfer, so
 * that transfers go on beside computing where there is no DMA for them, and where there is one, from one
 * piece to the next (`make OVERLAP=...`). A period counts from the end of one interrupt to the next one:
 * however short it is, the program goes on.
 *
 * And it counts the instructions under an emulator (`make COUNT=1`). */
#include "poet_board.h"
#include "poet_engine.h"

#define SYSTICK_CONTROL (*(volatile uint32_t*)0xE000E010U)
#define SYSTICK_RELOAD (*(volatile uint32_t*)0xE000E014U)
#define SYSTICK_VALUE (*(volatile uint32_t*)0xE000E018U)
#define INTERRUPT_STATE (*(volatile uint32_t*)0xE000ED04U)

enum { ON = 7, HAS_WRAPPED = 1 << 16, FORGET_TICK = 1 << 25, LONGEST_PERIOD = 0xFFFFFF };

/* The linker gives numbers as addresses (cortex-m.mk). */
extern const char poet_tick_ns[], poet_tick_bytes[], poet_overlap[];
#define NUMBER(symbol) ((uint32_t)(uintptr_t)(symbol))
/* poet_overlap, with the numbers of cortex-m.mk. OFF: only the waiting program moves bytes; SHARED: also the
 * timer's interrupt; PACED: only the interrupt. */
enum { OFF = 1, SHARED, PACED };

static uint32_t reload; /* one period is a clock longer; the longest while there is nothing to transfer */

static void without_interrupts(void) { __asm volatile("cpsid i" ::: "memory"); }
static void with_interrupts(void) { __asm volatile("cpsie i" ::: "memory"); }

#ifdef POET_COUNT
static uint64_t clocks_before_period;

/* Clocks since the timer runs. Without interrupts, and at least once in a period: a period shorter than the
 * interrupt is not counted right. */
static uint64_t clocks(void) {
  uint32_t wrapped = SYSTICK_CONTROL & HAS_WRAPPED, value = SYSTICK_VALUE;
  if (SYSTICK_CONTROL & HAS_WRAPPED) { /* just now */
    wrapped = HAS_WRAPPED;
    value = SYSTICK_VALUE;
  }
  if (wrapped) clocks_before_period += reload + 1U;
  return clocks_before_period + (value == 0 ? 0U : reload + 1U - value);
}

#endif

static void begin_period(uint32_t new_reload) {
#ifdef POET_COUNT
  if (reload != 0) clocks_before_period = clocks(); /* it runs */
#endif
  reload = new_reload;
  SYSTICK_RELOAD = reload;
  SYSTICK_VALUE = 0;
  SYSTICK_CONTROL = ON;
  INTERRUPT_STATE = FORGET_TICK;
}

static uint32_t period_clocks(void) {
  const uint32_t n = NUMBER(poet_tick_ns) * (POET_CLOCK_HZ / 100000U) / 10000U;
  return n < 2U ? 1U : n > LONGEST_PERIOD ? LONGEST_PERIOD - 1U : n - 1U;
}

void poet_tick(void); /* the vector */
void poet_tick(void) {
  const int more = NUMBER(poet_overlap) != OFF && poet_channel_advance(NUMBER(poet_tick_bytes));
  begin_period(more ? period_clocks() : LONGEST_PERIOD);
}

void poet_port_carry_on(void) {
  if (NUMBER(poet_overlap) == OFF) {
    poet_channel_advance(POET_BLOCK);
    return;
  }
  without_interrupts();
  if (NUMBER(poet_overlap) == SHARED) {
    begin_period(LONGEST_PERIOD); /* this takes longer than a period */
    if (poet_channel_advance(POET_BLOCK)) begin_period(period_clocks());
  } else if (reload != period_clocks()) {
    begin_period(period_clocks());
  }
  with_interrupts();
}

#ifdef POET_COUNT
/* QEMU's clock goes on by POET_INSTRUCTION_NS with every instruction, SysTick with the board's clock. */
uint64_t poet_port_instructions(void) {
  uint64_t n;
  without_interrupts();
  if (reload == 0) begin_period(LONGEST_PERIOD);
  n = clocks();
  with_interrupts();
  return n * 1000000U / (POET_CLOCK_HZ / 1000U) / POET_INSTRUCTION_NS + 1U;
}
#else
uint64_t poet_port_instructions(void) { return 0; }
#endif
