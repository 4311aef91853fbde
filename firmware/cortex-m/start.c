/* Start-up of a Cortex-M: vectors, memory, floating point, the MPU's window, and what is said when something
 * is accessed that is not the firmware's. */
#include <stddef.h>
#include <stdint.h>

#include "poet_board.h"
#include "poet_engine.h"
#include "poet_math.h"

extern uint32_t poet_stack_top[], poet_data_from[], poet_data[], poet_data_end[], poet_zero[],
    poet_zero_end[];
extern uint32_t poet_window[], poet_window_end[];

#define REGISTER(address) (*(volatile uint32_t*)(address))

enum { FAULT_EXIT = 3, EXCEPTIONS = 16, FRAME_BYTES = 32 };

void poet_reset(void);
void poet_fault(void);
void poet_say_fault(const uint32_t* frame);
void poet_tick(void); /* of the timer */

/* What has been set holds for all that follows. */
static inline void in_effect(void) { __asm volatile("dsb\n isb" ::: "memory"); }

/* ---- the window: flash to be read and run, RAM to be read and written, devices; nothing else */

#ifdef POET_HAS_MPU
static void region(uint32_t number, uint32_t base, uint32_t bytes, uint32_t attributes) {
  uint32_t power = 4;
  while (((uint32_t)2 << power) < bytes) ++power;
  REGISTER(0xE000ED98U) = number;
  REGISTER(0xE000ED9CU) = base;
  REGISTER(0xE000EDA0U) = attributes | (power << 1) | 1U;
}

static void set_window(void) {
  const uint32_t never_execute = 1U << 28, full = 3U << 24, read_only = 6U << 24;
  region(0, POET_FLASH, POET_FLASH_BYTES, read_only | (2U << 16));
  region(1, (uint32_t)(uintptr_t)poet_window, (uint32_t)((uintptr_t)poet_window_end - (uintptr_t)poet_window),
         full | never_execute | (2U << 16));
  region(2, 0x40000000U, 0x20000000U, full | never_execute | (1U << 16));
  REGISTER(0xE000ED24U) |= 7U << 16; /* faults of their own: memory, bus, usage */
  REGISTER(0xE000ED94U) = 1U;        /* on, without a background region */
  in_effect();
}
#endif

/* ---- start */

void poet_reset(void) {
  const uint32_t* from = poet_data_from;
  uint32_t* to;
#if defined(__ARM_FP)
  REGISTER(0xE000ED88U) |= 0xFU << 20;
  in_effect();
#endif
  for (to = poet_data; to != poet_data_end;) *to++ = *from++;
  for (to = poet_zero; to != poet_zero_end;) *to++ = 0;
#ifdef POET_HAS_MPU
  set_window();
#endif
  poet_board_start();
  poet_board_exit(poet_train());
}

/* ---- faults */

void poet_say_fault(const uint32_t* frame) {
  const uintptr_t at = (uintptr_t)frame;
  poet_port_text("poet: fault");
  if (at >= (uintptr_t)poet_window && at + FRAME_BYTES <= (uintptr_t)poet_stack_top) {
    poet_port_text(" at pc ");
    poet_say_hex(frame[6]);
  } else { /* the processor could not push it */
    poet_port_text(", the stack is too small");
  }
#ifdef POET_HAS_MPU
  if (REGISTER(0xE000ED28U) & 0x80U) {
    poet_port_text(", memory ");
    poet_say_hex(REGISTER(0xE000ED34U));
  } else if (REGISTER(0xE000ED28U) & 0x8000U) {
    poet_port_text(", bus ");
    poet_say_hex(REGISTER(0xE000ED38U));
  } else {
    poet_port_text(", status ");
    poet_say_hex(REGISTER(0xE000ED28U));
  }
#endif
  poet_port_text("\n");
  poet_board_exit(FAULT_EXIT);
}

/* What the processor has pushed may lie where there is no RAM, so the handler has a stack of its own. */
__attribute__((naked)) void poet_fault(void) {
  __asm volatile(
      "mrs r0, msp\n"
      "ldr r1, =poet_stack_top\n"
      "mov sp, r1\n"
      "ldr r1, =poet_say_fault\n"
      "bx r1\n");
}

__attribute__((section(".vectors"), used)) static const void* const vectors[EXCEPTIONS] = {
    poet_stack_top,
    (const void*)poet_reset,
    (const void*)poet_fault,
    (const void*)poet_fault,
    (const void*)poet_fault,
    (const void*)poet_fault,
    (const void*)poet_fault,
    0,
    0,
    0,
    0,
    (const void*)poet_fault,
    (const void*)poet_fault,
    0,
    (const void*)poet_fault,
    (const void*)poet_tick};

/* ---- what C expects of the machine */

float sqrtf(float x);
#if defined(__ARM_FP)
float sqrtf(float x) {
  float root;
  __asm("vsqrt.f32 %0, %1" : "=t"(root) : "t"(x));
  return root;
}
#else
/* Rounded twice, and yet correctly: a double has more than twice the digits. */
float sqrtf(float x) { return (float)poet_root((double)x); }
#endif

void* memcpy(void* restrict to, const void* restrict from, size_t count);
void* memset(void* to, int value, size_t count);

void* memcpy(void* restrict to, const void* restrict from, size_t count) {
  uint8_t* out = to;
  const uint8_t* in = from;
  if ((((uintptr_t)out | (uintptr_t)in) & 3U) == 0) {
    for (; count >= 4; count -= 4, out += 4, in += 4)
      *(uint32_t*)(void*)out = *(const uint32_t*)(const void*)in;
  }
  for (; count > 0; --count) *out++ = *in++;
  return to;
}

void* memset(void* to, int value, size_t count) {
  uint8_t* out = to;
  const uint32_t word = (uint32_t)(uint8_t)value * 0x01010101U;
  if (((uintptr_t)out & 3U) == 0) {
    for (; count >= 4; count -= 4, out += 4) *(uint32_t*)(void*)out = word;
  }
  for (; count > 0; --count) *out++ = (uint8_t)value;
  return to;
}
