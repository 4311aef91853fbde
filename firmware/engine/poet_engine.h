/* Trains by a plan: goes through the plan's program step by step, moves pages between RAM and storage, and
 * commits every step with a record, from which a run goes on after a power cut.
 *
 * What the storage holds, in blocks of 512 bytes, in this order; numbers are 32 bits, little-endian:
 *
 *   header   POET_CARD_MAGIC, POET_CARD_VERSION, the plan's digest, blocks in all, steps to be trained
 *            (0: for ever), samples, a hash of these; from byte 64 on what only poet reads.
 *
 *   records  two. Each: POET_CARD_MAGIC, the step that is complete, its loss, a hash of these and of what
 *            follows in blocks of its own: the resident values' bytes.
 *
 *   pages    of values; of those that steps update two, which change roles with every step. A page is as many
 *            blocks as its bytes and POET_TRAILER take; the last 8 bytes of the last one are the step that
 *            wrote it and a hash.
 *
 *   program  where it is not in flash, in sealed blocks.
 *
 *   names    of pages, for messages, in sealed blocks, POET_NAMES_PER_BLOCK in each: the first block, blocks,
 *            then 56 characters.
 *
 *   samples  one after another, each begins a block of its own: its inputs' bytes, in sealed blocks.
 *
 * A sealed block is POET_SEALED bytes and a hash of them, seeded with the block's number. */
#ifndef POET_ENGINE_H
#define POET_ENGINE_H

#include <stdint.h>

#include "../kernels/poet_kernels.h"
#include "poet_rate.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  POET_BLOCK = 512,
  POET_CARD_MAGIC = 0x54454F50, /* "POET" */
  POET_CARD_VERSION = 4,
  POET_TRAILER = 8,
  POET_SEALED = POET_BLOCK - 4,
  POET_NAME = 64, /* bytes of an entry of the names */
  POET_NAMES_PER_BLOCK = POET_SEALED / POET_NAME
};

/* How a run ends, and the exit code where a board has one. */
enum {
  POET_OK = 0,
  POET_NO_CARD = 10,   /* the storage does not answer */
  POET_CARD_TOO_SMALL, /* fewer blocks than the header says */
  POET_WRONG_CARD,     /* no card image of poet, or of another version */
  POET_WRONG_PLAN,     /* an image for another plan */
  POET_NO_RECORD,      /* neither record is whole */
  POET_DAMAGED,        /* a page, the header, the program or a sample: its hash is wrong */
  POET_STALE,          /* a page that another step has written */
  POET_IO_ERROR,       /* reading or writing failed */
  POET_BAD_PROGRAM,    /* an instruction that does not exist */
  POET_BAD_INDEX,      /* a sample names a class or a row that does not exist */
  POET_NOT_FINITE,     /* the loss is infinite or no number */
  POET_BAD_ROW         /* a sample names a row of a table that does not exist */
};

/* The instructions of a program; operands follow in bytes, little-endian. A *varint* has 7 bits per byte, the
 * lowest first, the upper bit of all bytes but the last set. Addresses are in units of 4 bytes from the
 * beginning of RAM. */
enum {
  POET_END = 0,
  POET_CALL,       /* shape (varint), the operands' addresses (POET_ADDRESS_BYTES each) */
  POET_READ,       /* first block, bytes / 4 (varints), address: a page of this step */
  POET_WRITE,      /* the same */
  POET_READ_HOME,  /* of a value with two pages, the one that the step before has written */
  POET_WRITE_HOME, /* the other one */
  POET_READ_FIXED, /* of a value that no step updates */
  POET_WAIT,       /* until at most so many transfers are outstanding (varint) */
  POET_INPUT,     /* of the input: first byte / 4 in a sample, bytes / 4 of a sample; runs (varints), address;
                   * per run: the first byte / 4 in the batch, bytes / 4 (varints) */
  POET_LOSS,      /* address */
  POET_READ_ROWS, /* which of the plan's rows (varint), address: those that the step's input names */
  POET_WRITE_ROWS /* the same */
};

/* What poet generates for a plan (plan.c). */
typedef struct poet_shape {
  uint32_t first;   /* of its bytes in poet_shape_bytes, in units of 8 */
  uint8_t kernel;   /* in poet_kernels */
  uint8_t operands; /* how many */
} poet_shape;

/* An input of the step whose numbers name rows of tables. */
typedef struct poet_indices {
  uint32_t first_byte, bytes; /* in a sample */
  uint32_t first, count;      /* among all numbers of a step that name rows */
  uint32_t rows;              /* of the smallest of these tables */
} poet_indices;

/* Rows of a table that a step brings into RAM (poet_tables.c). */
typedef struct poet_table_rows {
  uint32_t table;                 /* block of row 0 */
  uint32_t journal;               /* block; 0: no step changes them */
  uint32_t row_bytes, row_blocks; /* of a row */
  uint32_t first, count;          /* of the numbers that name them */
} poet_table_rows;

