/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Elimination on one 32 x 32 matrix by one thread block, four columns per step: eight steps with one barrier each.
// Thread 4 i + t has row i, columns 8 c + 2 t + {0, 1}, which are accumulators of mma m8n8k4: every thread inverts the
// 4 x 4 block of the pivots redundantly (two 2 x 2 blocks, one reciprocal each); its warp's rows times that inverse are
// the A fragment, the pivots' rows from shared memory the B fragments. In place: eliminated columns hold the right-hand
// side's columns, which are zero initially except at the pivots.
#pragma once
#include "arithmetic.cuh"
#include "mma.cuh"
#include "tile.cuh"

/** Shared memory of an elimination. */
struct alignas(16) EliminationShared {
  double row[2][4][36];     // four pivot rows, zeros in their own columns
  double column[2][32][4];  // the pivots' columns
  double pivot[8][4][4];    // 4 x 4 blocks of the pivots
  double sign[32];
};
static_assert(sizeof(EliminationShared) == 5632, "");

/** a[c] := a[c + 1]: after eight steps the columns are in their original places. */
__device__ __forceinline__ void rotate(double (&a)[4][2]) {
#pragma unroll
  for (int p = 0; p < 2; p++) {
    const double first = a[0][p];
    a[0][p] = a[1][p];
    a[1][p] = a[2][p];
    a[2][p] = a[3][p];
    a[3][p] = first;
  }
}

/** Writes this thread's row, one of the pivot rows k .. k + 3, whose columns are in a[block]. */
__device__ __forceinline__ void put_row(EliminationShared& sh, const double (&a)[4][2], int k, int block, int k0) {
  const int row = threadIdx.x >> 2, t = threadIdx.x & 3;
  double* to = sh.row[(k >> 2) & 1][row & 3];
#pragma unroll
  for (int c = 0; c < 4; c++) {
    double2 v = make_double2(a[c][0], a[c][1]);
    if (c == block && t >> 1 == ((k >> 2) & 1)) {
      *reinterpret_cast<double2*>(&sh.pivot[k >> 2][row & 3][2 * (t & 1)]) = v;
      v = make_double2(0.0, 0.0);
    }
    *reinterpret_cast<double2*>(to + ((k0 + 8 * c) & 31) + 2 * t) = v;
  }
}

/** The value of m for this lane's column t of an A fragment. */
__device__ __forceinline__ double of_lane(double m0, double m1, double m2, double m3) {
  const int t = threadIdx.x & 3;
  return choose(t & 2, choose(t & 1, m3, m2), choose(t & 1, m1, m0));
}

/**
 * G = L D L', D of 4 x 4 blocks, by elimination of [G | I] in place. On return a holds L^-1 left of the diagonal blocks, lt
 * the rows of L' (swizzled), sh.pivot D. G need not be definite: the caller checks the result.
 */
__device__ __forceinline__ void eliminate(EliminationShared& sh, double (&a)[4][2], double* lt) {
  const int row = threadIdx.x >> 2, t = threadIdx.x & 3, g = row & 7;
  if (row < 4) {
    put_row(sh, a, 0, 0, 0);
  }
#pragma unroll 1
  for (int k0 = 0; k0 < 32; k0 += 8) {
#pragma unroll
    for (int kk = 0; kk < 8; kk += 4) {
      const int k = k0 + kk;
      __syncthreads();
      const double (*p)[4] = sh.pivot[k >> 2];
      const double2 p0 = *reinterpret_cast<const double2*>(&p[0][0]);
      const double2 b0 = *reinterpret_cast<const double2*>(&p[0][2]);
      const double p11 = p[1][1];
      const double2 b1 = *reinterpret_cast<const double2*>(&p[1][2]);
      const double2 d2 = *reinterpret_cast<const double2*>(&p[2][2]);
      const double d33 = p[3][3];
      const double (*r)[36] = sh.row[kk >> 2];
      const double own0 = r[0][row], own1 = r[1][row], own2 = r[2][row], own3 = r[3][row];
      double b[4];
#pragma unroll
      for (int c = 0; c < 4; c++) {
        b[c] = r[t][((k0 + 8 * c) & 31) + g];
      }
      b[0] = g == kk + t ? 1.0 : b[0];
      // 40 bits of the reciprocals are enough: L consists of the multipliers actually used, so errors in them do not
      // matter.
      const double det = fma(p0.x, p11, -p0.y * p0.y);
      double y = approximate_reciprocal(det);
      y = fma(y, fma(-det, y, 1.0), y);
      const double f02 = y * fma(p11, b0.x, -p0.y * b1.x), f12 = y * fma(p0.x, b1.x, -p0.y * b0.x);
      const double f03 = y * fma(p11, b0.y, -p0.y * b1.y), f13 = y * fma(p0.x, b1.y, -p0.y * b0.y);
      const double s22 = fma(-b1.x, f12, fma(-b0.x, f02, d2.x));
      const double s23 = fma(-b1.x, f13, fma(-b0.x, f03, d2.y));
      const double s33 = fma(-b1.y, f13, fma(-b0.y, f03, d33));
      const double u2 = fma(-own1, f12, fma(-own0, f02, own2));
      const double u3 = fma(-own1, f13, fma(-own0, f03, own3));
      const double det2 = fma(s22, s33, -s23 * s23);
      double z = approximate_reciprocal(det2);
      z = fma(z, fma(-det2, z, 1.0), z);
      const double m2 = z * fma(u2, s33, -u3 * s23);
      const double m3 = z * fma(u3, s22, -u2 * s23);
      const double v0 = fma(-m3, b0.y, fma(-m2, b0.x, own0));
      const double v1 = fma(-m3, b1.y, fma(-m2, b1.x, own1));
      const double m0 = y * fma(v0, p11, -v1 * p0.y);
      const double m1 = y * fma(v1, p0.x, -v0 * p0.y);
      const double m = row >= k + 4 ? of_lane(m0, m1, m2, m3) : 0.0;
      const bool mine = t >> 1 == kk >> 2;
      a[0][0] = choose(mine, 0.0, a[0][0]);
      a[0][1] = choose(mine, 0.0, a[0][1]);
#pragma unroll
      for (int c = 0; c < 4; c++) {
        const int at = (c + (kk >> 2)) & 3;  // first the columns needed by the next step
        mma_8x8x4(a[at], -m, b[at]);
      }
      if (row >> 2 == (k >> 2) + 1) {
        put_row(sh, a, k + 4, kk == 4, k0);
      }
      lt[(k + t) * 32 + (row ^ swizzle(k + t))] = row == k + t ? 1.0 : m;
    }
    rotate(a);
  }
}

