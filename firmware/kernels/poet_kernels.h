/* What computes: one function per kind of operator, each a loop over numbers in RAM, in the order in which
 * the host's portable kernels sum, so that both give the same bits.
 *
 * A kernel gets a shape (a struct below, from flash) and the addresses of the op's operands: its inputs, then
 * what its outputs go on from (accumulators), its outputs, what it updates. Counts and strides are in
 * elements. Tensors lie row by row but where a shape has strides. The first output may lie where an input
 * does if graph/in_place.h allows it. */
#ifndef POET_KERNELS_H
#define POET_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a kernel may know besides. */
typedef struct poet_run {
  uint32_t step; /* training steps so far, this one included */
  uint32_t seed_low, seed_high;
  double rate_factor; /* on the learning rate, by its schedule */
} poet_run;

typedef int (*poet_kernel)(const void* shape, void* const* operand, const poet_run* run);

/* What kernels return; all but the first end the run. */
enum {
  POET_KERNEL_OK = 0,
  POET_KERNEL_BAD_INDEX = 1 /* a class or a row that does not exist */
};

/* ---- elements */

enum { POET_AXES = 6 }; /* after axes are joined where all operands allow it */

/* Runs of `count` elements within nested loops. Operand r of up to 4 (the result is the first one) steps by
 * step[r] within a run and by stride[axis][r] along an outer axis, the slowest first. */
typedef struct poet_nest {
  int32_t count, rank;
  int32_t step[4];
  int32_t size[POET_AXES];
  int32_t stride[POET_AXES][4];
} poet_nest;

/* y = f(a, b): which f is the kernel; numbers that it has are here. */
typedef struct poet_elementwise {
  poet_nest nest;
  float number[2];
} poet_elementwise;

int poet_add(const void* shape, void* const* operand, const poet_run* run);
int poet_sub(const void* shape, void* const* operand, const poet_run* run);
int poet_mul(const void* shape, void* const* operand, const poet_run* run);
int poet_scale(const void* shape, void* const* operand, const poet_run* run); /* number[0] x + number[1] */
int poet_scale_backward(const void* shape, void* const* operand, const poet_run* run); /* number[0] dy */
int poet_relu(const void* shape, void* const* operand, const poet_run* run);
int poet_relu_backward(const void* shape, void* const* operand, const poet_run* run); /* dy, y */
int poet_clip(const void* shape, void* const* operand, const poet_run* run); /* to [number[0], number[1]] */
int poet_clip_backward(const void* shape, void* const* operand, const poet_run* run); /* dy, y */

int poet_exp_each(const void* shape, void* const* operand, const poet_run* run);
int poet_tanh_each(const void* shape, void* const* operand, const poet_run* run);
int poet_tanh_backward(const void* shape, void* const* operand, const poet_run* run); /* dy, y */
int poet_gelu(const void* shape, void* const* operand, const poet_run* run);
int poet_gelu_backward(const void* shape, void* const* operand, const poet_run* run); /* dy, x */
int poet_sigmoid(const void* shape, void* const* operand, const poet_run* run);
int poet_sigmoid_backward(const void* shape, void* const* operand, const poet_run* run); /* dy, y */
int poet_silu(const void* shape, void* const* operand, const poet_run* run);
int poet_silu_backward(const void* shape, void* const* operand, const poet_run* run); /* dy, x */
int poet_hardswish(const void* shape, void* const* operand, const poet_run* run);
int poet_hardswish_backward(const void* shape, void* const* operand, const poet_run* run); /* dy, x */

int poet_sqrt_each(const void* shape, void* const* operand, const poet_run* run);
int poet_sqrt_backward(const void* shape, void* const* operand, const poet_run* run); /* dy, y */
/* Of negative numbers number[0] times as much. */
int poet_leaky_relu(const void* shape, void* const* operand, const poet_run* run);
int poet_leaky_relu_backward(const void* shape, void* const* operand, const poet_run* run); /* dy, y */
/* number[0] x + number[1], cut to [0, 1]. */
int poet_hardsigmoid(const void* shape, void* const* operand, const poet_run* run);
int poet_hardsigmoid_backward(const void* shape, void* const* operand, const poet_run* run); /* dy, y */