typedef struct poet_plan_data {
  uint32_t digest;
  uint32_t ram_bytes;                     /* arena and resident values */
  uint32_t resident_first;                /* byte in RAM; up to ram_bytes */
  uint32_t record, record_blocks;         /* the first block of record 0; record 1 follows it */
  uint32_t samples, sample_blocks, batch; /* the first block; blocks of one; how many a step takes */
  uint32_t program;                       /* the first block where it is on the storage */
  uint32_t names, name_count;             /* the first block; entries */
  uint32_t seed_low, seed_high;
  uint32_t steps_per_update;
  poet_schedule schedule; /* of the learning rate */
  uint32_t indices_count, rows_count;
  const poet_indices* indices;
  const poet_table_rows* rows;
  const uint8_t* code; /* the program where it is in flash; 0: on the storage */
  const poet_shape* shapes;
  const uint64_t* shape_bytes;
  const poet_kernel* kernels;
  const char* const* kernel_names;
} poet_plan_data;

extern const poet_plan_data poet_the_plan;
/* Rows that the step under way names; -1 where an earlier number names the same. */
extern int32_t poet_row_numbers[];
/* Where the operands of the kernel lie that is called. */
extern void* poet_operands[];

/* The plan's RAM: where it lies is the port's business. */
extern float poet_ram[];

/* Trains until the header's number of steps is complete. Returns one of the codes above; has said what was
 * the matter. */
int poet_train(void);

/* ---- what a port gives */

/* Text for people; adds no end of line. */
void poet_port_text(const char* text);

/* Instructions that have been carried out, where the board counts them; else 0. */
uint64_t poet_port_instructions(void);

/* Storage in blocks of POET_BLOCK, one transfer at a time: start begins it, poll carries it on and says
 * whether it is done, so that it can go on beside computing. Where the processor itself moves the bytes, one
 * call of poll moves about so many of them and no more. All return a POET_... code, poll also POET_BUSY. */
enum { POET_BUSY = 1 };
int poet_storage_open(uint32_t* blocks);
int poet_storage_start_read(uint32_t block, void* to, uint32_t count);
int poet_storage_start_write(uint32_t block, const void* from, uint32_t count);
int poet_storage_poll(uint32_t bytes);

/* Called where a transfer has been issued, and again and again while one is waited for: calls
 * poet_channel_advance(), or sees to it that an interrupt does. */
void poet_port_carry_on(void);

/* ---- between the engine's files, and for the port's interrupt */

uint32_t poet_hash(const void* bytes, uint32_t count, uint32_t seed);

/* Pages, in the order in which they are issued. The port calls poet_channel_advance(), which goes on with the
 * transfer under way by about so many bytes, or begins the next one, and returns whether there is more to be
 * done. An interrupt may, at any time but within another call of it. The rest is the main program's. */
int poet_channel_advance(uint32_t bytes);
int poet_channel_read(uint32_t block, float* to, uint32_t bytes, uint32_t step);
int poet_channel_write(uint32_t block, const float* from, uint32_t bytes, uint32_t step);
int poet_channel_wait(uint32_t outstanding);
/* Ends the transfer under way and forgets the others: after an error. */
void poet_channel_drop(void);
/* Blocks at once, ahead of the pages that are not under way yet. */
int poet_read_blocks(uint32_t block, void* to, uint32_t count);
int poet_write_blocks(uint32_t block, const void* from, uint32_t count);
/* A sealed block: POET_DAMAGED where its hash is wrong. */
int poet_read_sealed(uint32_t block, uint32_t* to);
/* A buffer of one block for whoever reads or writes one at once. */
extern uint32_t poet_block[POET_BLOCK / 4];
/* After POET_DAMAGED or POET_STALE: the block, of a page the first. */
extern uint32_t poet_bad_block;

/* Records: a step is complete when its record is written. Of two whole ones the later is found; its resident
 * values are in RAM then. */
int poet_write_record(uint32_t step, float loss);
int poet_find_record(uint32_t* step);

/* Tables by index: before the step's first instruction; what the program asks for; once the step's record is
 * written, and after a restart. */
int poet_tables_begin(uint32_t step, uint32_t samples);
int poet_tables_read(uint32_t number, float* to, uint32_t step);
int poet_tables_write(uint32_t number, const float* from, uint32_t step);
int poet_tables_commit(uint32_t step);

/* Of an input's bytes in the batch of `step` those from `at` on; `first_byte`: of the input within a sample,
 * `bytes`: of it. */
int poet_fetch(uint32_t step, uint32_t samples, uint32_t first_byte, uint32_t bytes, uint32_t at,
               uint32_t count, void* to);

/* Instructions of a step, of its kernels, of its program's instructions (poet_counts.c). */
void poet_count_step(void);
void poet_count_kernel(void);
void poet_count_kernel_end(int kernel);
void poet_count_instruction(uint32_t code);
void poet_count_step_end(void);

/* Which samples step `step` (from 1) takes: place `i` of its batch. */
uint32_t poet_sample_of(uint32_t step, uint32_t i, uint32_t batch, uint32_t samples, uint32_t seed_low,
                        uint32_t seed_high);

/* Words for people. */
void poet_say_number(uint32_t n);
void poet_say_hex(uint32_t n);
void poet_say_float(float x);
void poet_say_place(uint32_t block); /* what lies there: a page by its name */
/* What poet_train() returns, with the reason in words. */
int poet_fail(int code, uint32_t step, const char* kernel);

#ifdef __cplusplus
}
#endif

#endif