/**
 * Z^-1 (-S), Z = Q - S, S = diag(+-1), by Gauss-Jordan in place; a: rows of Q, then of the result. S is chosen during
 * the elimination and stored in sh.sign: s_k = -sign of the pivot from which it is subtracted, so that no pivot is less
 * than 1 in absolute value.
 */
__device__ __forceinline__ void reconstruct(EliminationShared& sh, double (&a)[4][2]) {
  const int row = threadIdx.x >> 2, t = threadIdx.x & 3, g = row & 7;
  if (t < 2) {
    *reinterpret_cast<double2*>(&sh.column[0][row][2 * t]) =
        row < 4 ? make_double2(row == 2 * t ? -1.0 : 0.0, row == 2 * t + 1 ? -1.0 : 0.0)
                : make_double2(a[0][0], a[0][1]);
  }
  if (row < 4) {
    put_row(sh, a, 0, 0, 0);
#pragma unroll
    for (int c = 0; c < 4; c++) {
      a[c][0] = a[c][1] = 0;
    }
  }
#pragma unroll 1
  for (int k0 = 0; k0 < 32; k0 += 8) {
#pragma unroll
    for (int kk = 0; kk < 8; kk += 4) {
      const int k = k0 + kk;
      __syncthreads();
      const double (*p)[4] = sh.pivot[k >> 2];
      double2 a0 = *reinterpret_cast<const double2*>(&p[0][0]);
      double2 a1 = *reinterpret_cast<const double2*>(&p[1][0]);
      const double2 b0 = *reinterpret_cast<const double2*>(&p[0][2]);
      const double2 b1 = *reinterpret_cast<const double2*>(&p[1][2]);
      const double2 c2 = *reinterpret_cast<const double2*>(&p[2][0]);
      const double2 c3 = *reinterpret_cast<const double2*>(&p[3][0]);
      const double2 d2 = *reinterpret_cast<const double2*>(&p[2][2]);
      const double2 d3 = *reinterpret_cast<const double2*>(&p[3][2]);
      const double2 own = *reinterpret_cast<const double2*>(&sh.column[kk >> 2][row][0]);
      const double2 far = *reinterpret_cast<const double2*>(&sh.column[kk >> 2][row][2]);
      const double (*r)[36] = sh.row[kk >> 2];
      double b[4];
#pragma unroll
      for (int c = 0; c < 4; c++) {
        b[c] = r[t][((k0 + 8 * c) & 31) + g];
      }
      // -s of each column; the sign of a second pivot is that of the determinant times the first's.
      const double sign0 = copysign(1.0, a0.x);
      a0.x += sign0;
      const double cross = -a0.y * a1.x;
      const double sign1 = same_sign(sign0, fma(a0.x, a1.y, cross));
      a1.y += sign1;
      const double y = reciprocal(fma(a0.x, a1.y, cross));
      const double f02 = y * fma(a1.y, b0.x, -a0.y * b1.x), f12 = y * fma(a0.x, b1.x, -a1.x * b0.x);
      const double f03 = y * fma(a1.y, b0.y, -a0.y * b1.y), f13 = y * fma(a0.x, b1.y, -a1.x * b0.y);
      double s22 = fma(-c2.y, f12, fma(-c2.x, f02, d2.x));
      const double s23 = fma(-c2.y, f13, fma(-c2.x, f03, d2.y));
      const double s32 = fma(-c3.y, f12, fma(-c3.x, f02, d3.x));
      double s33 = fma(-c3.y, f13, fma(-c3.x, f03, d3.y));
      const double u2 = fma(-own.y, f12, fma(-own.x, f02, far.x));
      const double u3 = fma(-own.y, f13, fma(-own.x, f03, far.y));
      const double sign2 = copysign(1.0, s22);
      s22 += sign2;
      const double cross2 = -s23 * s32;
      const double sign3 = same_sign(sign2, fma(s22, s33, cross2));
      s33 += sign3;
      const double z = reciprocal(fma(s22, s33, cross2));
      const double m2 = z * fma(u2, s33, -u3 * s32);
      const double m3 = z * fma(u3, s22, -u2 * s23);
      const double v0 = fma(-m3, c3.x, fma(-m2, c2.x, own.x));
      const double v1 = fma(-m3, c3.y, fma(-m2, c2.y, own.y));
      const double m0 = y * fma(v0, a1.y, -v1 * a1.x);
      const double m1 = y * fma(v1, a0.x, -v0 * a0.y);
      const double m = of_lane(m0, m1, m2, m3);
      const double sign = of_lane(sign0, sign1, sign2, sign3);
      b[0] = g == kk + t ? sign : b[0];
      const bool mine = t >> 1 == kk >> 2;
      a[0][0] = choose(mine, 0.0, a[0][0]);
      a[0][1] = choose(mine, 0.0, a[0][1]);
#pragma unroll
      for (int c = 0; c < 4; c++) {
        const int at = (c + (kk >> 2)) & 3;
        mma_8x8x4(a[at], -m, b[at]);
      }
      if (threadIdx.x < 4) {
        sh.sign[k + t] = -sign;
      }
      if (k < 28) {
        const bool next = row >> 2 == (k >> 2) + 1;
        if (t >> 1 == ((kk >> 2) ^ 1)) {
          const int first = 2 * (t & 1);
          *reinterpret_cast<double2*>(&sh.column[(kk >> 2) ^ 1][row][first]) =
              next ? make_double2((row & 3) == first ? -1.0 : 0.0, (row & 3) == first + 1 ? -1.0 : 0.0)
                   : make_double2(a[kk == 4][0], a[kk == 4][1]);
        }
        if (next) {
          put_row(sh, a, k + 4, kk == 4, k0);
#pragma unroll
          for (int c = 0; c < 4; c++) {
            a[c][0] = a[c][1] = 0;
          }
        }
      }
    }
    rotate(a);
  }
}

