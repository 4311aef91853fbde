#include "poet_engine.h"

#include <string.h>

#include "poet_plan.h"

enum { OPERANDS = 24, RECORD_WORDS = 4 };

/* ---- words for people */

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
static void say_float(float x) {
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

static int failed(int code, const char* what) {
  poet_port_text("poet: ");
  poet_port_text(what);
  poet_port_text("\n");
  return code;
}

/* ---- the program */

static const uint8_t* next_code; /* in flash, or in the window */
static uint32_t code_left;       /* bytes of the window; not used in flash */
static uint32_t code_block;      /* the next one */
static uint8_t window[POET_BLOCK];
static int code_error;

static void rewind_code(void) {
  next_code = poet_the_plan.code;
  code_left = 0;
  code_block = poet_the_plan.program;
  code_error = POET_OK;
}

static uint32_t byte(void) {
  if (poet_the_plan.code == 0 && code_left == 0) {
    const int code = poet_read_blocks(code_block++, window, 1);
    if (code != POET_OK && code_error == POET_OK) code_error = code;
    next_code = window;
    code_left = POET_BLOCK;
  }
  --code_left;
  return *next_code++;
}

static uint32_t varint(void) {
  uint32_t n = 0, b;
  unsigned shift = 0;
  do {
    b = byte();
    n |= (b & 127U) << shift;
    shift += 7;
  } while (b > 127U && shift < 32);
  return n;
}

static float* address(void) {
  uint32_t at = byte();
  at |= byte() << 8;
#if POET_ADDRESS_BYTES > 2
  at |= byte() << 16;
#endif
  return poet_ram + at;
}

/* ---- data */

/* `count` bytes of the storage from byte `first` behind block `block` on. */
static int read_bytes(uint32_t block, uint32_t first, void* to, uint32_t count) {
  char* at = to;
  while (count > 0) {
    const uint32_t skipped = first % POET_BLOCK;
    uint32_t part = POET_BLOCK - skipped;
    const int code = poet_read_blocks(block + first / POET_BLOCK, poet_block, 1);
    if (code != POET_OK) return code;
    if (part > count) part = count;
    memcpy(at, (const char*)poet_block + skipped, part);
    at += part;
    first += part;
    count -= part;
  }
  return POET_OK;
}

int poet_fetch(uint32_t step, uint32_t samples, uint32_t first_byte, uint32_t bytes, uint32_t at,
               uint32_t count, void* to) {
  const poet_plan_data* plan = &poet_the_plan;
  char* next = to;
  while (count > 0) {
    const uint32_t sample =
        poet_sample_of(step, at / bytes, plan->batch, samples, plan->seed_low, plan->seed_high);
    uint32_t part = bytes - at % bytes;
    int code;
    if (part > count) part = count;
    code = read_bytes(plan->samples + sample * plan->sample_blocks, first_byte + at % bytes, next, part);
    if (code != POET_OK) return code;
    next += part;
    at += part;
    count -= part;
  }
  return POET_OK;
}

/* Runs of an input's bytes, which count through its batch. */
static int input(uint32_t step, uint32_t samples) {
  const uint32_t first_byte = 4 * varint(), bytes = 4 * varint();
  uint32_t runs = varint();
  char* to = (char*)address();
  for (; runs > 0; --runs) {
    const uint32_t at = 4 * varint(), count = 4 * varint();
    const int code = poet_fetch(step, samples, first_byte, bytes, at, count, to);
    if (code != POET_OK) return code;
    to += count;
  }
  return POET_OK;
}

/* ---- a step */

/* ---- instructions, where they are counted: of each kernel, of all */

enum { COUNTED = 64 };
static uint64_t spent[COUNTED];

static void say_thousands(const char* what, uint64_t instructions) {
  poet_port_text("  ");
  poet_port_text(what);
  poet_port_text(" ");
  poet_say_number((uint32_t)(instructions / 1000U));
  poet_port_text(" thousand instructions\n");
}

static void say_counts(uint64_t before) {
  uint32_t i;
  if (before == 0) return;
  say_thousands("step", poet_port_instructions() - before);
  for (i = 0; i < COUNTED; ++i) {
    if (spent[i] == 0) continue;
    say_thousands(poet_the_plan.kernel_names[i], spent[i]);
    spent[i] = 0;
  }
}

static int call(const poet_run* run, int* kernel) {
  const poet_plan_data* plan = &poet_the_plan;
  const poet_shape* shape = &plan->shapes[varint()];
  void* operand[OPERANDS];
  uint64_t before;
  uint32_t i;
  int result;
  *kernel = shape->kernel;
  for (i = 0; i < shape->operands; ++i) operand[i] = address();
  if (code_error != POET_OK) return code_error;
  before = poet_port_instructions();
  result = plan->kernels[shape->kernel](plan->shape_bytes + shape->first, operand, run);
  spent[shape->kernel % COUNTED] += poet_port_instructions() - before;
  return result == POET_KERNEL_OK ? POET_OK : POET_BAD_INDEX;
}

static int transfer(uint32_t instruction, uint32_t step) {
  const uint32_t block = varint(), bytes = 4 * varint();
  float* at = address();
  const uint32_t size = (bytes + POET_TRAILER + POET_BLOCK - 1) / POET_BLOCK;
  switch (instruction) {
    case POET_READ:
      return poet_channel_read(block, at, bytes, step);
    case POET_WRITE:
      return poet_channel_write(block, at, bytes, step);
    case POET_READ_HOME:
      return poet_channel_read(block + ((step - 1) & 1U) * size, at, bytes, step - 1);
    case POET_WRITE_HOME:
      return poet_channel_write(block + (step & 1U) * size, at, bytes, step);
    default:
      return poet_channel_read(block, at, bytes, 0);
  }
}

static int one_step(uint32_t step, uint32_t samples, float* loss, int* kernel) {
  poet_run run;
  int code;
  run.step = step;
  run.seed_low = poet_the_plan.seed_low;
  run.seed_high = poet_the_plan.seed_high;
  code = poet_tables_begin(step, samples);
  if (code != POET_OK) return code;
  rewind_code();
  for (;;) {
    const uint32_t instruction = byte();
    if (code_error != POET_OK) return code_error;
    switch (instruction) {
      case POET_END:
        return poet_channel_wait(0);
      case POET_CALL:
        code = call(&run, kernel);
        break;
      case POET_READ:
      case POET_WRITE:
      case POET_READ_HOME:
      case POET_WRITE_HOME:
      case POET_READ_FIXED:
        code = transfer(instruction, step);
        break;
      case POET_WAIT:
        code = poet_channel_wait(varint());
        break;
      case POET_INPUT:
        code = input(step, samples);
        break;
      case POET_LOSS:
        memcpy(loss, address(), sizeof *loss);
        code = POET_OK;
        break;
      case POET_READ_ROWS:
      case POET_WRITE_ROWS: {
        const uint32_t number = varint();
        float* at = address();
        code = instruction == POET_READ_ROWS ? poet_tables_read(number, at)
                                             : poet_tables_write(number, at, step);
        break;
      }
      default:
        return POET_BAD_PROGRAM;
    }
    if (code_error != POET_OK) return code_error;
    if (code != POET_OK) return code;
  }
}

/* ---- records: what is resident, the step, the loss, a hash of these. The block with the hash is written
 * last. */

static char* residents(void) { return (char*)poet_ram + poet_the_plan.resident_first; }
static uint32_t resident_bytes(void) { return poet_the_plan.ram_bytes - poet_the_plan.resident_first; }

static uint32_t hash_of_record(uint32_t step, uint32_t loss) {
  return poet_hash(residents(), resident_bytes(), step * 31U ^ loss ^ poet_the_plan.digest);
}

static uint32_t record_of(uint32_t step) {
  return poet_the_plan.record + (step & 1U) * poet_the_plan.record_blocks;
}

static int write_record(uint32_t step, float loss) {
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

/* Reads record `number`; *step is its step where it is whole, else it stays. */
static int read_record(uint32_t number, uint32_t* step) {
  const uint32_t whole = resident_bytes() / POET_BLOCK, rest = resident_bytes() % POET_BLOCK;
  const uint32_t at = poet_the_plan.record + number * poet_the_plan.record_blocks;
  uint32_t head[RECORD_WORDS];
  int code = poet_read_blocks(at, poet_block, 1);
  if (code != POET_OK) return code;
  memcpy(head, poet_block, sizeof head);
  if (whole > 0) code = poet_read_blocks(at + 1, residents(), whole);
  if (code == POET_OK && rest > 0) {
    code = poet_read_blocks(at + 1 + whole, poet_block, 1);
    memcpy(residents() + whole * POET_BLOCK, poet_block, rest);
  }
  if (code != POET_OK) return code;
  if (head[0] == POET_CARD_MAGIC && (head[1] & 1U) == number && head[3] == hash_of_record(head[1], head[2]))
    *step = head[1];
  return POET_OK;
}

/* The later one of the whole records is what RAM has then. */
static int find_record(uint32_t* step) {
  const uint32_t none = 0xFFFFFFFFU;
  uint32_t of[2], later;
  int code;
  of[0] = of[1] = none;
  code = read_record(0, &of[0]);
  if (code == POET_OK) code = read_record(1, &of[1]);
  if (code != POET_OK) return code;
  if (of[0] == none && of[1] == none) return POET_NO_RECORD;
  later = of[0] == none || (of[1] != none && of[1] > of[0]) ? 1U : 0U;
  if (later == 0) code = read_record(0, &of[0]);
  *step = of[later];
  return code;
}

/* ---- a run */

static void name_page(uint32_t block) {
  uint32_t i, e;
  for (i = 0; i < poet_the_plan.name_count; i += POET_BLOCK / POET_NAME) {
    if (poet_read_blocks(poet_the_plan.names + i / (POET_BLOCK / POET_NAME), poet_block, 1) != POET_OK) break;
    for (e = 0; e < POET_BLOCK / POET_NAME && i + e < poet_the_plan.name_count; ++e) {
      const uint32_t* entry = poet_block + e * (POET_NAME / 4);
      if (block < entry[0] || block >= entry[0] + entry[1]) continue;
      poet_port_text((const char*)(entry + 2));
      return;
    }
  }
  poet_port_text("page at block ");
  poet_say_number(block);
}

static int end(int code, uint32_t step, int kernel) {
  const uint32_t bad = poet_bad_page;
  poet_channel_drop();
  poet_port_text("poet: step ");
  poet_say_number(step);
  poet_port_text(": ");
  switch (code) {
    case POET_DAMAGED:
      name_page(bad);
      poet_port_text(" is damaged on the storage");
      break;
    case POET_STALE:
      name_page(bad);
      poet_port_text(" on the storage is of another step");
      break;
    case POET_IO_ERROR:
      poet_port_text("the storage cannot be read or written");
      break;
    case POET_BAD_INDEX:
      poet_port_text(poet_the_plan.kernel_names[kernel]);
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

int poet_train(void) {
  const poet_plan_data* plan = &poet_the_plan;
  uint32_t blocks = 0, step = 0, samples, steps;
  int kernel = 0;
  int code = poet_storage_open(&blocks);
  if (code != POET_OK) return failed(code, "there is no storage");
  code = poet_read_blocks(0, poet_block, 1);
  if (code != POET_OK) return failed(code, "the storage cannot be read");
  if (poet_block[0] != POET_CARD_MAGIC || poet_block[1] != POET_CARD_VERSION)
    return failed(POET_WRONG_CARD, "the storage holds no image of poet's");
  if (poet_hash(poet_block, 6 * sizeof poet_block[0], 0) != poet_block[6])
    return failed(POET_DAMAGED, "the storage's header is damaged");
  if (poet_block[2] != plan->digest)
    return failed(POET_WRONG_PLAN, "the storage holds the image for another plan");
  if (blocks < poet_block[3])
    return failed(POET_CARD_TOO_SMALL, "the storage has fewer blocks than the image");
  steps = poet_block[4];
  samples = poet_block[5];
  code = find_record(&step);
  if (code == POET_NO_RECORD) return failed(code, "no record of a step on the storage is whole");
  if (code != POET_OK) return failed(code, "the storage cannot be read");
  if (step > 0) code = poet_tables_commit(step);
  if (code != POET_OK) return end(code, step, kernel);
  if (step > 0) {
    poet_port_text("poet: goes on after step ");
    poet_say_number(step);
    poet_port_text("\n");
  }
  while (steps == 0 || step < steps) {
    const uint64_t before = poet_port_instructions();
    float loss = 0.0F;
    uint32_t bits;
    code = one_step(step + 1, samples, &loss, &kernel);
    if (code == POET_OK && !(loss - loss == 0.0F)) code = POET_NOT_FINITE;
    if (code == POET_OK) code = write_record(step + 1, loss);
    if (code == POET_OK) code = poet_tables_commit(step + 1);
    if (code != POET_OK) return end(code, step + 1, kernel);
    ++step;
    memcpy(&bits, &loss, sizeof bits);
    poet_port_text("step ");
    poet_say_number(step);
    poet_port_text(" loss ");
    say_float(loss);
    poet_port_text(" ");
    poet_say_hex(bits);
    poet_port_text("\n");
    say_counts(before);
  }
  return POET_OK;
}
