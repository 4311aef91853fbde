/* Records: what is resident, the step, the loss, a hash of these. The block with the hash is written last. */
#include <string.h>

#include "poet_engine.h"

enum { RECORD_WORDS = 4 };

static char* residents(void) { return (char*)poet_ram + poet_the_plan.resident_first; }
static uint32_t resident_bytes(void) { return poet_the_plan.ram_bytes - poet_the_plan.resident_first; }

static uint32_t hash_of_record(uint32_t step, uint32_t loss) {
  return poet_hash(residents(), resident_bytes(), step * 31U ^ loss ^ poet_the_plan.digest);
}

static uint32_t record_of(uint32_t step) {
  return poet_the_plan.record + (step & 1U) * poet_the_plan.record_blocks;
}

int poet_write_record(uint32_t step, float loss) {
  const uint32_t whole = resident_bytes() / POET_BLOCK, rest = resident_bytes() % POET_BLOCK,
                 at = record_of(step);
  uint32_t bits;
  int code = POET_OK;
  memcpy(&bits, &loss, sizeof bits);
  if (whole > 0) code = poet_write_blocks(at + 1, residents(), whole);
  if (code == POET_OK && rest > 0) {
    memset(poet_block, 0, sizeof poet_block);
    memcpy(poet_block, residents() + whole * POET_BLOCK, rest);
    code = poet_write_blocks(at + 1 + whole, poet_block, 1);
  }
  if (code != POET_OK) return code;
  memset(poet_block, 0, sizeof poet_block);
  poet_block[0] = POET_CARD_MAGIC;
  poet_block[1] = step;
  poet_block[2] = bits;
  poet_block[3] = hash_of_record(step, bits);
  return poet_write_blocks(at, poet_block, 1);
}

/* Reads record `number`; *step is its step where it is whole, else it stays. Power may have gone while it was
 * written, and the card may then not read it at all: it is not whole. */
static int read_whole_record(uint32_t number, uint32_t* step) {
  const uint32_t whole = resident_bytes() / POET_BLOCK, rest = resident_bytes() % POET_BLOCK;
  const uint32_t at = poet_the_plan.record + number * poet_the_plan.record_blocks;
  uint32_t head[RECORD_WORDS];
  int code = poet_read_blocks(at, poet_block, 1);
  if (code != POET_OK) return code;
  memcpy(head, poet_block, sizeof head);
  if (whole > 0) code = poet_read_blocks(at + 1, residents(), whole);
  if (code == POET_OK && rest > 0) {
    code = poet_read_blocks(at + 1 + whole, poet_block, 1);
    if (code == POET_OK) memcpy(residents() + whole * POET_BLOCK, poet_block, rest);
  }
  if (code != POET_OK) return code;
  if (head[0] == POET_CARD_MAGIC && (head[1] & 1U) == number && head[3] == hash_of_record(head[1], head[2]))
    *step = head[1];
  return POET_OK;
}

static int read_record(uint32_t number, uint32_t* step) {
  const int code = read_whole_record(number, step);
  if (code != POET_OK) poet_channel_drop();
  return code;
}

/* The later one of the whole records is what RAM has then: where that is the first one it is read again, and
 * what is read again is checked again. */
int poet_find_record(uint32_t* step) {
  const uint32_t none = 0xFFFFFFFFU;
  uint32_t of[2], later;
  int first, second;
  of[0] = of[1] = none;
  first = read_record(0, &of[0]);
  second = read_record(1, &of[1]);
  if (of[0] == none && of[1] == none)
    return first != POET_OK ? first : second != POET_OK ? second : POET_NO_RECORD;
  later = of[0] == none || (of[1] != none && of[1] > of[0]) ? 1U : 0U;
  *step = of[later];
  if (later == 1) return POET_OK;
  of[0] = none;
  first = read_record(0, &of[0]);
  return first != POET_OK ? first : of[0] == *step ? POET_OK : POET_DAMAGED;
}
