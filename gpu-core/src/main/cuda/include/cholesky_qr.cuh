/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Factorize by Cholesky QR and Householder reconstruction: QR of a full column tile of a bundle whose columns
// are far from dependent. Two serial chains of 32 short steps on 32 x 32 matrices (130 cycles a step, against 720 to 1300
// of a reflector), everything with as many rows as the bundle is a product for the tensor cores.
//
//   X (32 size x 32)             the column tile
//   G = X'X = R1'R1              Cholesky, and R1^-1 by the same elimination
//   Q1 = X R1^-1                 orthonormal to eps times the square of the condition
//   I + E = Q1'Q1                measured; I + U with U = triu(E) (half the diagonal) is its Cholesky factor to
//                                ||E||^2, which the test below makes less than a rounding error (CholeskyQR2)
//   Z = Q1 - [S (I + U); 0]      S = diag(+-1), s_k = -sign of the k-th pivot of the elimination of Q1's top tile:
//                                no pivot of Z's top tile is less than 1 (Ballard et al. 2014, Reconstructing
//                                Householder vectors from TSQR, section 5)
//   T' = -Ztop^-1 S (I - U')     Gauss-Jordan; I - Z T Z' is orthogonal, and (I - Z T' Z') X = [S (I + U) R1; 0]
//
// So V = Z and T full, not triangular: the compact WY form of the same orthogonal matrix that reflectors give.
//
// Test: every |R1^-1(j, k)| ||x_j|| at most CHOLESKY_GROWTH, norms within range. Otherwise (also if anything is not
// finite) nothing has been written, and the caller uses reflectors.
#pragma once
#include "apply.cuh"
#include "factorize.cuh"

/** Square of the largest |R1^-1(j, k)| ||x_j||: keeps ||E||^2 well below a rounding error. */
constexpr double CHOLESKY_GROWTH2 = 256;

/** Shared memory besides the tiles. */
struct alignas(16) CholeskyShared {
  double row[2][4][36];     // four pivot rows, zeros in their own columns
  double column[2][32][4];  // the pivots' columns
  double pivot[8][4][4];    // 4 x 4 blocks of the pivots
  double squares[32];       // ||x_j||^2
  double sign[32];
  double beta[32];          // R_kk
};

/** D (8 x 8) += A (8 x 4) B (4 x 8); lane 4 g + t: A(g, t), B(t, g), D(g, 2 t + {0, 1}). */
__device__ __forceinline__ void mma_8x8x4(double (&d)[2], double a, double b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};\n"
               : "+d"(d[0]), "+d"(d[1])
               : "d"(a), "d"(b));
}

/** D += upper blocks of F'F, F 16 rows in fragments; blocks m = 0: n = 0 .. 3, m = 1: n = 2, 3. */
__device__ __forceinline__ void add_gram(const double (&f0)[2][4], const double (&f1)[2][4],
                                         double (&d)[6][4]) {
  double fa[2][8];
#pragma unroll
  for (int m = 0; m < 2; m++) {
#pragma unroll
    for (int i = 0; i < 8; i++) {
      fa[m][i] = (i < 4 ? f0 : f1)[m][(i & 1) * 2 + ((i >> 1) & 1)];
    }
  }
#pragma unroll
  for (int n = 0; n < 4; n++) {
    double fb[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      fb[i] = (i < 2 ? f0 : f1)[n >> 1][(n & 1) * 2 + (i & 1)];
    }
    mma_16x8x16(d[n], fa[0], fb);
    if (n >= 2) {
      mma_16x8x16(d[n + 2], fa[1], fb);
    }
  }
}

/** No products yet. */
__device__ __forceinline__ void clear(double (&d)[6][4]) {
#pragma unroll
  for (int i = 0; i < 6; i++) {
#pragma unroll
    for (int j = 0; j < 4; j++) {
      d[i][j] = 0;
    }
  }
}

/** A warp's part of a Gram matrix to shared memory, and the sum of all warps' parts for this thread. */
__device__ __forceinline__ void put_gram(double* part, const double (&d)[6][4]) {
#pragma unroll
  for (int i = 0; i < 6; i++) {
#pragma unroll
    for (int j = 0; j < 4; j++) {
      part[(i * 4 + j) * 32 + (threadIdx.x & 31)] = d[i][j];
    }
  }
}

