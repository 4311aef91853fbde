/* Instructions that a step takes, where a board counts them: kernel by kernel (make COUNT=1), or one line for
 * each instruction of the program (COUNT=trace). */
#include "poet_engine.h"

enum { COUNTED = 64 };

static uint64_t of_kernel[COUNTED];
static uint64_t step_begin, kernel_begin, instruction_begin;

static void say_thousands(const char* what, uint64_t instructions) {
  poet_port_text("  ");
  poet_port_text(what);
  poet_port_text(" ");
  poet_say_number((uint32_t)(instructions / 1000U));
  poet_port_text(" thousand instructions\n");
}

void poet_count_step(void) { step_begin = instruction_begin = poet_port_instructions(); }

void poet_count_kernel(void) { kernel_begin = poet_port_instructions(); }

void poet_count_kernel_end(int kernel) {
  of_kernel[kernel % COUNTED] += poet_port_instructions() - kernel_begin;
}

void poet_count_instruction(uint32_t code) {
  const uint64_t now = poet_port_instructions();
  poet_port_text("@");
  poet_say_number(code);
  poet_port_text(" ");
  poet_say_number((uint32_t)(now - instruction_begin));
  poet_port_text("\n");
  instruction_begin = poet_port_instructions(); /* without what it takes to say so */
}

void poet_count_step_end(void) {
  int i;
  say_thousands("step", poet_port_instructions() - step_begin);
  for (i = 0; i < COUNTED; ++i) {
    if (of_kernel[i] == 0) continue;
    say_thousands(poet_the_plan.kernel_names[i], of_kernel[i]);
    of_kernel[i] = 0;
  }
}
