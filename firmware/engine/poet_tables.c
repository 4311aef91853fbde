/* Tables of which a step needs a few rows only: those that an input of the step names. A row is blocks of its
 * own, which end with its number, the step that wrote it, a hash of its bytes and one of these three words.
 *
 * What a step changes goes into a journal first, of which there are two, for alternating steps. Once the
 * step's record is written the journal's rows are copied into the table, and again after a restart: a power
 * cut at any instant leaves a whole journal to copy from. */
#include <string.h>

#include "poet_engine.h"

enum {
  TRAILER = 16, /* bytes */
  AT_ROW = POET_BLOCK / 4 - 4,
  AT_STEP,
  AT_HASH,
  AT_CHECK
};

/* A place of the input that names no row of its own: an earlier place names the same. */
static const uint32_t no_row = 0xFFFFFFFFU;

/* ---- which rows */

static int name_rows(const poet_indices* in, uint32_t step, uint32_t samples) {
  int32_t* to = poet_row_numbers + in->first;
  uint32_t i, e;
  const int code = poet_fetch(step, samples, in->first_byte, in->bytes, 0, 4 * in->count, to);
  if (code != POET_OK) return code;
  for (i = 0; i < in->count; ++i)
    if (to[i] < 0 || (uint32_t)to[i] >= in->rows) return POET_BAD_ROW;
  for (i = in->count; i-- > 1;) {
    for (e = 0; e < i; ++e) {
      if (to[e] != to[i]) continue;
      to[i] = -1;
      break;
    }
  }
  return POET_OK;
}

int poet_tables_begin(uint32_t step, uint32_t samples) {
  uint32_t i;
  for (i = 0; i < poet_the_plan.indices_count; ++i) {
    const int code = name_rows(&poet_the_plan.indices[i], step, samples);
    if (code != POET_OK) return code;
  }
  return POET_OK;
}

/* ---- rows in blocks */

static uint32_t check_of(void) { return poet_hash(poet_block + AT_ROW, 3 * sizeof poet_block[0], 0); }

/* Bytes of a row that its last block has: none where they leave no room for the trailer. */
static uint32_t in_last(const poet_table_rows* t) {
  const uint32_t rest = t->row_bytes % POET_BLOCK;
  return rest + TRAILER <= POET_BLOCK ? rest : 0;
}

/* The row of `block`, which is in the table or in a journal; its last block is in poet_block then. */
static int read_whole_row(const poet_table_rows* t, uint32_t block, char* to) {
  const uint32_t whole = t->row_bytes / POET_BLOCK, rest = t->row_bytes % POET_BLOCK;
  uint32_t home;
  int code = whole > 0 ? poet_read_blocks(block, to, whole) : POET_OK;
  if (code == POET_OK && in_last(t) != rest) {
    code = poet_read_blocks(block + whole, poet_block, 1);
    if (code == POET_OK) memcpy(to + whole * POET_BLOCK, poet_block, rest);
  }
  if (code == POET_OK) code = poet_read_blocks(block + t->row_blocks - 1, poet_block, 1);
  if (code != POET_OK) return code;
  memcpy(to + whole * POET_BLOCK, poet_block, in_last(t));
  poet_bad_block = block;
  home = t->table + poet_block[AT_ROW] * t->row_blocks;
  return poet_block[AT_CHECK] == check_of() &&
                 poet_block[AT_HASH] == poet_hash(to, t->row_bytes, home ^ poet_block[AT_STEP])
             ? POET_OK
             : POET_DAMAGED;
}

/* For `step`: a row that this step or a later one wrote comes from a step whose record is lost. */
static int read_row(const poet_table_rows* t, uint32_t row, uint32_t step, char* to) {
  const int code = read_whole_row(t, t->table + row * t->row_blocks, to);
  if (code != POET_OK) return code;
  if (poet_block[AT_ROW] != row) return POET_DAMAGED;
  return poet_block[AT_STEP] < step ? POET_OK : POET_STALE;
}

static uint32_t journal_entry(const poet_table_rows* t, uint32_t step, uint32_t i) {
  return t->journal + ((step & 1U) * t->count + i) * t->row_blocks;
}

