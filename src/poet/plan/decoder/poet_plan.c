#include "poet_plan.h"

#define MAGIC POET_PLAN_TAG('P', 'O', 'E', 'T')

/* Events: the tag in the upper three bits of a byte, the operand in the lower five. */
enum { FIRST, AHEAD, BEHIND, ON, PAGE_OUT, PAGE_IN, WAIT };
#define ESCAPE 31u
#define MOST_IDS 0x7fffffffu /* so that sums of an id and an operand do not wrap around */

static uint32_t number(const uint8_t* bytes, uint32_t width) {
  uint32_t value = 0;
  while (width > 0) value = (value << 8) | bytes[--width];
  return value;
}

/* Seven bits per byte, the lowest first; the upper bit says that more follow. 0 if there is no such number.
 */
static int varint(const uint8_t** at, const uint8_t* end, uint32_t* value) {
  uint32_t shift = 0;
  *value = 0;
  while (*at != end && shift < 32) {
    const uint32_t byte = *(*at)++;
    if (shift == 28 && byte > 15) return 0;
    *value |= (byte & 127u) << shift;
    if (byte < 128) return 1;
    shift += 7;
  }
  return 0;
}

uint32_t poet_plan_crc32(const uint8_t* bytes, size_t size) {
  static const uint32_t table[16] = {
      0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u, 0x4db26158u, 0x5005713cu,
      0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu, 0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu};
  uint32_t crc = 0xffffffffu;
  for (; size > 0; --size) {
    crc ^= *bytes++;
    crc = (crc >> 4) ^ table[crc & 15u];
    crc = (crc >> 4) ^ table[crc & 15u];
  }
  return ~crc;
}

int poet_plan_section(const void* image, size_t size, uint32_t tag, const uint8_t** payload,
                      uint32_t* length) {
  const uint8_t* at = (const uint8_t*)image;
  const uint8_t* found = NULL;
  uint32_t sections;
  if (size < POET_PLAN_HEADER_BYTES || number(at, 4) != MAGIC) return POET_PLAN_NOT_A_PLAN;
  if (number(at + 4, 2) < 1 || number(at + 4, 2) > POET_PLAN_FAMILY) return POET_PLAN_BAD_VERSION;
  sections = number(at + 6, 2);
  at += POET_PLAN_HEADER_BYTES;
  size -= POET_PLAN_HEADER_BYTES;
  for (; sections > 0; --sections) {
    uint32_t bytes;
    if (size < POET_PLAN_SECTION_BYTES) return POET_PLAN_TRUNCATED;
    size -= POET_PLAN_SECTION_BYTES;
    bytes = number(at + 4, 4);
    if (bytes > size) return POET_PLAN_TRUNCATED;
    size -= bytes;
    if (number(at, 4) == tag) {
      if (found != NULL) return POET_PLAN_TWICE;
      found = at;
    }
    at += POET_PLAN_SECTION_BYTES;
    at += bytes;
  }
  if (found == NULL) return POET_PLAN_NO_SECTION;
  *length = number(found + 4, 4);
  *payload = found + 8;
  if (poet_plan_crc32(found, (size_t)*length + 8) != number(*payload + *length, 4))
    return POET_PLAN_BAD_CHECKSUM;
  return POET_PLAN_OK;
}

static int open_schedule(poet_plan* plan, uint32_t version, const uint8_t* at, uint32_t length) {
  const uint32_t known = version == 1 ? POET_PLAN_BLOCKING : POET_PLAN_BLOCKING | POET_PLAN_PAGED;
  plan->end = at + length;
  if (length < 1) return POET_PLAN_BAD_SCHEDULE;
  plan->flags = *at++;
  if ((plan->flags & ~known) != 0 || !varint(&at, plan->end, &plan->ops) ||
      !varint(&at, plan->end, &plan->values) || plan->end - at < 4)
    return POET_PLAN_BAD_SCHEDULE;
  if (plan->ops > MOST_IDS || plan->values > MOST_IDS) return POET_PLAN_BAD_SCHEDULE;
  plan->graph_crc = number(at, 4);
  plan->events = at + 4;
  return POET_PLAN_OK;
}

static int open_addresses(poet_plan* plan, const uint8_t* at, uint32_t length) {
  const uint8_t* end = at + length;
  uint32_t left, i;
  if (!varint(&at, end, &plan->unit) || !varint(&at, end, &plan->allocations) || at == end)
    return POET_PLAN_BAD_ADDRESSES;
  plan->width = *at++;
  plan->addresses = at;
  if (plan->unit == 0 || plan->width < 1 || plan->width > 4) return POET_PLAN_BAD_ADDRESSES;
  left = (uint32_t)(end - at);
  for (i = 0; i < plan->width; ++i) { /* a product might not fit 32 bits */
    if (left < plan->allocations) return POET_PLAN_BAD_ADDRESSES;
    left -= plan->allocations;
  }
  return left == 0 ? POET_PLAN_OK : POET_PLAN_BAD_ADDRESSES;
}

static int read_event(poet_plan_cursor* cursor, poet_plan_step* step);

