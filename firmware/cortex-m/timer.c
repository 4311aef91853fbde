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

enum { ON = 7, HAS_WRAPPED = 1 << 16, FORGET_TICK = 1 << 25, LONG = 0xFFFFFF };

/* The linker gives numbers as addresses (cortex-m.mk). */
extern const char poet_tick_ns[], poet_tick_bytes[], poet_overlap[];
#define NUMBER(symbol) ((uint32_t)(uintptr_t)(symbol))
enum { OFF = 1, SHARED, PACED }; /* poet_overlap: who carries transfers on: who waits, both, the timer */

static uint32_t reload; /* one period is a clock longer; LONG while there is nothing to transfer */

static void without_interrupts(void) { __asm volatile("cpsid i" ::: "memory"); }
static void with_interrupts(void) { __asm volatile("cpsie i" ::: "memory"); }

#ifdef POET_COUNT
static uint64_t before; /* clocks before the period under way */

/* Clocks since the timer runs. Without interrupts, and at least once in a period: a period shorter than the
 * interrupt is not counted right. */
static uint64_t clocks(void) {
  uint32_t wrapped = SYSTICK_CONTROL & HAS_WRAPPED, value = SYSTICK_VALUE;
  if (SYSTICK_CONTROL & HAS_WRAPPED) { /* just now */
    wrapped = HAS_WRAPPED;
    value = SYSTICK_VALUE;
  }
  if (wrapped) before += reload + 1U;
  return before + (value == 0 ? 0U : reload + 1U - value);
}

#endif

/* Begins a period. */
static void set(uint32_t clocks_of_it) {
#ifdef POET_COUNT
  if (reload != 0) before = clocks(); /* it runs */
#endif
  reload = clocks_of_it;
  SYSTICK_RELOAD = reload;
  SYSTICK_VALUE = 0;
  SYSTICK_CONTROL = ON;
  INTERRUPT_STATE = FORGET_TICK;
}

static uint32_t tick(void) {
  const uint32_t n = NUMBER(poet_tick_ns) * (POET_CLOCK_HZ / 100000U) / 10000U;
  return n < 2U ? 1U : n > LONG ? LONG - 1U : n - 1U;
}

void poet_tick(void); /* the vector */
void poet_tick(void) {
  const int more = NUMBER(poet_overlap) != OFF && poet_channel_advance(NUMBER(poet_tick_bytes));
  set(more ? tick() : LONG);
}

void poet_port_carry_on(void) {
  if (NUMBER(poet_overlap) == OFF) {
    poet_channel_advance(POET_BLOCK);
    return;
  }
  without_interrupts();
  if (NUMBER(poet_overlap) == SHARED) {
    set(LONG); /* this takes longer than a period */
    if (poet_channel_advance(POET_BLOCK)) set(tick());
  } else if (reload != tick()) {
    set(tick());
  }
  with_interrupts();
}

#ifdef POET_COUNT
/* QEMU's clock goes on by POET_INSTRUCTION_NS with every instruction, SysTick with the board's clock. */
uint64_t poet_port_instructions(void) {
  uint64_t n;
  without_interrupts();
  if (reload == 0) set(LONG);
  n = clocks();
  with_interrupts();
  return n * 1000000U / (POET_CLOCK_HZ / 1000U) / POET_INSTRUCTION_NS + 1U;
}
#else
uint64_t poet_port_instructions(void) { return 0; }
#endif
