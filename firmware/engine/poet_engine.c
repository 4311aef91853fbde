#include "poet_engine.h"

#include <string.h>

#include "poet_plan.h"

#ifdef POET_COUNT
#define COUNT(call) call
#else
#define COUNT(call) (void)0
#endif
#ifdef POET_TRACE
#define TRACE(call) call
#else
#define TRACE(call) (void)0
#endif

/* ---- the program */

static const uint8_t* next_code; /* in flash, or in the window */
static uint32_t code_left;       /* bytes of the window; not used in flash */
static uint32_t code_block;      /* the next one */
static uint32_t window[POET_BLOCK / 4];
static int code_error;

static void rewind_code(void) {
  next_code = poet_the_plan.code;
  code_left = 0;
  code_block = poet_the_plan.program;
  code_error = POET_OK;
}

/* Where the program cannot be read: an END, and code_error. */
static uint32_t byte(void) {
  if (poet_the_plan.code == 0 && code_left == 0) {
    if (code_error == POET_OK) code_error = poet_read_sealed(code_block++, window);
    if (code_error != POET_OK) return POET_END;
    next_code = (const uint8_t*)window;
    code_left = POET_SEALED;
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

/* `count` bytes of the sealed blocks from `block` on, from byte `first` on. */
static int read_bytes(uint32_t block, uint32_t first, void* to, uint32_t count) {
  char* at = to;
  while (count > 0) {
    const uint32_t skipped = first % POET_SEALED;
    uint32_t part = POET_SEALED - skipped;
    const int code = poet_read_sealed(block + first / POET_SEALED, poet_block);
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
    const int code =
        code_error != POET_OK ? code_error : poet_fetch(step, samples, first_byte, bytes, at, count, to);
    if (code != POET_OK) return code;
    to += count;
  }
  return POET_OK;
}

/* ---- a step */

static int call(const poet_run* run, int* kernel) {
  const poet_plan_data* plan = &poet_the_plan;
  const poet_shape* shape = &plan->shapes[varint()];
  uint32_t i;
  int result;
  *kernel = shape->kernel;
  for (i = 0; i < shape->operands; ++i) poet_operands[i] = address();
  if (code_error != POET_OK) return code_error;
  COUNT(poet_count_kernel());
  result = plan->kernels[shape->kernel](plan->shape_bytes + shape->first, poet_operands, run);
  COUNT(poet_count_kernel_end(shape->kernel));
  return result == POET_KERNEL_OK ? POET_OK : POET_BAD_INDEX;
}

static int transfer(uint32_t instruction, uint32_t step) {
  const uint32_t block = varint(), bytes = 4 * varint();
  float* at = address();
  const uint32_t size = (bytes + POET_TRAILER + POET_BLOCK - 1) / POET_BLOCK;
  if (code_error != POET_OK) return code_error; /* these are not the operands */
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

static int transfer_rows(uint32_t instruction, uint32_t step) {
  const uint32_t number = varint();
  float* at = address();
  if (code_error != POET_OK) return code_error;
  return instruction == POET_READ_ROWS ? poet_tables_read(number, at, step)
                                       : poet_tables_write(number, at, step);
}

static int one_step(uint32_t step, uint32_t samples, float* loss, int* kernel) {
  poet_run run;
  int code;
  run.step = step;
  run.seed_low = poet_the_plan.seed_low;
  run.seed_high = poet_the_plan.seed_high;
  run.rate_factor =
      poet_rate_factor(&poet_the_plan.schedule, (step - 1) / poet_the_plan.steps_per_update + 1);
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
      case POET_WRITE_ROWS:
        code = transfer_rows(instruction, step);
        break;
      default:
        return POET_BAD_PROGRAM;
    }
    if (code_error != POET_OK) return code_error;
    if (code != POET_OK) return code;
    TRACE(poet_count_instruction(instruction));
  }
}

/* ---- a run */

static int failed(int code, const char* what) {
  poet_port_text("poet: ");
  poet_port_text(what);
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
    return failed(POET_WRONG_CARD, "the storage holds no poet card image");
  if (poet_hash(poet_block, 6 * sizeof poet_block[0], 0) != poet_block[6])
    return failed(POET_DAMAGED, "the storage's header is damaged");
  if (poet_block[2] != plan->digest)
    return failed(POET_WRONG_PLAN, "the storage holds the image for another plan");
  if (blocks < poet_block[3])
    return failed(POET_CARD_TOO_SMALL, "the storage has fewer blocks than the image");
  steps = poet_block[4];
  samples = poet_block[5];
  code = poet_find_record(&step);
  if (code == POET_NO_RECORD) return failed(code, "no record of a step on the storage is whole");
  if (code == POET_DAMAGED) return failed(code, "a record on the storage is not read twice alike");
  if (code != POET_OK) return failed(code, "the storage cannot be read");
  if (step > 0) code = poet_tables_commit(step);
  if (code != POET_OK) return poet_fail(code, step, plan->kernel_names[kernel]);
  if (step > 0) {
    poet_port_text(steps == 0 || step < steps ? "poet: goes on after step "
                                              : "poet: nothing to do after step ");
    poet_say_number(step);
    poet_port_text("\n");
  }
  while (steps == 0 || step < steps) {
    float loss = 0.0F;
    uint32_t bits;
    COUNT(poet_count_step());
    code = one_step(step + 1, samples, &loss, &kernel);
    if (code == POET_OK && !(loss - loss == 0.0F)) code = POET_NOT_FINITE;
    if (code == POET_OK) code = poet_write_record(step + 1, loss);
    if (code == POET_OK) code = poet_tables_commit(step + 1);
    if (code != POET_OK) return poet_fail(code, step + 1, plan->kernel_names[kernel]);
    ++step;
    memcpy(&bits, &loss, sizeof bits);
    poet_port_text("step ");
    poet_say_number(step);
    poet_port_text(" loss ");
    poet_say_float(loss);
    poet_port_text(" ");
    poet_say_hex(bits);
    poet_port_text("\n");
    COUNT(poet_count_step_end());
  }
  return POET_OK;
}
