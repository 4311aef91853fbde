/* Words for people: numbers, names of places on the storage, why a run has ended. */
#include "poet_engine.h"

void poet_say_number(uint32_t n) {
  char text[11], *at = text + 10;
  *at = 0;
  do *--at = (char)('0' + n % 10U);
  while ((n /= 10U) != 0);
  poet_port_text(at);
}

void poet_say_hex(uint32_t n) {
  char text[11];
  int i;
  text[0] = '0', text[1] = 'x', text[10] = 0;
  for (i = 9; i > 1; --i, n >>= 4) text[i] = "0123456789abcdef"[n & 15U];
  poet_port_text(text);
}

/* Six digits after the point, for people; the bits say the rest. */
void poet_say_float(float x) {
  uint32_t whole, rest, scale;
  if (x < 0.0F) {
    poet_port_text("-");
    x = -x;
  }
  if (!(x < 4.0e9F)) {
    poet_port_text("large");
    return;
  }
  whole = (uint32_t)x;
  rest = (uint32_t)((x - (float)whole) * 1.0e6F + 0.5F);
  if (rest >= 1000000U) {
    rest = 0;
    ++whole;
  }
  poet_say_number(whole);
  poet_port_text(".");
  for (scale = 100000U; scale > rest && scale > 1U; scale /= 10U) poet_port_text("0");
  poet_say_number(rest);
}

/* ---- places on the storage */

static int say_page(uint32_t block) {
  const poet_plan_data* plan = &poet_the_plan;
  uint32_t i;
  for (i = 0; i < plan->name_count; ++i) {
    const uint32_t at = i % POET_NAMES_PER_BLOCK;
    const uint32_t* entry = poet_block + at * (POET_NAME / 4);
    if (at == 0 && poet_read_sealed(plan->names + i / POET_NAMES_PER_BLOCK, poet_block) != POET_OK) return 0;
    if (block < entry[0] || block >= entry[0] + entry[1]) continue;
    poet_port_text((const char*)(entry + 2));
    return 1;
  }
  return 0;
}

void poet_say_place(uint32_t block) {
  const poet_plan_data* plan = &poet_the_plan;
  if (block >= plan->samples) {
    poet_port_text("sample ");
    poet_say_number((block - plan->samples) / plan->sample_blocks);
  } else if (block >= plan->program) {
    poet_port_text("the program at block ");
    poet_say_number(block);
  } else if (!say_page(block)) {
    poet_port_text("the page at block ");
    poet_say_number(block);
  }
}

/* ---- why a run has ended */

int poet_fail(int code, uint32_t step, const char* kernel) {
  const uint32_t bad = poet_bad_block;
  poet_channel_drop();
  poet_port_text("poet: step ");
  poet_say_number(step);
  poet_port_text(": ");
  switch (code) {
    case POET_DAMAGED:
      poet_say_place(bad);
      poet_port_text(" is damaged on the storage");
      break;
    case POET_STALE:
      poet_say_place(bad);
      poet_port_text(" on the storage is of another step");
      break;
    case POET_IO_ERROR:
      poet_port_text("the storage cannot be read or written");
      break;
    case POET_BAD_INDEX:
      poet_port_text(kernel);
      poet_port_text(": a sample names a class or a row that does not exist");
      break;
    case POET_BAD_ROW:
      poet_port_text("a sample names a row of a table that does not exist");
      break;
    case POET_NOT_FINITE:
      poet_port_text("the loss is infinite or no number");
      break;
    default:
      poet_port_text("the program is damaged");
  }
  poet_port_text("\n");
  return code;
}
