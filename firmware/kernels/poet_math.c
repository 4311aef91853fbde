#include "poet_math.h"

#include <stdint.h>
#include <string.h>

static float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static double double_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* 2^n for n in [-126, 127]. */
static float power_of_two(int32_t n) { return float_of((uint32_t)(n + 127) << 23); }

/* e^x = 2^n e^r with |r| <= log(2) / 2; e^r by its series, the rest of which is below 6e-9. */
float poet_exp(float x) {
  const float log2_high = 0.693359375F; /* n log2_high is exact */
  const float log2_low = -2.12194440e-4F;
  int32_t n, half;
  float r, p, y;
  if (!(x <= 89.0F)) return x > 89.0F ? float_of(0x7F800000U) : x; /* NaN stays */
  if (x < -104.0F) return 0.0F;
  n = (int32_t)(x * 1.44269504F + (x < 0.0F ? -0.5F : 0.5F));
  r = x - (float)n * log2_high;
  r = r - (float)n * log2_low;
  p = 1.98412698e-4F;
  p = p * r + 1.38888889e-3F;
  p = p * r + 8.33333333e-3F;
  p = p * r + 4.16666667e-2F;
  p = p * r + 1.66666667e-1F;
  p = p * r + 0.5F;
  y = p * (r * r) + r;
  y = y + 1.0F;
  half = n / 2; /* in two steps: 2^n itself may be none of the numbers */
  return y * power_of_two(half) * power_of_two(n - half);
}

/* A polynomial where 1 - 2 / (e^2x + 1) would lose digits. */
float poet_tanh(float x) {
  static const float term[] = {2.27270438e-3F,  -8.32640173e-3F, 2.17636335e-2F,
                               -5.39586242e-2F, 1.3333301e-1F,   -3.33333332e-1F};
  const float size = x < 0.0F ? -x : x;
  float z, p;
  unsigned i;
  if (size >= 0.625F) {
    if (size > 9.5F) return x < 0.0F ? -1.0F : 1.0F;
    p = 1.0F - 2.0F / (poet_exp(2.0F * size) + 1.0F);
    return x < 0.0F ? -p : p;
  }
  z = x * x;
  p = term[0];
  for (i = 1; i < sizeof term / sizeof term[0]; ++i) p = p * z + term[i];
  return p * z * x + x;
}

/* Up to 1 by erf x = x P(x^2); beyond, erfc x = e^(-x^2) Q(u) / (x + 1/2) with u = (x - 3) / (x + 3). The
 * exponent is made of two, the first of which is exact: s has half of x's digits. The polynomials interpolate
 * at Chebyshev points. */
float poet_erfc(float x) {
  static const float near[] = {1.05952739e-6F,  -1.39117004e-5F, 1.19569467e-4F,
                               -8.54267056e-4F, 5.22378501e-3F,  -2.68661336e-2F,
                               1.12837913e-1F,  -3.76126389e-1F, 3.37916709e-3F};
  static const float far[] = {5.33640078e-5F, -5.06718342e-5F, -3.8640731e-4F, 9.43778705e-4F,
                              1.26403105e-3F, -1.18851813e-2F, 3.41540763e-2F, -5.96368362e-2F,
                              6.48225768e-2F, -2.37811471e-2F, -6.7810553e-2F, 6.26504029e-1F};
  const float size = x < 0.0F ? -x : x;
  float z, p, s, u;
  uint32_t bits;
  unsigned i;
  if (!(size <= 10.2F)) return x > 0.0F ? 0.0F : x < 0.0F ? 2.0F : x; /* NaN stays */
  if (size <= 1.0F) {
    z = x * x;
    p = near[0];
    for (i = 1; i < sizeof near / sizeof near[0]; ++i) p = p * z + near[i];
    if (x < 0.5F) return 1.0F - (p * x + 1.125F * x);
    return 0.5F - ((x - 0.5F) + (p * x + 0.125F * x)); /* the first subtraction is exact */
  }
  memcpy(&bits, &size, sizeof bits);
  s = float_of(bits & 0xFFFFF000U);
  u = (size - 3.0F) / (size + 3.0F);
  p = far[0];
  for (i = 1; i < sizeof far / sizeof far[0]; ++i) p = p * u + far[i];
  p = poet_exp(-s * s) * poet_exp((s - size) * (s + size)) * p / (size + 0.5F);
  return x < 0.0F ? 2.0F - p : p;
}