/** Row i = thread / 4, columns 8 c + 2 (thread % 4) + {0, 1}; blocks below the diagonal are zero. */
__device__ __forceinline__ void sum_gram(const double* parts, int stride, double (&a)[4][2]) {
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int m = warp >> 1, h = warp & 1;
#pragma unroll
  for (int c = 0; c < 4; c++) {
#pragma unroll
    for (int p = 0; p < 2; p++) {
      double sum = 0;
      if (m == 0 || c >= 2) {
        const double* from = parts + ((c + 2 * m) * 4 + 2 * h + p) * 32 + lane;
        sum = (from[0] + from[stride]) + (from[2 * stride] + from[3 * stride]);
      }
      a[c][p] = sum;
    }
  }
}

/** a[c] := a[c + 1]: after eight steps the pivots' columns are in a[0] again. */
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

/** Writes this thread's row, one of the pivot rows k .. k + 3, whose columns are in a[block]. */
__device__ __forceinline__ void put_row(CholeskyShared& sh, const double (&a)[4][2], int k, int block,
                                        int k0) {
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

/** The value of m that belongs to column t of an A fragment. */
__device__ __forceinline__ double of_lane(double m0, double m1, double m2, double m3) {
  const int t = threadIdx.x & 3;
  return choose(t & 2, choose(t & 1, m3, m2), choose(t & 1, m1, m0));
}

/**
 * G = L D L', D of 4 x 4 blocks, by elimination; a: rows of G as sum_gram has them. On return a holds L^-1 left of the diagonal
 * blocks, lt the rows of L' (swizzled), sh.pivot D.
 */
__device__ __forceinline__ void eliminate(CholeskyShared& sh, double (&a)[4][2], double* lt) {
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
      const double(*p)[4] = sh.pivot[k >> 2];
      const double2 p0 = *reinterpret_cast<const double2*>(&p[0][0]);
      const double2 b0 = *reinterpret_cast<const double2*>(&p[0][2]);
      const double p11 = p[1][1];
      const double2 b1 = *reinterpret_cast<const double2*>(&p[1][2]);
      const double2 d2 = *reinterpret_cast<const double2*>(&p[2][2]);
      const double d33 = p[3][3];
      const double(*r)[36] = sh.row[kk >> 2];
      const double own0 = r[0][row], own1 = r[1][row], own2 = r[2][row], own3 = r[3][row];
      double b[4];
#pragma unroll
      for (int c = 0; c < 4; c++) {
        b[c] = r[t][((k0 + 8 * c) & 31) + g];
      }
      b[0] = g == kk + t ? 1.0 : b[0];
      // 40 bits of the reciprocals are enough: L is what has been subtracted, whatever that leaves.
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
        const int at = (c + (kk >> 2)) & 3;  // first those that the next step needs
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
 * Z^-1 (-S), Z = Q - S, by Gauss-Jordan in place, four columns a step; a: rows of Q's top tile, then of the result.
 */
__device__ __forceinline__ void reconstruct(CholeskyShared& sh, double (&a)[4][2]) {
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
      const double(*p)[4] = sh.pivot[k >> 2];
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
      const double(*r)[36] = sh.row[kk >> 2];
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

/** sqrt(x) and its reciprocal. */
__device__ __forceinline__ double square_root(double x, double& inverse) {
  const double y = approximate_rsqrt(x);
  const double e = fma(-x * y, y, 1.0);
  inverse = fma(y * e, fma(0.375, e, 0.5), y);
  return x * inverse;
}

/** D = F F', 4 x 4: row r of F' and of F^-1. */
__device__ __forceinline__ void factor_block(const double (*d)[4], int r, double (&f)[4],
                                             double (&h)[4]) {
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

/**
 * Factorizes the 32 columns of column tile `column` of a bundle of at most TILES row tiles, as factorize does, or returns
 * false and has written nothing. shared: TILES * 1024 + 3072 doubles. beta[k] is R_kk. All threads of the block call it;
 * a barrier must lie between it and what wrote the tiles, and between it and what reads them.
 */
template <int TILES>
__device__ __forceinline__ bool cholesky_factorize(double* shared, CholeskyShared& sh,
                                                   const Bundle& bundle, int ld, int column,
                                                   double* vt) {
  constexpr int OWN = (TILES + 3) / 4;  // row tiles a warp: warp, warp + 4
  constexpr int GROUPS = OWN * 4;       // of eight rows
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int g = lane >> 2, t = lane & 3;
  const int row = threadIdx.x >> 2;
  double* parts = shared + TILES * 1024;  // four Gram matrices; then L' and:
  double* inverse = parts + 1024;         // R1^-T, then U and U'
  double* top = parts + 2048;             // Q1's top tile
  const int live = 4 * max(0, (bundle.size - warp + 3) / 4);
  int down[2][2], across[2][2];
#pragma unroll
  for (int i = 0; i < 2; i++) {
#pragma unroll
    for (int k = 0; k < 2; k++) {
      down[i][k] = (2 * t + k) * 32 + ((8 * i + g) ^ swizzle(2 * t + k));
      across[i][k] = g * 32 + ((8 * i + 2 * t + k) ^ swizzle(g));
    }
  }
  double x[GROUPS][2][4];  // [8 rows][16 columns][column g or g + 8, row 2 t or 2 t + 1]
  double part[6][4];
#pragma unroll
  for (int b = 0; b < GROUPS; b++) {
    if (b < live) {
      const double* p = bundle.row[warp + 4 * (b >> 2)] + column * SPARQR_TILE + g +
                        static_cast<long long>(8 * (b & 3) + 2 * t) * ld;
#pragma unroll
      for (int m = 0; m < 2; m++) {
        x[b][m][0] = p[16 * m];
        x[b][m][2] = p[16 * m + 8];
        x[b][m][1] = p[ld + 16 * m];
        x[b][m][3] = p[ld + 16 * m + 8];
      }
    }
  }
  double* own = shared + warp * 1024;
  clear(part);
#pragma unroll
  for (int b = 0; b < GROUPS; b++) {
    if (b < live) {
      double* to = own + (b >> 2) * 4096 + (b & 3) * 256;
#pragma unroll
      for (int m = 0; m < 2; m++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
          to[16 * m + down[i >> 1][i & 1]] = x[b][m][i];
        }
      }
      if (b & 1) {
        add_gram(x[b - 1], x[b], part);
      }
    }
  }
  put_gram(parts + warp * 768, part);
  __syncthreads();
  double a[4][2];
  sum_gram(parts, 768, a);
#pragma unroll
  for (int c = 0; c < 4; c++) {
    if (row >> 3 == c && t == (row & 7) >> 1) {
      sh.squares[row] = row & 1 ? a[c][1] : a[c][0];
    }
  }
  // its first barrier also ends the reading of the parts
  eliminate(sh, a, parts);
  __syncthreads();
  // D = F F' block by block: R1 = F' L', R1^-T = F^-1 L^-1.
  double h[4];  // this row of F^-1
  double f[4];  // this row of F'
  factor_block(sh.pivot[row >> 2], row & 3, f, h);
  bool good = true;
  double r1[4][2];
#pragma unroll
  for (int c = 0; c < 4; c++) {
#pragma unroll
    for (int p = 0; p < 2; p++) {
      const int j = 8 * c + 2 * t + p;
      const double mine = j < (row & ~3) ? a[c][p] : j == row ? 1.0 : 0.0;
      double v = 0;
      double r = 0;
#pragma unroll
      for (int s = 0; s < 4; s++) {
        v = fma(h[s], __shfl_sync(~0u, mine, (lane & 16) + 4 * s + t), v);
        r = fma(f[s], parts[((row & ~3) + s) * 32 + (j ^ swizzle((row & ~3) + s))], r);
      }
      r1[c][p] = r;
      inverse[row * 32 + (j ^ swizzle(row))] = v;
      const double square = sh.squares[j];
      good = good && square * v * v <= CHOLESKY_GROWTH2 && square > 0x1p-800 && square < 0x1p800;
    }
  }
  __syncwarp();
#pragma unroll
  for (int c = 0; c < 4; c++) {
#pragma unroll
    for (int p = 0; p < 2; p++) {
      parts[row * 32 + ((8 * c + 2 * t + p) ^ swizzle(row))] = r1[c][p];
    }
  }
  if (!__syncthreads_and(good)) {
    return false;
  }
  {
    double fa[3][8];  // R1^-T: blocks (0, 0), (1, 0), (1, 1)
#pragma unroll
    for (int i = 0; i < 8; i++) {
      const int place = across[i >> 2][(i >> 1) & 1] + 256 * (i & 1);
      fa[0][i] = inverse[place];
      fa[1][i] = inverse[512 + place];
      fa[2][i] = inverse[528 + place];
    }
    clear(part);
    // Sixteen rows at a time: Q1, its Gram matrix, V.
#pragma unroll
    for (int b = 0; b < GROUPS; b += 2) {
      if (b < live) {
        double q1[2][2][4];
#pragma unroll
        for (int r = 0; r < 2; r++) {
          const double* from = own + (b >> 2) * 4096 + ((b & 3) + r) * 256;
          double fb[2][4];
#pragma unroll
          for (int i = 0; i < 4; i++) {
            fb[0][i] = from[across[i >> 1][i & 1]];
            fb[1][i] = from[16 + across[i >> 1][i & 1]];
          }
#pragma unroll
          for (int m = 0; m < 2; m++) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
              q1[r][m][i] = 0;
            }
          }
          mma_16x8x16(q1[r][0], fa[0], fb[0]);
          mma_16x8x16(q1[r][1], fa[1], fb[0]);
          mma_16x8x16(q1[r][1], fa[2], fb[1]);
        }
        add_gram(q1[0], q1[1], part);
        if (b < 4 && warp == 0) {
#pragma unroll
          for (int r = 0; r < 2; r++) {
#pragma unroll
            for (int m = 0; m < 2; m++) {
#pragma unroll
              for (int i = 0; i < 4; i++) {
                top[(b + r) * 256 + 16 * m + down[i >> 1][i & 1]] = q1[r][m][i];
              }
            }
          }
        } else {
#pragma unroll
          for (int r = 0; r < 2; r++) {
            double* p = bundle.row[warp + 4 * (b >> 2)] + column * SPARQR_TILE + g +
                        static_cast<long long>(8 * ((b & 3) + r) + 2 * t) * ld;
#pragma unroll
            for (int m = 0; m < 2; m++) {
              p[16 * m] = q1[r][m][0];
              p[16 * m + 8] = q1[r][m][2];
              p[ld + 16 * m] = q1[r][m][1];
              p[ld + 16 * m + 8] = q1[r][m][3];
            }
          }
        }
      }
    }
  }
  __syncwarp();
  put_gram(own, part);
  __syncthreads();
  double u[4][2];
  sum_gram(shared, 1024, u);
  double* above = shared + (row >> 3) * 1024 + 768 + (row & 7) * 32;  // U, beside the parts
#pragma unroll
  for (int c = 0; c < 4; c++) {
#pragma unroll
    for (int p = 0; p < 2; p++) {
      const int j = 8 * c + 2 * t + p;
      u[c][p] = j > row ? u[c][p] : j == row ? 0.5 * (u[c][p] - 1.0) : 0.0;
      above[j ^ swizzle(row)] = u[c][p];
      a[c][p] = top[row * 32 + (j ^ swizzle(row))];
    }
  }
  if (vt != nullptr) {
    reconstruct(sh, a);
  } else if (threadIdx.x < 32) {
    sh.sign[threadIdx.x] = 1;  // nobody needs V and T, so any sign will do
  }
  // a = N = -(Q - S)^-1 S; with U, to first order in it: T' = N - N (U N + U').
  double* n0 = inverse;
#pragma unroll
  for (int c = 0; c < 4; c++) {
#pragma unroll
    for (int p = 0; p < 2; p++) {
      n0[row * 32 + ((8 * c + 2 * t + p) ^ swizzle(row))] = a[c][p];
    }
  }
  __syncthreads();
  const double s = sh.sign[row];
  if (vt != nullptr) {
#pragma unroll
    for (int c = 0; c < 4; c++) {
      double z[2];
#pragma unroll
      for (int p = 0; p < 2; p++) {
        const int j = 8 * c + 2 * t + p;
        const double factor = j == row ? 1.0 + u[c][p] : u[c][p];
        z[p] = fma(-s, factor, top[row * 32 + (j ^ swizzle(row))]);
      }
      *reinterpret_cast<double2*>(vt + row * 32 + 8 * c + 2 * t) = make_double2(z[0], z[1]);
    }
  }
  double fu[3][8];  // U: blocks (0, 0), (0, 1), (1, 1)
#pragma unroll
  for (int i = 0; i < 8; i++) {
    const double* from = shared + (i & 1) * 1024 + 768 + across[i >> 2][(i >> 1) & 1];
    fu[0][i] = from[0];
    fu[1][i] = from[16];
    fu[2][i] = from[2048 + 16];
  }
  // This warp's columns from here: 8 warp .. 8 warp + 7; rows 16 m + g and 16 m + 8 + g.
  const int strip = 16 * (warp >> 1);
  int down_here[2], across_here[2];
#pragma unroll
  for (int i = 0; i < 2; i++) {
    down_here[i] = strip + (warp & 1 ? down[1][i] : down[0][i]);
    across_here[i] = strip + (warp & 1 ? across[1][i] : across[0][i]);
  }
  double fb[2][4], d[2][4];
  if (vt != nullptr) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        fb[h][i] = n0[512 * h + 256 * (i >> 1) + down_here[i & 1]];
        // U', column 16 h + 8 (i / 2) + g of row 8 warp + 2 t + i % 2 of U
        d[h][i] = shared[warp * 1024 + 768 + 16 * h + down[i >> 1][i & 1]];
      }
    }
    mma_16x8x16(d[0], fu[0], fb[0]);
    mma_16x8x16(d[0], fu[1], fb[1]);
    mma_16x8x16(d[1], fu[2], fb[1]);
    // A D fragment transposed is no B fragment: once through shared memory, this warp's columns only.
