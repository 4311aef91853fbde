/* Trains by a plan: goes through the plan's program step by step, moves pages between RAM and storage, and
 * commits every step with a record, from which a run goes on after a power cut.
 *
 * What the storage holds, in blocks of 512 bytes; numbers are 32 bits, little-endian:
 *   header    POET_CARD_MAGIC, POET_CARD_VERSION, the plan's digest, blocks in all, steps to be trained (0:
 * for ever), samples, a hash of these records   two: the step that is complete, its loss, the resident
 * values' bytes; a hash of all of it pages     of values; of those that steps update two, which change roles
 * with every step. A page ends with the step that wrote it and a hash (struct poet_trailer) in its last 8
 * bytes; it is as many blocks as that takes samples   one after another, each on a block of its own: its
 * inputs' bytes program   where it is not in flash names     of pages, for messages: the first block, blocks,
 * then 56 characters */
#ifndef POET_ENGINE_H
#define POET_ENGINE_H

#include <stdint.h>

#include "../kernels/poet_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  POET_BLOCK = 512,
  POET_CARD_MAGIC = 0x54454F50, /* "POET" */
  POET_CARD_VERSION = 1,
  POET_NAME = 64, /* bytes of an entry of the names */
  POET_TRAILER = 8
};

/* How a run ends, and the exit code where a board has one. */
enum {
  POET_OK = 0,
  POET_NO_CARD = 10,   /* the storage does not answer */
  POET_CARD_TOO_SMALL, /* fewer blocks than the header says */
  POET_WRONG_CARD,     /* no card image of poet, or of another version */
  POET_WRONG_PLAN,     /* an image for another plan */
  POET_NO_RECORD,      /* neither record is whole */
  POET_DAMAGED,        /* a page, the header or a sample: its hash is wrong */
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
  POET_INPUT, /* of the input: first byte / 4 in a sample, bytes / 4 of a sample; runs (varints), address; per
               * run: the first byte / 4 in the batch, bytes / 4 (varints) */
  POET_LOSS,  /* address */
  POET_READ_ROWS,  /* which of the plan's rows (varint), address: those that the step's input names */
  POET_WRITE_ROWS, /* the same */
  POET_INSTRUCTIONS
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
  uint32_t ram_bytes;                                   /* arena and resident values */
  uint32_t resident_first;                              /* byte in RAM; up to ram_bytes */
  uint32_t record, record_blocks;                       /* the first block of record 0; record 1 follows it */
  uint32_t samples, sample_blocks, sample_bytes, batch; /* the first block; of a sample, of a batch's */
  uint32_t program, program_bytes;                      /* the first block where it is on the storage */
  uint32_t names, name_count;
  uint32_t seed_low, seed_high;
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

/* The plan's RAM: where it lies is the port's business. */
extern float poet_ram[];

/* Trains until the header's number of steps is complete. Returns one of the codes above; has said what was
 * the matter. */
int poet_train(void);

/* ---- what a port gives */

/* Text for people; without end of line. */
void poet_port_text(const char* text);

/* Instructions that have been carried out, where the board counts them; else 0. */
uint64_t poet_port_instructions(void);

/* Storage in blocks of POET_BLOCK. One transfer at a time: start() begins it, poll() carries it on and says
 * whether it is done, so that it can go on beside computing. Both return a POET_... code, poll also
 * POET_BUSY. */
enum { POET_BUSY = 1 };
int poet_storage_open(uint32_t* blocks);
int poet_storage_start_read(uint32_t block, void* to, uint32_t count);
int poet_storage_start_write(uint32_t block, const void* from, uint32_t count);
int poet_storage_poll(void);

/* ---- between the engine's files */

uint32_t poet_hash(const void* bytes, uint32_t count, uint32_t seed);

/* Transfers in the order in which they are issued. */
int poet_channel_read(uint32_t block, float* to, uint32_t bytes, uint32_t step);
int poet_channel_write(uint32_t block, const float* from, uint32_t bytes, uint32_t step);
int poet_channel_wait(uint32_t outstanding);
/* Ends the transfer under way and forgets the others: after an error. */
void poet_channel_drop(void);
/* Blocks at once, with no transfer under way. */
int poet_read_blocks(uint32_t block, void* to, uint32_t count);
int poet_write_blocks(uint32_t block, const void* from, uint32_t count);
/* A buffer of one block, which transfers use as well. */
extern uint32_t poet_block[POET_BLOCK / 4];
/* After POET_DAMAGED or POET_STALE: the page's first block. */
extern uint32_t poet_bad_page;

/* Tables by index: before the step's first instruction; what the program asks for; once the step's record is
 * written, and after a restart. */
int poet_tables_begin(uint32_t step, uint32_t samples);
int poet_tables_read(uint32_t number, float* to);
int poet_tables_write(uint32_t number, const float* from, uint32_t step);
int poet_tables_commit(uint32_t step);

/* Of an input's bytes in the batch of `step` those from `at` on; `first_byte`: of the input within a sample,
 * `bytes`: of it. */
int poet_fetch(uint32_t step, uint32_t samples, uint32_t first_byte, uint32_t bytes, uint32_t at,
               uint32_t count, void* to);

/* Which samples step `step` (from 1) takes: place `i` of its batch. */
uint32_t poet_sample_of(uint32_t step, uint32_t i, uint32_t batch, uint32_t samples, uint32_t seed_low,
                        uint32_t seed_high);

void poet_say_number(uint32_t n);
void poet_say_hex(uint32_t n);

#ifdef __cplusplus
}
#endif

#endif
