/* bfloat16: the upper half of a float32. What is stored so is widened before a kernel works on it, and what
 * the kernel gives is rounded. */
#include <string.h>

#include "poet_kernels.h"

/* Exact. */
int poet_widen(const void* shape, void* const* operand, const poet_run* run) {
  const uint16_t* from = operand[0];
  uint32_t* to = operand[1];
  poet_numbers s;
  int32_t i;
  (void)run;
  memcpy(&s, shape, sizeof s);
  for (i = s.count; i > 0; --i) *to++ = (uint32_t)*from++ << 16;
  return POET_KERNEL_OK;
}

/* To the nearest; of two equally near ones to the one whose last bit is 0. What is finite stays finite, what
 * is no number stays none. */
static uint16_t rounded(uint32_t bits) {
  const uint32_t magnitude = bits & 0x7FFFFFFFU, infinity = 0x7F800000U;
  const uint32_t too_large = 0x7F7F8000U; /* nearer to the next power of two than to the largest bfloat16 */
  if (magnitude < too_large) return (uint16_t)((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
  if (magnitude < infinity) return (uint16_t)(((bits >> 16) & 0x8000U) | 0x7F7FU);
  return (uint16_t)(magnitude > infinity ? (bits >> 16) | 0x40U : bits >> 16);
}

int poet_round(const void* shape, void* const* operand, const poet_run* run) {
  const uint32_t* from = operand[0];
  uint16_t* to = operand[1];
  poet_numbers s;
  int32_t i;
  (void)run;
  memcpy(&s, shape, sizeof s);
  for (i = s.count; i > 0; --i) *to++ = rounded(*from++);
  return POET_KERNEL_OK;
}
