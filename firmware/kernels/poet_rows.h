/* What several kernels do with a row of numbers. */
#ifndef POET_ROWS_H
#define POET_ROWS_H

#include <stdint.h>

/* The largest of x; no number where the first one is none. */
float poet_largest(const float* x, int32_t n);

/* y = softmax of x, on which it may lie, and of which `largest` is the largest. The result: the sum of
 * e^(x - largest). */
double poet_softmax_row(const float* x, float* y, int32_t n, float largest);

/* The mean, and 1 / deviation, of `runs` runs of `run` numbers, `stride` from one to the next; summed in
 * double, in two passes. */
void poet_statistics(const float* x, int32_t runs, int32_t run, int32_t stride, double eps, double* mean,
                     double* inverse);

#endif