int poet_plan_open(poet_plan* plan, const void* image, size_t size) {
  const uint8_t* payload;
  uint32_t length;
  poet_plan_cursor cursor;
  poet_plan_step step;
  int code = poet_plan_section(image, size, POET_PLAN_SCHEDULE, &payload, &length);
  if (code != POET_PLAN_NOT_A_PLAN && number((const uint8_t*)image + 4, 2) > POET_PLAN_VERSION)
    return POET_PLAN_BAD_VERSION;
  if (code == POET_PLAN_OK) code = open_schedule(plan, number((const uint8_t*)image + 4, 2), payload, length);
  if (code != POET_PLAN_OK) return code;
  code = poet_plan_section(image, size, POET_PLAN_ADDRESSES, &payload, &length);
  if (code == POET_PLAN_OK) code = open_addresses(plan, payload, length);
  if (code != POET_PLAN_OK) return code;
  poet_plan_begin(plan, &cursor);
  while (code == POET_PLAN_OK && cursor.at != plan->end) code = read_event(&cursor, &step);
  return code;
}

void poet_plan_begin(const poet_plan* plan, poet_plan_cursor* cursor) {
  cursor->plan = plan;
  cursor->at = plan->events;
  cursor->op = cursor->run = cursor->first = cursor->again = cursor->out = cursor->transfers = 0;
  cursor->in = plan->values;
}

/* Takes `count` computations from `op` on; the caller has seen that op <= ops. */
static int start(poet_plan_cursor* cursor, uint32_t op, uint32_t count) {
  if (count > cursor->plan->ops - op) return POET_PLAN_BAD_OP;
  cursor->op = op;
  cursor->run = count;
  return POET_PLAN_OK;
}

/* Reads one event: a step that is no computation, or a run of these. */
static int read_event(poet_plan_cursor* cursor, poet_plan_step* step) {
  const uint32_t ops = cursor->plan->ops, values = cursor->plan->values;
  const uint32_t byte = *cursor->at++;
  const uint32_t tag = byte >> 5;
  uint32_t operand = byte & 31u;
  int escaped = operand == ESCAPE && tag != ON, code;
  if (escaped && !varint(&cursor->at, cursor->plan->end, &operand)) return POET_PLAN_BAD_SCHEDULE;
  switch (tag) {
    case FIRST:
      if (operand >= ops - cursor->first) return POET_PLAN_BAD_OP;
      code = start(cursor, cursor->first, operand + 1);
      cursor->first += operand + 1;
      return code;
    case AHEAD:
    case BEHIND:
      if (!escaped) operand = tag == AHEAD ? cursor->again + operand : cursor->again - 1 - operand;
      if (operand >= ops) return POET_PLAN_BAD_OP; /* below 0 too, which is far above */
      cursor->again = operand + 1;
      return start(cursor, operand, 1);
    case ON:
      code = start(cursor, cursor->again, operand + 1);
      cursor->again += operand + 1;
      return code;
    case PAGE_OUT:
      if (!escaped) operand += cursor->out;
      cursor->out = operand + 1;
      break;
    case PAGE_IN:
      if (!escaped) operand = cursor->in - 1 - operand;
      cursor->in = operand;
      break;
    case WAIT:
      if ((cursor->plan->flags & POET_PLAN_BLOCKING) || operand >= cursor->transfers)
        return POET_PLAN_BAD_WAIT;
      step->kind = POET_PLAN_WAIT;
      step->operand = operand;
      return POET_PLAN_OK;
    default:
      return POET_PLAN_BAD_SCHEDULE;
  }
  if (operand >= values) return POET_PLAN_BAD_VALUE;
  ++cursor->transfers;
  step->kind = tag == PAGE_OUT ? POET_PLAN_PAGE_OUT : POET_PLAN_PAGE_IN;
  step->operand = operand;
  return POET_PLAN_OK;
}

int poet_plan_next(poet_plan_cursor* cursor, poet_plan_step* step) {
  if (cursor->run == 0) {
    int code;
    if (cursor->at == cursor->plan->end) return POET_PLAN_END;
    code = read_event(cursor, step);
    if (code != POET_PLAN_OK || cursor->run == 0) return code;
  }
  --cursor->run;
  step->kind = POET_PLAN_COMPUTE;
  step->operand = cursor->op++;
  return POET_PLAN_OK;
}

int poet_plan_address(const poet_plan* plan, uint32_t allocation, uint32_t* units) {
  if (allocation >= plan->allocations) return POET_PLAN_BAD_ALLOCATION;
  *units = number(plan->addresses + (size_t)allocation * plan->width, plan->width);
  return POET_PLAN_OK;
}

const char* poet_plan_message(int code) {
  switch (code) {
    case POET_PLAN_OK:
      return "no error";
    case POET_PLAN_END:
      return "no further step";
    case POET_PLAN_NOT_A_PLAN:
      return "not a plan: does not begin with POET";
    case POET_PLAN_BAD_VERSION:
      return "a version of the plan format that this program does not read";
    case POET_PLAN_TRUNCATED:
      return "ends before its last section does";
    case POET_PLAN_BAD_CHECKSUM:
      return "damaged: wrong checksum";
    case POET_PLAN_NO_SECTION:
      return "a section is missing";
    case POET_PLAN_TWICE:
      return "a section is there twice";
    case POET_PLAN_BAD_SCHEDULE:
      return "SCHEDULE is cut short or has an event of no known sort";
    case POET_PLAN_BAD_OP:
      return "SCHEDULE names an op that the graph does not have";
    case POET_PLAN_BAD_VALUE:
      return "SCHEDULE names a value that the graph does not have";
    case POET_PLAN_BAD_WAIT:
      return "SCHEDULE waits for a transfer that is not under way";
    case POET_PLAN_BAD_ADDRESSES:
      return "ADDRESSES has not the length that it states";
    case POET_PLAN_BAD_ALLOCATION:
      return "there is no such allocation";
    default:
      return "unknown code";
  }
}
