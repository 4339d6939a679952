/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Scalars for serial chains: fewer instructions than the library's functions, for arguments in range.
// src/test/cuda/host emulates the device's instructions, so that these headers run on the host.
#pragma once
#ifdef SPARQR_HOST
#include "host_instructions.h"
#else

/** Computes both values: an ordinary choice between array elements would put the array into local memory. */
__device__ __forceinline__ double choose(bool first, double a, double b) {
  double c;
  asm("{.reg .pred p; setp.ne.s32 p, %3, 0; selp.f64 %0, %1, %2, p;}"
      : "=d"(c)
      : "d"(a), "d"(b), "r"(static_cast<int>(first)));
  return c;
}

__device__ __forceinline__ double approximate_rsqrt(double x) {
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  return y;
}

__device__ __forceinline__ double approximate_reciprocal(double x) {
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  return y;
}

#endif

/** sqrt(x) and its reciprocal. */
__device__ __forceinline__ double square_root(double x, double& inverse) {
  const double y = approximate_rsqrt(x);
  const double e = fma(-x * y, y, 1.0);
  inverse = fma(y * e, fma(0.375, e, 0.5), y);
  return x * inverse;
}

/** 1 / x to full precision. */
__device__ __forceinline__ double reciprocal(double x) {
  const double y = approximate_reciprocal(x);
  const double e = fma(-x, y, 1.0);
  return fma(y, fma(e, e, e), y);
}

/** sign (1 or -1) if x >= 0, -sign otherwise. */
__device__ __forceinline__ double same_sign(double sign, double x) {
  return __hiloint2double(__double2hiint(sign) ^ (__double2hiint(x) & 0x80000000), 0);
}

/** The biased exponent of |x|: 0 if subnormal or zero, 2047 if infinite or NaN. */
__device__ __forceinline__ int exponent_bits(double x) {
  return (__double2hiint(x) >> 20) & 0x7ff;
}

/** 2^e, -1022 <= e <= 1023. */
__device__ __forceinline__ double power_of_two(int e) {
  return __hiloint2double((e + 1023) << 20, 0);
}
