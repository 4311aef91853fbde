/* Text by the UART; a run that ends says its code there and sleeps. */
#include "poet_board.h"
#include "poet_engine.h"
#include "poet_plan.h"

#define UART(offset) (*(volatile uint32_t*)(0x40002000U + (offset)))
#define CLOCK(offset) (*(volatile uint32_t*)(0x40000000U + (offset)))

float poet_ram[POET_RAM_BYTES / 4] __attribute__((section(".poet_ram")));

void poet_board_start(void) {
  CLOCK(0x000) = 1; /* the crystal: the UART's timing */
  while (CLOCK(0x100) == 0) {
  }
  UART(0x50C) = POET_PIN_TEXT;
  UART(0x524) = 0x01D60000U; /* 115,200 baud */
  UART(0x500) = 4;
  UART(0x008) = 1;
}

void poet_port_text(const char* text) {
  for (; *text != 0; ++text) {
    UART(0x11C) = 0;
    UART(0x51C) = (uint8_t)*text;
    while (UART(0x11C) == 0) {
    }
  }
}

void poet_board_exit(int code) {
  poet_port_text("exit ");
  poet_say_number((uint32_t)code);
  poet_port_text("\n");
  for (;;) __asm volatile("wfi");
}
