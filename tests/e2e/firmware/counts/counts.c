/* Runs kernels on shapes of one step each and says how many instructions they took: lines of kernel, shape,
 * multiply-adds (of norms and of what is stored as bfloat16: elements), instructions. */
#include <string.h>

#include "poet_engine.h"
#include "poet_kernels.h"
#include "poet_plan.h"

extern float poet_ram[];

static float* space;

/* Operands lie one after another; numbers from about -1 to 1, none of them simple. */
static float* numbers(int32_t count) {
  static uint32_t state = 1;
  float* at = space;
  int32_t i;
  for (i = 0; i < count; ++i) {
    state = state * 1664525U + 1013904223U;
    at[i] = (float)(int32_t)(state >> 8) / 8388608.0F - 1.0F;
  }
  space += count;
  return at;
}

/* What the board's files ask of the engine, which is not here. */
void poet_say_hex(uint32_t n) { (void)n; }
int poet_channel_advance(uint32_t bytes) { return bytes == 0U; }

static void say_number(uint32_t n) {
  char text[12];
  uint32_t i = sizeof text;
  text[--i] = 0;
  do text[--i] = (char)('0' + n % 10U);
  while ((n /= 10U) != 0);
  poet_port_text(" ");
  poet_port_text(text + i);
}

static void count(const char* kernel, const char* name, poet_kernel call, const void* shape,
                  void* const* operand, int32_t operations) {
  const poet_run run = {1, 2, 3, 1.0};
  uint64_t before, without, with;
  poet_port_instructions();
  before = poet_port_instructions();
  without = poet_port_instructions() - before; /* what counting takes */
  before = poet_port_instructions();
  call(shape, operand, &run);
  with = poet_port_instructions() - before;
  poet_port_text(kernel);
  poet_port_text(" ");
  poet_port_text(name);
  say_number((uint32_t)operations);
  say_number((uint32_t)(with - without));
  poet_port_text("\n");
}

static void conv(const char* name, int32_t in, int32_t out, int32_t size, int32_t kernel, int32_t stride) {
  poet_conv s;
  void* operand[3];
  int32_t a, y_size, weights, operations;
  memset(&s, 0, sizeof s);
  s.images = s.groups = 1, s.in_channels = in, s.out_channels = out;
  for (a = 0; a < 2; ++a) {
    s.x[a] = size, s.kernel[a] = kernel, s.stride[a] = stride, s.dilation[a] = 1, s.padding[a] = kernel / 2;
    s.y[a] = (size + 2 * s.padding[a] - kernel) / stride + 1;
  }
  y_size = out * s.y[0] * s.y[1], weights = in * out * kernel * kernel;
  operations = weights * s.y[0] * s.y[1];
  s.bias = s.weight = s.from = s.from_bias = -1;
  s.from = 2, s.result = 2; /* goes on from what is there, as parts do */
  space = poet_ram;
  operand[0] = numbers(in * size * size), operand[1] = numbers(weights), operand[2] = numbers(y_size);
  count("conv_forward", name, poet_conv_forward, &s, operand, operations);
  space = poet_ram;
  operand[0] = numbers(y_size), operand[1] = numbers(weights), operand[2] = numbers(in * size * size);
  count("conv_backward_input", name, poet_conv_backward_input, &s, operand, operations);
  space = poet_ram;
  operand[0] = numbers(y_size), operand[1] = numbers(in * size * size), operand[2] = numbers(weights);
  s.weight = 2;
  count("conv_backward_weight", name, poet_conv_backward_weight, &s, operand, operations);
}

static void linear(const char* name, int32_t rows, int32_t ins, int32_t outs) {
  poet_linear s;
  void* operand[3];
  memset(&s, 0, sizeof s);
  s.rows = rows, s.ins = ins, s.outs = outs;
  s.weight = s.bias = s.from_weight = s.from_bias = -1;
  s.result = 2;
  space = poet_ram;
  operand[0] = numbers(rows * ins), operand[1] = numbers(ins * outs), operand[2] = numbers(rows * outs);
  count("linear_forward", name, poet_linear_forward, &s, operand, rows * ins * outs);
  space = poet_ram;
  operand[0] = numbers(rows * outs), operand[1] = numbers(ins * outs), operand[2] = numbers(rows * ins);
  count("linear_backward_input", name, poet_linear_backward_input, &s, operand, rows * ins * outs);
  space = poet_ram;
  operand[0] = numbers(rows * outs), operand[1] = numbers(rows * ins), operand[2] = numbers(ins * outs);
  s.weight = 2;
  count("linear_backward_weight", name, poet_linear_backward_weight, &s, operand, rows * ins * outs);
}

static void batch_norm(const char* name, int32_t channels, int32_t plane) {
  poet_batch_norm s;
  void* operand[8];
  int32_t i;
  memset(&s, 0, sizeof s);
  s.images = 1, s.channels = channels, s.plane = plane;
  s.eps = 1e-5;
  space = poet_ram;
  operand[0] = numbers(channels * plane);
  for (i = 1; i < 3; ++i) operand[i] = numbers(channels);
  operand[3] = numbers(channels * plane);
  for (i = 4; i < 6; ++i) operand[i] = numbers(channels);
  count("batch_norm_forward", name, poet_batch_norm_forward, &s, operand, channels * plane);
  operand[1] = operand[3];
  operand[2] = operand[4];
  operand[3] = operand[5];
  operand[4] = operand[5];
  operand[5] = numbers(channels * plane);
  operand[6] = numbers(channels), operand[7] = numbers(channels);
  s.dx = 5, s.dweight = 6, s.dbias = 7;
  count("batch_norm_backward", name, poet_batch_norm_backward, &s, operand, channels * plane);
}

static void conversions(const char* name, int32_t count_of) {
  const poet_numbers s = {count_of};
  void* operand[2];
  space = poet_ram;
  operand[0] = numbers(count_of), operand[1] = numbers(count_of);
  count("widen", name, poet_widen, &s, operand, count_of);
  count("round", name, poet_round, &s, operand, count_of);
}

int poet_train(void) {
#define POET_CONV(in, out, size, kernel, stride) \
  conv(#in ">" #out "," #size "x" #size "," #kernel "x" #kernel "/" #stride, in, out, size, kernel, stride)
#define POET_LINEAR(rows, ins, outs) linear(#rows "," #ins ">" #outs, rows, ins, outs)
#define POET_BATCH_NORM(channels, plane) batch_norm(#channels "," #plane, channels, plane)
#define POET_NUMBERS(count) conversions(#count, count)
#include "shapes.h"
  return 0;
}