/* Sums of elements that fall together. The nests' operands: a, b (a again where there is one input), none,
 * the result. */
typedef struct poet_fold {
  poet_nest kept, summed;
  int32_t by_columns; /* neighbours go to different sums */
  int32_t unused;
  double factor;
} poet_fold;
int poet_sum(const void* shape, void* const* operand, const poet_run* run);
int poet_negated_sum(const void* shape, void* const* operand, const poet_run* run);
int poet_sum_of_products(const void* shape, void* const* operand, const poet_run* run);

/* Copies of boxes: what is copied to operand `to` from operand `from`, beginning at these elements. */
typedef struct poet_copy {
  poet_nest nest; /* of 2 operands */
  int32_t to, from;
  int32_t to_first, from_first;
} poet_copy;
typedef struct poet_copies {
  int32_t fill_operand; /* -1: none; else that operand is first set to `fill`, `fill_count` elements of it */
  int32_t fill_count;
  uint32_t fill;  /* the bits of an element */
  int32_t copies; /* that many poet_copy follow */
} poet_copies;
int poet_copy_boxes(const void* shape, void* const* operand, const poet_run* run);  /* of 4 bytes */
int poet_copy_halves(const void* shape, void* const* operand, const poet_run* run); /* of 2 bytes */

/* Numbers that are stored as bfloat16, and as float32 for a kernel to work on. */
typedef struct poet_numbers {
  int32_t count;
} poet_numbers;
int poet_widen(const void* shape, void* const* operand, const poet_run* run); /* bfloat16 -> float32 */
int poet_round(const void* shape, void* const* operand, const poet_run* run); /* float32 -> bfloat16 */

/* ---- products */

/* linear: x (rows, ins), weight (outs, ins), bias (outs) or none. */
typedef struct poet_linear {
  int32_t rows, ins, outs;
  int32_t weight, bias; /* which operands these are, or their gradients; -1: none */
  int32_t from_weight,
      from_bias;  /* which operands the results go on from, from_weight also linear's; -1: from 0 */
  int32_t result; /* which operand: linear's y, linear_backward_input's dx */
} poet_linear;
int poet_linear_forward(const void* shape, void* const* operand, const poet_run* run); /* x, weight, bias */
int poet_linear_backward_input(const void* shape, void* const* operand, const poet_run* run); /* dy, weight */
int poet_linear_backward_weight(const void* shape, void* const* operand, const poet_run* run); /* dy, x */

/* c = alpha a b for every pair of matrices that two nested loops go through: pairs of `products` go to
 * matrices of their own, those of `terms` are added up in order. Strides of matrices: rows, columns. */
typedef struct poet_matmul {
  poet_nest products; /* c, a, b */
  poet_nest terms;    /* a, b */
  int32_t m, n, k;
  int32_t a[2], b[2], c[2];
  int32_t from, count; /* which operand c goes on from, and its elements; -1: none */
  int32_t result;
  float alpha;
} poet_matmul;
int poet_matmul_forward(const void* shape, void* const* operand, const poet_run* run); /* a, b */

/* A convolution from x to y, of two spatial axes: height, width. */
typedef struct poet_conv {
  int32_t images, groups;
  int32_t in_channels, out_channels; /* of a group */
  int32_t x[2], y[2], kernel[2];
  int32_t stride[2], padding[2], dilation[2]; /* padding: before */
  int32_t bias;                               /* which operand it, or its gradient, is; -1: none */
  int32_t weight;                             /* which operand its gradient is; -1: none */
  int32_t from, from_bias;                    /* which operands the results go on from; -1: none */
  int32_t result;                             /* which operand: conv's y, the gradient of x */
} poet_conv;
int poet_conv_forward(const void* shape, void* const* operand, const poet_run* run); /* x, weight, bias */
int poet_conv_backward_input(const void* shape, void* const* operand, const poet_run* run);  /* dy, weight */
int poet_conv_backward_weight(const void* shape, void* const* operand, const poet_run* run); /* dy, x */