static int write_row(const poet_table_rows* t, uint32_t row, uint32_t block, uint32_t step,
                     const char* from) {
  const uint32_t whole = t->row_bytes / POET_BLOCK, rest = t->row_bytes % POET_BLOCK;
  int code = POET_OK;
  if (row != no_row && whole > 0) code = poet_write_blocks(block, from, whole);
  memset(poet_block, 0, sizeof poet_block);
  if (code == POET_OK && row != no_row && in_last(t) != rest) {
    memcpy(poet_block, from + whole * POET_BLOCK, rest);
    code = poet_write_blocks(block + whole, poet_block, 1);
    memset(poet_block, 0, sizeof poet_block);
  }
  if (code != POET_OK) return code;
  if (row != no_row) memcpy(poet_block, from + whole * POET_BLOCK, in_last(t));
  poet_block[AT_ROW] = row;
  poet_block[AT_STEP] = step;
  poet_block[AT_HASH] =
      row == no_row ? 0 : poet_hash(from, t->row_bytes, (t->table + row * t->row_blocks) ^ step);
  poet_block[AT_CHECK] = check_of();
  return poet_write_blocks(block + t->row_blocks - 1, poet_block, 1);
}

/* ---- what the program asks for */

int poet_tables_read(uint32_t number, float* to, uint32_t step) {
  const poet_table_rows* t = &poet_the_plan.rows[number];
  char* at = (char*)to;
  uint32_t i;
  int code = POET_OK;
  for (i = 0; i < t->count && code == POET_OK; ++i, at += t->row_bytes) {
    const int32_t row = poet_row_numbers[t->first + i];
    if (row < 0)
      memset(at, 0, t->row_bytes);
    else
      code = read_row(t, (uint32_t)row, step, at);
  }
  return code;
}

int poet_tables_write(uint32_t number, const float* from, uint32_t step) {
  const poet_table_rows* t = &poet_the_plan.rows[number];
  const char* at = (const char*)from;
  uint32_t i;
  int code = POET_OK;
  for (i = 0; i < t->count && code == POET_OK; ++i, at += t->row_bytes)
    code = write_row(t, (uint32_t)poet_row_numbers[t->first + i], journal_entry(t, step, i), step, at);
  return code;
}

/* Entry i of a journal, into the table: what says that it is there goes last, and what is there is not
 * written again, so that damage to an old journal spoils nothing. Between steps the arena, where the step
 * had the row, is free: the row is there, whole, before any of it is written. */
static int apply(const poet_table_rows* t, uint32_t step, uint32_t i) {
  const uint32_t from = journal_entry(t, step, i), last = t->row_blocks - 1;
  char* const bytes = (char*)poet_ram;
  uint32_t row, hash, to;
  int code = poet_read_blocks(from + last, poet_block, 1);
  if (code != POET_OK) return code;
  poet_bad_block = from;
  if (poet_block[AT_CHECK] != check_of()) return POET_DAMAGED;
  if (poet_block[AT_STEP] != step) return POET_STALE;
  row = poet_block[AT_ROW];
  hash = poet_block[AT_HASH];
  if (row == no_row) return POET_OK;
  to = t->table + row * t->row_blocks;
  code = poet_read_blocks(to + last, poet_block, 1);
  if (code == POET_OK && poet_block[AT_CHECK] == check_of() && poet_block[AT_ROW] == row &&
      poet_block[AT_STEP] == step && poet_block[AT_HASH] == hash)
    return POET_OK;
  if (code == POET_OK) code = read_whole_row(t, from, bytes);
  return code == POET_OK ? write_row(t, row, to, step, bytes) : code;
}

int poet_tables_commit(uint32_t step) {
  uint32_t n, i;
  for (n = 0; n < poet_the_plan.rows_count; ++n) {
    const poet_table_rows* t = &poet_the_plan.rows[n];
    for (i = 0; t->journal != 0 && i < t->count; ++i) {
      const int code = apply(t, step, i);
      if (code != POET_OK) return code;
    }
  }
  return POET_OK;
}
