/* Text and exit codes by semihosting; the plan's RAM. */
#include "poet_board.h"
#include "poet_engine.h"
#include "poet_plan.h"
#include "semihosting.h"

float poet_ram[POET_RAM_BYTES / 4] __attribute__((section(".poet_ram")));

void poet_board_exit(int code) { poet_semihosting_exit(code); }

void poet_port_text(const char* text) { poet_semihosting(SYS_WRITE0, text); }
