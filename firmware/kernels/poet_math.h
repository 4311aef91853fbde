/* Functions of numbers from + - * / and square roots alone, in one order of operations: compiled without
 * contraction
 * (-ffp-contract=off) they give the same bits on every machine with IEEE arithmetic, in hardware or in
 * software. The host's portable kernels use them, too. Errors are in units in the last place, measured by
 * unit_firmware_math. */
#ifndef POET_MATH_H
#define POET_MATH_H

#ifdef __cplusplus
extern "C" {
#endif

/* e^x; at most 1.01 units off. */
float poet_exp(float x);

/* tanh x; at most 1.3 units off. */
float poet_tanh(float x);

/* 1 - erf x; at most 4.5 units off. */
float poet_erfc(float x);

/* The natural logarithm of a double above 0; at most 2 units off. */
double poet_log(double x);

/* The square root of a double, correctly rounded; that of a float is the platform's sqrtf. */
double poet_root(double x);

/* base^n by repeated squaring, for n below 2^32; n = 0: 1. */
double poet_power(double base, unsigned long n);

/* cos(pi x) for x from 0 to 1; at most 2 units off. */
double poet_cos_pi(double x);

#ifdef __cplusplus
}
#endif

#endif