/* ---- norms */

typedef struct poet_batch_norm {
  int32_t images, channels, plane;
  int32_t dx, dweight, dbias; /* which operands; -1: none */
  double eps;
  double momentum;
  double count; /* elements of a channel in the whole tensor: of batch_norm_stats */
} poet_batch_norm;
int poet_batch_norm_forward(const void* shape, void* const* operand,
                            const poet_run* run); /* x, weight, bias -> y, mean, 1 / deviation */
int poet_batch_norm_backward(const void* shape, void* const* operand,
                             const poet_run* run); /* dy, x, weight, mean, 1 / deviation */
int poet_batch_norm_stats(const void* shape, void* const* operand,
                          const poet_run* run); /* mean, 1 / deviation; running mean, variance */

typedef struct poet_layer_norm {
  int32_t rows, width;
  int32_t dx, dweight, dbias;     /* which operands; -1: none */
  int32_t from_weight, from_bias; /* which operands the sums go on from; -1: from 0 */
  int32_t unused;
  double eps;
} poet_layer_norm;
int poet_layer_norm_forward(const void* shape, void* const* operand,
                            const poet_run* run); /* x, weight, bias -> y, mean, 1 / deviation */
int poet_layer_norm_backward(const void* shape, void* const* operand,
                             const poet_run* run); /* dy, x, weight, mean, 1 / deviation */

/* ---- pools, losses */

typedef struct poet_planes {
  int32_t planes, size;
} poet_planes;
int poet_global_avg_pool(const void* shape, void* const* operand, const poet_run* run);
int poet_global_avg_pool_backward(const void* shape, void* const* operand, const poet_run* run);

typedef struct poet_pool {
  int32_t planes;
  int32_t x[2], y[2], kernel[2], stride[2], padding[2], padding_end[2], dilation[2];
  int32_t padded;      /* whether padding counts in a mean's divisor */
  int32_t index_bytes; /* of the indices of maxima: 1 or 4 */
} poet_pool;
int poet_max_pool(const void* shape, void* const* operand, const poet_run* run); /* x -> y, indices */
int poet_max_pool_backward(const void* shape, void* const* operand, const poet_run* run); /* dy, indices */
int poet_avg_pool(const void* shape, void* const* operand, const poet_run* run);
int poet_avg_pool_backward(const void* shape, void* const* operand, const poet_run* run);

/* Rows `first` to `first + size` of a table of `rows` rows. */
typedef struct poet_embedding_shape {
  int32_t ids, width, first, size, rows;
  int32_t from, result; /* which operands: what the result goes on from (-1: none), the result */
} poet_embedding_shape;
int poet_embedding(const void* shape, void* const* operand, const poet_run* run);          /* ids, table */
int poet_embedding_backward(const void* shape, void* const* operand, const poet_run* run); /* dy, ids */

/* Neighbours of a tensor that a part of it has. */
typedef struct poet_run_of_part {
  int32_t first, count;
} poet_run_of_part;
typedef struct poet_dropout_shape {
  int32_t count; /* elements */
  uint32_t threshold, seed;
  float factor;
  int32_t runs; /* that many poet_run_of_part follow */
} poet_dropout_shape;
int poet_dropout(const void* shape, void* const* operand, const poet_run* run);          /* x -> y, mask */
int poet_dropout_backward(const void* shape, void* const* operand, const poet_run* run); /* dy, mask */
int poet_first_occurrences(const void* shape, void* const* operand,
                           const poet_run* run); /* ids; count, runs alone matter */

typedef struct poet_rows {
  int32_t rows, width;
} poet_rows;
int poet_softmax(const void* shape, void* const* operand, const poet_run* run);
int poet_softmax_backward(const void* shape, void* const* operand, const poet_run* run); /* dy, y */
/* Of rows of as many numbers as there are classes. */
typedef struct poet_cross_entropy {
  int32_t rows, width;
  double smoothing;    /* the part of a target that goes to all classes */
  float right, others; /* what is taken off a row's p: at its class, elsewhere */
} poet_cross_entropy;
int poet_softmax_cross_entropy(const void* shape, void* const* operand,
                               const poet_run* run); /* x, classes -> loss, p */