/** D = F F', 4 x 4: row r of F' and of F^-1. */
__device__ __forceinline__ void factor_block(const double (*d)[4], int r, double (&f)[4], double (&h)[4]) {
  double i0, i1, i2, i3;
  const double f00 = square_root(d[0][0], i0);
  const double f10 = d[0][1] * i0, f20 = d[0][2] * i0, f30 = d[0][3] * i0;
  const double f11 = square_root(fma(-f10, f10, d[1][1]), i1);
  const double f21 = fma(-f20, f10, d[1][2]) * i1, f31 = fma(-f30, f10, d[1][3]) * i1;
  const double f22 = square_root(fma(-f21, f21, fma(-f20, f20, d[2][2])), i2);
  const double f32 = fma(-f31, f21, fma(-f30, f20, d[2][3])) * i2;
  const double f33 = square_root(fma(-f32, f32, fma(-f31, f31, fma(-f30, f30, d[3][3]))), i3);
  const double h10 = -i1 * f10 * i0;
  const double h21 = -i2 * f21 * i1, h20 = -i2 * fma(f20, i0, f21 * h10);
  const double h32 = -i3 * f32 * i2, h31 = -i3 * fma(f31, i1, f32 * h21);
  const double h30 = -i3 * fma(f30, i0, fma(f31, h10, f32 * h20));
  f[0] = r == 0 ? f00 : 0.0;
  f[1] = r == 0 ? f10 : r == 1 ? f11 : 0.0;
  f[2] = r == 0 ? f20 : r == 1 ? f21 : r == 2 ? f22 : 0.0;
  f[3] = r == 0 ? f30 : r == 1 ? f31 : r == 2 ? f32 : f33;
  h[0] = r == 0 ? i0 : r == 1 ? h10 : r == 2 ? h20 : h30;
  h[1] = r == 0 ? 0.0 : r == 1 ? i1 : r == 2 ? h21 : h31;
  h[2] = r < 2 ? 0.0 : r == 2 ? i2 : h32;
  h[3] = r < 3 ? 0.0 : i3;
}
