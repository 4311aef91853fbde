/* Text by the UART; a run that ends says its code there and sleeps. */
#include "poet_board.h"
#include "poet_engine.h"
#include "poet_plan.h"

#define UART(offset) (*(volatile uint32_t*)(0x40002000U + (offset)))
#define PORT(offset) (*(volatile uint32_t*)(0x50000000U + (offset)))
#define CLOCK(offset) (*(volatile uint32_t*)(0x40000000U + (offset)))

/* Times to look at an event: some milliseconds, many times what the crystal or a character takes. */
enum { LONGEST_WAIT = 20000 };

static void wait_for(const volatile uint32_t* event) {
  uint32_t i;
  for (i = 0; *event == 0 && i < LONGEST_WAIT; ++i) {
  }
}

float poet_ram[POET_RAM_BYTES / 4] __attribute__((section(".poet_ram")));

void poet_board_start(void) {
  CLOCK(0x000) = 1; /* the crystal: the UART's timing; without it the processor's own clock goes on */
  wait_for(&CLOCK(0x100));
  PORT(0x508) = 1U << POET_PIN_TEXT; /* an output, high while nothing is sent */
  PORT(0x700U + 4U * POET_PIN_TEXT) = 3;
  UART(0x50C) = POET_PIN_TEXT;
  UART(0x524) = 0x01D60000U; /* 115,200 baud */
  UART(0x500) = 4;
  UART(0x008) = 1;
}

void poet_port_text(const char* text) {
  for (; *text != 0; ++text) {
    UART(0x11C) = 0;
    UART(0x51C) = (uint8_t)*text;
    wait_for(&UART(0x11C));
  }
}

void poet_board_exit(int code) {
  poet_port_text("exit ");
  poet_say_number((uint32_t)code);
  poet_port_text("\n");
  for (;;) __asm volatile("wfi");
}