int poet_softmax_cross_entropy_backward(const void* shape, void* const* operand,
                                        const poet_run* run); /* p, classes -> dx */

typedef struct poet_number_loss {
  int32_t count, unused;
  double number; /* huber's delta */
} poet_number_loss;
int poet_mean_loss(const void* shape, void* const* operand, const poet_run* run); /* x */
int poet_mean_loss_backward(const void* shape, void* const* operand,
                            const poet_run* run); /* x, of which nothing is read */
int poet_mse_loss(const void* shape, void* const* operand, const poet_run* run);          /* x, target */
int poet_mse_loss_backward(const void* shape, void* const* operand, const poet_run* run); /* x, target */
int poet_l1_loss(const void* shape, void* const* operand, const poet_run* run);
int poet_l1_loss_backward(const void* shape, void* const* operand, const poet_run* run);
int poet_huber_loss(const void* shape, void* const* operand, const poet_run* run);
int poet_huber_loss_backward(const void* shape, void* const* operand, const poet_run* run);
int poet_bce_loss(const void* shape, void* const* operand, const poet_run* run);
int poet_bce_loss_backward(const void* shape, void* const* operand, const poet_run* run);
int poet_bce_with_logits_loss(const void* shape, void* const* operand, const poet_run* run);
int poet_bce_with_logits_loss_backward(const void* shape, void* const* operand, const poet_run* run);

/* ---- gradients before they update anything, updates */

typedef struct poet_accumulate {
  poet_nest nest; /* mean, gradient, sum */
  int32_t every;  /* so manieth step ends a sum */
  int32_t unused;
} poet_accumulate;
int poet_accumulate_gradient(const void* shape, void* const* operand,
                             const poet_run* run); /* gradient, sum -> mean; sum */

typedef struct poet_norm {
  poet_nest nest;        /* row by row, x */
  int32_t total, result; /* which operands: what the result goes on from (-1: 0), the result */
} poet_norm;
int poet_squared_norm(const void* shape, void* const* operand, const poet_run* run); /* x, total */
/* The shape is a double, the largest norm. */
int poet_clip_factor(const void* shape, void* const* operand, const poet_run* run); /* squared norm */

typedef struct poet_update {
  poet_nest nest; /* parameter and state, gradient */
  int32_t state;  /* which operand is the parameter that is updated; its state follows it */
  int32_t every;  /* so manieth step updates */
  double rate, momentum, beta1, beta2, eps, decay;
} poet_update;
int poet_sgd_update(const void* shape, void* const* operand,
                    const poet_run* run); /* parameter, gradient; parameter */
int poet_momentum_update(const void* shape, void* const* operand,
                         const poet_run* run); /* ...; parameter, velocity */
int poet_nesterov_update(const void* shape, void* const* operand, const poet_run* run); /* the same */
int poet_adam_update(const void* shape, void* const* operand, const poet_run* run); /* ...; parameter, m, v */
int poet_adamw_update(const void* shape, void* const* operand, const poet_run* run); /* the same */

/* ---- what kernels are made of */

/* Eight partial sums in double, then their sum: f(i) is what the macro's expression gives for i. */
#define POET_SUM(result, n, i, expression)                                       \
  do {                                                                           \
    double poet_lane[8] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};              \
    int32_t i;                                                                   \
    for (i = 0; i < (n); ++i) poet_lane[i & 7] += (double)(expression);          \
    (result) = ((poet_lane[0] + poet_lane[4]) + (poet_lane[2] + poet_lane[6])) + \
               ((poet_lane[1] + poet_lane[5]) + (poet_lane[3] + poet_lane[7]));  \
  } while (0)

/* Puts `count` elements where they go on from, or 0. */
void poet_start(float* to, const float* from, int32_t count);

#ifdef __cplusplus
}
#endif

#endif