/* x = 2^n m with m in [sqrt(1/2), sqrt(2)]; log(m) = 2 artanh(s) with s = (m - 1) / (m + 1), |s| < 0.172. */
double poet_log(double x) {
  static const double term[] = {2.0 / 21.0, 2.0 / 19.0, 2.0 / 17.0, 2.0 / 15.0, 2.0 / 13.0,
                                2.0 / 11.0, 2.0 / 9.0,  2.0 / 7.0,  2.0 / 5.0,  2.0 / 3.0};
  const double log2_high = 6.93147180369123816490e-01; /* its lower 32 bits are 0 */
  const double log2_low = 1.90821492927058770002e-10;
  const uint64_t one = (uint64_t)1023 << 52;
  uint64_t bits;
  int32_t n = 0;
  unsigned i;
  double m, s, z, p;
  if (!(x > 0.0))
    return x < 0.0 ? double_of((uint64_t)0x7FF8 << 48) : x == 0.0 ? double_of((uint64_t)0xFFF0 << 48) : x;
  bits = bits_of(x);
  if (bits >= (uint64_t)0x7FF0 << 48) return x; /* infinite */
  if (bits < (uint64_t)1 << 52) {               /* below the least normal number */
    bits = bits_of(x * 18014398509481984.0);    /* 2^54 */
    n = -54;
  }
  n += (int32_t)(bits >> 52) - 1023;
  m = double_of((bits & (((uint64_t)1 << 52) - 1)) | one);
  if (m > 1.4142135623730951) {
    m = m * 0.5;
    n = n + 1;
  }
  s = (m - 1.0) / (m + 1.0);
  z = s * s;
  p = term[0];
  for (i = 1; i < sizeof term / sizeof term[0]; ++i) p = p * z + term[i];
  p = p * z * s + (double)n * log2_low;
  return (p + 2.0 * s) + (double)n * log2_high;
}

/* Digit by digit: the largest root r with r^2 <= x, in whole numbers, then rounded to nearest. */
double poet_root(double x) {
  uint64_t bits = bits_of(x), m, root = 0, rest = 0;
  int32_t e, i;
  if (!(x > 0.0) || bits >= (uint64_t)0x7FF0 << 48) {
    return x < 0.0 ? double_of((uint64_t)0x7FF8 << 48) : x; /* 0, infinite, none */
  }
  e = (int32_t)(bits >> 52);
  m = bits & (((uint64_t)1 << 52) - 1);
  if (e == 0) {
    e = 1;
    while ((m >> 52) == 0) {
      m <<= 1;
      --e;
    }
  } else {
    m |= (uint64_t)1 << 52;
  }
  e -= 1023; /* x = m 2^(e - 52) */
  if (e & 1) {
    m <<= 1;
    e -= 1;
  }
  m <<= 8; /* 62 bits, in pairs from the top: 31 digits of the root */
  for (i = 0; i < 54; ++i) {
    const uint64_t next = i < 31 ? (m >> (60 - 2 * i)) & 3U : 0;
    rest = (rest << 2) | next;
    root <<= 1;
    if (rest >= 2 * root + 1) {
      rest -= 2 * root + 1;
      root += 1;
    }
  }
  /* 54 digits, one more than a double has: it is never half way between two, for then x had 107 digits. */
  root = (root + 1) >> 1;
  return double_of(((uint64_t)(e / 2 + 1023) << 52) + (root - ((uint64_t)1 << 52)));
}

double poet_power(double base, unsigned long n) {
  double result = 1.0;
  for (; n != 0; n >>= 1) {
    if (n & 1U) result = result * base;
    base = base * base;
  }
  return result;
}

/* By the series of sine and cosine up to pi / 4; both subtractions from x are exact. */
double poet_cos_pi(double x) {
  static const double of_cosine[] = {
      1.0 / 20922789888000.0, -1.0 / 87178291200.0, 1.0 / 479001600.0, -1.0 / 3628800.0,
      1.0 / 40320.0,          -1.0 / 720.0,         1.0 / 24.0,        -1.0 / 2.0};
  static const double of_sine[] = {
      1.0 / 355687428096000.0, -1.0 / 1307674368000.0, 1.0 / 6227020800.0, -1.0 / 39916800.0,
      1.0 / 362880.0,          -1.0 / 5040.0,          1.0 / 120.0,        -1.0 / 6.0};
  const double pi = 3.14159265358979323846;
  const double near = x > 0.5 ? 1.0 - x : x; /* cos(pi x) = -cos(pi (1 - x)) */
  const double y = pi * (near > 0.25 ? 0.5 - near : near), z = y * y;
  const double* term = near > 0.25 ? of_sine : of_cosine;
  double p = term[0], result;
  unsigned i;
  for (i = 1; i < sizeof of_sine / sizeof of_sine[0]; ++i) p = p * z + term[i];
  result = near > 0.25 ? y + y * (z * p) : 1.0 + z * p;
  return x > 0.5 ? -result : result;
}
