/* Reads plans that poet wrote, on the device that carries them out.
 *
 * Portable C99: no heap, no recursion, no library, no state of its own, no 64-bit arithmetic. Whatever bytes
 * it is given, it reads none outside of them. docs/formats_plan.md describes the format. poet
 * reads its own plan files with this decoder too.
 *
 *     poet_plan plan;
 *     poet_plan_cursor cursor;
 *     poet_plan_step step;
 *     int code = poet_plan_open(&plan, image, sizeof image);
 *     if (code != POET_PLAN_OK) panic(poet_plan_message(code));
 *     poet_plan_begin(&plan, &cursor);
 *     while (poet_plan_next(&cursor, &step) == POET_PLAN_OK) execute(&step);
 */
#ifndef POET_PLAN_DECODER_H
#define POET_PLAN_DECODER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define POET_PLAN_VERSION 2u        /* the newest; 1 differs in having no POET_PLAN_PAGED */
#define POET_PLAN_FAMILY 3u         /* several plans in one file, each an image of its own: not for devices */
#define POET_PLAN_HEADER_BYTES 8u   /* of the file: "POET", version, number of sections */
#define POET_PLAN_SECTION_BYTES 12u /* of a section without its payload: tag, length, CRC-32 */

/* Tags of sections: four letters, the first one in the lowest byte. */
#define POET_PLAN_TAG(a, b, c, d) \
  ((uint32_t)(a) | ((uint32_t)(b) << 8) | ((uint32_t)(c) << 16) | ((uint32_t)(d) << 24))
#define POET_PLAN_GRAPH POET_PLAN_TAG('G', 'R', 'P', 'H')
#define POET_PLAN_COSTS POET_PLAN_TAG('C', 'O', 'S', 'T')
#define POET_PLAN_PLANS POET_PLAN_TAG('P', 'L', 'N', 'S')
#define POET_PLAN_LIMITS POET_PLAN_TAG('L', 'I', 'M', 'S')
#define POET_PLAN_MADE POET_PLAN_TAG('M', 'A', 'D', 'E')
#define POET_PLAN_SCHEDULE POET_PLAN_TAG('S', 'C', 'H', 'D')
#define POET_PLAN_ADDRESSES POET_PLAN_TAG('A', 'D', 'D', 'R')

/* What the functions return. poet_plan_message() says it in words. */
enum {
  POET_PLAN_OK = 0,
  POET_PLAN_END = 1,             /* there is no further step */
  POET_PLAN_NOT_A_PLAN = -1,     /* does not begin like a plan */
  POET_PLAN_BAD_VERSION = -2,    /* of the format */
  POET_PLAN_TRUNCATED = -3,      /* a section reaches beyond the end */
  POET_PLAN_BAD_CHECKSUM = -4,   /* of a section that is used */
  POET_PLAN_NO_SECTION = -5,     /* one that is needed is missing */
  POET_PLAN_TWICE = -6,          /* a section is there twice */
  POET_PLAN_BAD_SCHEDULE = -7,   /* the SCHEDULE section ends early or has unknown flags or events */
  POET_PLAN_BAD_OP = -8,         /* beyond the number of ops */
  POET_PLAN_BAD_VALUE = -9,      /* beyond the number of values */
  POET_PLAN_BAD_WAIT = -10,      /* for a transfer that has not been issued, or where there are no waits */
  POET_PLAN_BAD_ADDRESSES = -11, /* the ADDRESSES section has not the length that it states */
  POET_PLAN_BAD_ALLOCATION = -12 /* beyond the number of allocations */
};

/* Set in poet_plan.flags: there are no waits; complete every transfer before the step after it. */
#define POET_PLAN_BLOCKING 1u
/* Set in poet_plan.flags: some persistent values are at home on storage. Such a value is paged in without
 * having been paged out in the same step, and paged out after its update. */
#define POET_PLAN_PAGED 2u

/* A plan that was opened. It refers to the image, which must stay where it is. */
typedef struct poet_plan {
  uint32_t flags;
  uint32_t ops;         /* of the graph; those of steps are below */
  uint32_t values;      /* of the graph; those of steps are below */
  uint32_t graph_crc;   /* CRC-32 of the GRAPH section's payload: which graph the ids are of */
  uint32_t unit;        /* bytes; addresses are in units */
  uint32_t allocations; /* allocations of values, and of ops that need scratch memory */
  /* The rest is the decoder's business. */
  uint32_t width; /* bytes per address */
  const uint8_t* addresses;
  const uint8_t* events;
  const uint8_t* end;
} poet_plan;

typedef enum poet_plan_kind {
  POET_PLAN_COMPUTE,  /* operand: the op */
  POET_PLAN_PAGE_OUT, /* operand: the value whose transfer RAM -> storage goes on the channel */
  POET_PLAN_PAGE_IN,  /* operand: the value whose transfer storage -> RAM goes on the channel */
  POET_PLAN_WAIT      /* operand: until no more transfers than so many are outstanding; the channel is FIFO */
} poet_plan_kind;

typedef struct poet_plan_step {
  poet_plan_kind kind;
  uint32_t operand;
} poet_plan_step;

/* Where in the steps of a plan somebody is; the fields are the decoder's business. */
typedef struct poet_plan_cursor {
  const poet_plan* plan;
  const uint8_t* at;  /* next event */
  uint32_t op, run;   /* computations of the running event that are left: `run`, from `op` on */
  uint32_t first;     /* next op to be computed for the first time */
  uint32_t again;     /* one after the op that was recomputed last */
  uint32_t out, in;   /* one after the value paged out last; the value paged in last */
  uint32_t transfers; /* issued */
} poet_plan_cursor;

/* Opens the plan at `image`, of `size` bytes (more may follow the plan itself), which needs the sections
 * SCHEDULE and ADDRESSES only. Checks all that the functions below rely on, so that they cannot fail
 * afterwards. O(bytes of these sections). */
int poet_plan_open(poet_plan* plan, const void* image, size_t size);

/* Puts the cursor before the first step. */
void poet_plan_begin(const poet_plan* plan, poet_plan_cursor* cursor);

/* The next step; POET_PLAN_END after the last one. */
int poet_plan_next(poet_plan_cursor* cursor, poet_plan_step* step);

/* Where allocation `allocation` lies in the arena, in units. Allocations are numbered in the order in which
 * the steps take memory; a step takes it for its scratch memory first, then for its results in order of
 * values. (A result that is in RAM takes none; plans with waits have no such step.) */
int poet_plan_address(const poet_plan* plan, uint32_t allocation, uint32_t* units);

/* A section's payload, its CRC-32 checked. */
int poet_plan_section(const void* image, size_t size, uint32_t tag, const uint8_t** payload,
                      uint32_t* length);

/* CRC-32 as in IEEE 802.3 and zip. */
uint32_t poet_plan_crc32(const uint8_t* bytes, size_t size);

/* What a code says, in a few words. */
const char* poet_plan_message(int code);

#ifdef __cplusplus
}
#endif

#endif