#pragma unroll
    for (int m = 0; m < 2; m++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        own[(16 * m + 8 * (i >> 1) + g) * 12 + 2 * t + (i & 1)] = d[m][i];
      }
    }
    __syncwarp();
#pragma unroll
    for (int h = 0; h < 2; h++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        fb[h][i] = own[(16 * h + 8 * (i >> 1) + 2 * t + (i & 1)) * 12 + g];
      }
    }
#pragma unroll
    for (int m = 0; m < 2; m++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        d[m][i] = n0[512 * m + 256 * (i >> 1) + across_here[i & 1]];
      }
#pragma unroll
      for (int h = 0; h < 2; h++) {
        double fa[8];
#pragma unroll
        for (int i = 0; i < 8; i++) {
          fa[i] = -n0[512 * m + 256 * (i & 1) + 16 * h + across[i >> 2][(i >> 1) & 1]];
        }
        mma_16x8x16(d[m], fa, fb[h]);
      }
#pragma unroll
      for (int i = 0; i < 4; i++) {
        vt[1024 + (8 * warp + 2 * t + (i & 1)) * 32 + 16 * m + g + 8 * (i >> 1)] = d[m][i];
      }
    }
  }
  // R = S (I + U) R1
#pragma unroll
  for (int h = 0; h < 2; h++) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      fb[h][i] = parts[512 * h + 256 * (i >> 1) + down_here[i & 1]];
      d[h][i] = parts[512 * h + 256 * (i >> 1) + across_here[i & 1]];
    }
  }
  mma_16x8x16(d[0], fu[0], fb[0]);
  mma_16x8x16(d[0], fu[1], fb[1]);
  mma_16x8x16(d[1], fu[2], fb[1]);
#pragma unroll
  for (int m = 0; m < 2; m++) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int i = 16 * m + g + 8 * h, j = 8 * warp + 2 * t;
      const double si = sh.sign[i];
      const double2 out = make_double2(j >= i ? si * d[m][2 * h] : 0.0,
                                       j + 1 >= i ? si * d[m][2 * h + 1] : 0.0);
      *reinterpret_cast<double2*>(bundle.row[0] + static_cast<long long>(i) * ld +
                                  column * SPARQR_TILE + j) = out;
      if (j == i || j + 1 == i) {
        sh.beta[i] = j == i ? out.x : out.y;
      }
    }
  }
  __syncthreads();
  return true;
}
