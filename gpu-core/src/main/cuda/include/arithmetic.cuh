/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Scalars for serial chains: fewer instructions than the library's functions, for arguments in range.
#pragma once

/** Both values are computed: an ordinary choice between array elements ends in local memory. */
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
