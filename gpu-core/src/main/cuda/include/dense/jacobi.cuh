/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Singular values and right singular vectors of a small upper triangle R, n x n, by one-sided Jacobi rotations of the columns
// of R' in the shared memory of one block (Hestenes 1958; Demmel and Veselic 1992: small singular values are right, too;
// Drmac and Veselic 2008: on the triangle of a QR a few sweeps suffice). R' J = [sigma_i v_i]: what the rotations leave are
// the vectors themselves, so J is not kept.
//
// A warp rotates a pair of columns; the pairs of a step have no column in common, and n - 1 steps meet all pairs.
#pragma once
#include "stage.cuh"

constexpr int SPARQR_JACOBI_THREADS = 1024;
constexpr int SPARQR_JACOBI_SWEEPS = 40;

struct SparqrJacobi {
  const double* r;  // its rows one after the other, row i of n - i values
  double* out;      // n values: sigma, in any order; then n x n: the vectors, each n values
  int* sweeps;      // how many there were; SPARQR_JACOBI_SWEEPS: the last one still rotated
  int32_t n;
  int32_t unused;
};
static_assert(sizeof(SparqrJacobi) == 32, "");

/** The columns that a pair of a step has, by the circle method: the first one stays, the others go round. */
__device__ __forceinline__ int player(int step, int k, int all) {
  return k == 0 ? 0 : 1 + (k - 1 + step) % (all - 1);
}

__device__ __forceinline__ double warp_sum(double x) {
  for (int half = 16; half > 0; half >>= 1) {
    x += __shfl_xor_sync(~0u, x, half);
  }
  return x;
}

/** 1 / sqrt(x) of a number from 1 to 2^60 or so, to the last bits: a float's, and two steps by Newton. */
__device__ __forceinline__ double inverse_root(double x) {
  double y = rsqrtf(static_cast<float>(x));
  y *= fma(-0.5 * x * y, y, 1.5);
  return y * fma(-0.5 * x * y, y, 1.5);
}

/**
 * Makes two columns orthogonal; true if they were not. Called by a warp.
 *
 * The rotation is orthogonal to rounding, its angle that of a float: what is left of the product is 1e-7 of it, and for a
 * later sweep. Divisions and roots of doubles took most of the time.
 *
 * @param a square of x, as c of y; both are kept up to date
 * @param least squares up to this are zeros
 */
__device__ __forceinline__ bool rotate(double* x, double* y, double& a, double& c, int n, double least) {
  const int lane = threadIdx.x & 31;
  const double of_x = a, of_y = c;
  if (!(fmin(of_x, of_y) > least)) {
    return false;
  }
  double d = 0;
  for (int i = lane; i < n; i += 32) {
    d = fma(x[i], y[i], d);
  }
  d = warp_sum(d);
  // The cosine of their angle, and what rounding makes of it: the hundred rotations of a sweep leave some ten eps, and the
  // dot product its own.
  if (!(d * d > 0x1p-92 * of_x * of_y)) {
    return false;
  }
  const double zeta = (of_y - of_x) / (2 * d);
  double t;
  if (fabs(zeta) > 0x1p30) {
    t = 0.5 / zeta;
  } else {
    const float z = static_cast<float>(zeta);
    t = copysignf(1.0f, z) / (fabsf(z) + sqrtf(fmaf(z, z, 1.0f)));
  }
  const double cosine = inverse_root(fma(t, t, 1.0)), sine = cosine * t;
  for (int i = lane; i < n; i += 32) {
    const double u = x[i], v = y[i];
    x[i] = cosine * u - sine * v;
    y[i] = sine * u + cosine * v;
  }
  __syncwarp();
  if (lane == 0) {
    a = of_x - t * d;
    c = of_y + t * d;
  }
  return true;
}

/** Squares of the columns' norms, and their sum. */
__device__ __forceinline__ double column_squares(const double* columns, double* square, int n) {
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  for (int i = warp; i < n; i += SPARQR_JACOBI_THREADS / 32) {
    double a = 0;
    for (int k = lane; k < n; k += 32) {
      a = fma(columns[i * n + k], columns[i * n + k], a);
    }
    a = warp_sum(a);
    if (lane == 0) {
      square[i] = a;
    }
  }
  __syncthreads();
  double all = 0;
  for (int i = 0; i < n; i++) {
    all += square[i];
  }
  return all;
}

/** One block; shared memory: (n + 1) x n doubles. Singular values below 2^-46 of the norm are 0, and have no vectors. */
__device__ __forceinline__ void jacobi(const SparqrJacobi& j) {
  extern __shared__ __align__(16) double shared[];
  const int n = j.n, all = (n + 1) / 2 * 2;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, warps = SPARQR_JACOBI_THREADS / 32;
  for (int i = warp; i < n; i += warps) {
    const double* row = j.r + static_cast<long long>(i) * n - static_cast<long long>(i) * (i - 1) / 2 - i;
    for (int k = lane; k < n; k += 32) {
      shared[i * n + k] = k < i ? 0.0 : row[k];
    }
  }
  __syncthreads();
  double* square = shared + n * n;
  int sweep = 0;
  bool rotated = true;
  double least = 0;
  while (rotated && sweep < SPARQR_JACOBI_SWEEPS) {
    // What the rotations keep up to date is made anew: cancellation takes digits of small ones.
    least = 0x1p-92 * column_squares(shared, square, n);
    __syncthreads();
    bool mine = false;
    for (int step = 0; step < all - 1; step++) {
      for (int pair = warp; pair < all / 2; pair += warps) {
        const int p = player(step, pair, all), q = player(step, all - 1 - pair, all);
        if (p < n && q < n) {
          mine |= rotate(shared + p * n, shared + q * n, square[p], square[q], n, least);
        }
      }
      __syncthreads();
    }
    rotated = __syncthreads_or(mine);
    sweep++;
  }
  column_squares(shared, square, n);
  for (int i = warp; i < n; i += warps) {
    const double sigma = square[i] > least ? sqrt(square[i]) : 0.0;
    if (lane == 0) {
      j.out[i] = sigma;
    }
    for (int k = lane; k < n; k += 32) {
      j.out[n + i * n + k] = sigma > 0 ? shared[i * n + k] / sigma : 0.0;
    }
  }
  if (threadIdx.x == 0) {
    *j.sweeps = rotated ? SPARQR_JACOBI_SWEEPS : sweep;
  }
}
