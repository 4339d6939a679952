/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Factorize by reflectors: QR of column tile `column` of a bundle (SQR section 3.2.1), a serial chain of 32 columns,
// and hence written for latency: the 32 TILES x 32 matrix stays in the registers of 4 warps, with one barrier per
// column and one butterfly of 3 steps for the norm and all inner products at once.
//
// Warp w has columns 8 w .. 8 w + 7; lane = 4 rl + cl has columns 8 w + 2 cl + {0, 1} and rows
// 2 rl + 16 s + {0, 1}. Column k is broadcast as x through shared memory with zeros in rows < k;
// p_j = x' a_j is available before the norm, and adding (v_k - x_k) a_kj turns it into v' a_j. Columns j < k hold V
// (not normalised), whose p_j are the input of T: T column k is computed one column later, by all threads, T row i in
// lanes 4 (i % 8) .. + 3 of warp i / 8. V is normalised (unit diagonal) when it is stored.
//
// Range: a column whose largest entry is outside 2^-300 .. 2^300 is scaled by its own power of two, so that no square
// overflows or underflows (H does not depend on it). The remainder of a column counts as zero (tau = 0, v = e_k, R_kk =
// 0) if its norm is below 2^-60 of the column's largest entry: 2^-8 of possible rounding errors. Otherwise a bundle of
// fewer than 32 independent columns would pass on the rest of its rows as noise of noise, 15.5 decades smaller with
// every column.
#pragma once
#include "arithmetic.cuh"
#include "stage.cuh"

/** Shared memory of householder_factorize. */
struct HouseholderShared {
  double x[2][32 * SPARQR_MAX_BUNDLE];
  double alpha[2];
  double z[2][32];
  double tau[32];
  double beta[32];
  int floor[32];  // high word of the squared norm below which a column's remainder is zero
};
static_assert(sizeof(HouseholderShared) == 5264 && SPARQR_FITS<HouseholderShared, 4>, "");

/** H = I - gamma v v' with v = (pivot, x), H (alpha, x)' = (beta, 0)'; tau is gamma pivot^2. */
struct Reflector {
  double gamma, pivot, beta, tau, inverse;  // inverse = 1 / pivot
};

/** A column's remainder counts as zero this many binary orders below its largest entry. */
constexpr int SPARQR_NOTHING_LEFT = 60;

/** The scale of a column, from the high word of its largest entry. */
struct ColumnScale {
  int exponent;  // the column is divided by 2^exponent, 0 for one with a largest entry in 2^-300 .. 2^300
  int floor;     // high word of the squared norm, as scaled, below which the remainder is zero

  __device__ __forceinline__ explicit ColumnScale(unsigned largest) {
    const int size = static_cast<int>(largest >> 20) - 1023;
    exponent = size < -300 || size > 300 ? max(-1000, min(size, 1000)) : 0;
    floor = (2 * (size - exponent - SPARQR_NOTHING_LEFT) + 1023) << 20;
  }
};

/**
 * The reflector from ||(alpha, x)||^2. Both approximate reciprocals (20 bits) are started before the first is refined:
 * third-order steps give full precision. floor: norm_floor of the column.
 */
__device__ __forceinline__ Reflector reflector(double alpha, double norm2, int floor) {
  // Compares high words, which is cheaper than a comparison of doubles on the critical path. NaN is live.
  const bool live = __double2hiint(norm2) > floor;
  norm2 = choose(live, norm2, 1.0);
  const double size_alpha = fabs(alpha);
  const double y = approximate_rsqrt(norm2);
  const double s = norm2 * y;
  const double u = approximate_reciprocal(fma(s, size_alpha, norm2));
  const double e = fma(-s, y, 1.0);
  const double root = fma(y * e, fma(0.375, e, 0.5), y);
  const double norm = norm2 * root;
  const double t = fma(norm, size_alpha, norm2);
  double d = fma(-t, u, 1.0);
  d = fma(d, d, d);
  Reflector r;
  r.gamma = live ? fma(u, d, u) : 0.0;
  const double size = norm + size_alpha;
  r.pivot = live ? copysign(size, alpha) : 0.0;
  r.beta = live ? -copysign(norm, alpha) : 0.0;
  r.tau = live ? size * root : 0.0;
  r.inverse = copysign(r.gamma * norm, alpha);
  return r;
}

/**
 * A bundle in the registers of a block's threads, and the steps of Factorize: load, scale, begin, one step per column,
 * the last column of T, store. TILES is at least the bundle's size.
 */
template <int TILES>
struct HouseholderBundle {
  static constexpr int PAIRS = TILES * 2;
  static constexpr int KEEP = TILES <= 4 ? PAIRS : 1;  // row pairs of x that stay in registers

  HouseholderShared& sh;
  const int warp, lane;
  const int rl, cl;
  const int c0;           // this thread's first column
  const int ti, tq;       // its row of T, and its first column there
  double a[PAIRS][2][2];  // [pair of rows][row of the pair][column]
  double t[8];            // T(ti, tq + 4 i)
  double inverse[2];      // 1 / v_jj of this thread's columns
  double unscale[2];      // what its columns were divided by

  __device__ __forceinline__ explicit HouseholderBundle(HouseholderShared& shared)
      : sh(shared),
        warp(threadIdx.x >> 5),
        lane(threadIdx.x & 31),
        rl(lane >> 2),
        cl(lane & 3),
        c0(8 * warp + 2 * cl),
        ti(8 * warp + rl),
        tq(cl) {}

  /** Address of this thread's values in row pair s. */
  __device__ __forceinline__ double* place(const Bundle& bundle, int ld, int column, int s) const {
    return bundle.row[s >> 1] + column * SPARQR_TILE + c0 + static_cast<long long>(2 * rl + 16 * (s & 1)) * ld;
  }

  __device__ __forceinline__ void load(const Bundle& bundle, int ld, int column) {
#pragma unroll
    for (int s = 0; s < PAIRS; s++) {
      const bool live = (s >> 1) < bundle.size;
      const double* p = live ? place(bundle, ld, column, s) : nullptr;
#pragma unroll
      for (int h = 0; h < 2; h++) {
        double2 pair = make_double2(0.0, 0.0);
        if (live) {
          pair = *reinterpret_cast<const double2*>(p + h * ld);
        }
        a[s][h][0] = pair.x;
        a[s][h][1] = pair.y;
      }
    }
  }

  /** Scales each of the first `columns` columns by its own power of two if needed, and sets its floor. */
  __device__ __forceinline__ void scale(int columns) {
    unsigned largest[2] = {0, 0};  // the exponent is enough: high words are ordered like the values
#pragma unroll
    for (int s = 0; s < PAIRS; s++) {
#pragma unroll
      for (int h = 0; h < 2; h++) {
#pragma unroll
        for (int c = 0; c < 2; c++) {
          largest[c] = max(largest[c], static_cast<unsigned>(__double2hiint(fabs(a[s][h][c]))));
        }
      }
    }
#pragma unroll
    for (int c = 0; c < 2; c++) {
#pragma unroll
      for (int lanes = 4; lanes <= 16; lanes *= 2) {
        largest[c] = max(largest[c], __shfl_xor_sync(~0u, largest[c], lanes));
      }
      const ColumnScale size(largest[c]);
      const int exponent = c0 + c < columns ? size.exponent : 0;
      unscale[c] = power_of_two(exponent);
      if (rl == 0) {
        sh.floor[c0 + c] = size.floor;
      }
      if (exponent != 0) {
        const double scale = power_of_two(-exponent);
#pragma unroll
        for (int s = 0; s < PAIRS; s++) {
          a[s][0][c] *= scale;
          a[s][1][c] *= scale;
        }
      }
    }
  }

  /** Clears T and publishes column 0. */
  __device__ __forceinline__ void begin() {
    inverse[0] = 0;
    inverse[1] = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
      t[i] = 0;
    }
    if (threadIdx.x < 32) {
      sh.z[1][threadIdx.x] = 0;
    }
    if (c0 == 0) {
#pragma unroll
      for (int s = 0; s < PAIRS; s++) {
        double2 pair = make_double2(a[s][0][0], a[s][1][0]);
        if (s == 0 && rl == 0) {
          sh.alpha[0] = pair.x;
        }
        *reinterpret_cast<double2*>(&sh.x[0][2 * rl + 16 * s]) = pair;
      }
    }
  }

  /** Row pair s of x, from registers or from shared memory. */
  __device__ __forceinline__ double2 broadcast(const double2* kept, const double* x, int s) const {
    return s < KEEP ? kept[s < KEEP ? s : 0] : *reinterpret_cast<const double2*>(x + 16 * s);
  }

  /** Row k of this thread's columns, from the lane that holds it. */
  __device__ __forceinline__ void row(int k, double& a0, double& a1) const {
    const bool odd = k & 1, top = k < 16;
    a0 = choose(odd, choose(top, a[0][1][0], a[1][1][0]), choose(top, a[0][0][0], a[1][0][0]));
    a1 = choose(odd, choose(top, a[0][1][1], a[1][1][1]), choose(top, a[0][0][1], a[1][0][1]));
    const int source = ((k & 15) >> 1) * 4 + cl;
    a0 = __shfl_sync(~0u, a0, source);
    a1 = __shfl_sync(~0u, a1, source);
  }

  /** x'x and the two x'a_j: one butterfly for the three. */
  __device__ __forceinline__ void products(const double2* kept, const double* x, double& norm2, double& d0,
                                           double& d1) const {
    double p0[2] = {0, 0}, p1[2] = {0, 0}, q[2] = {0, 0};
#pragma unroll
    for (int s = 0; s < PAIRS; s++) {
      const double2 v = broadcast(kept, x, s);
      q[0] = fma(v.x, v.x, q[0]);
      q[1] = fma(v.y, v.y, q[1]);
      p0[0] = fma(v.x, a[s][0][0], p0[0]);
      p1[0] = fma(v.x, a[s][0][1], p1[0]);
      p0[1] = fma(v.y, a[s][1][0], p0[1]);
      p1[1] = fma(v.y, a[s][1][1], p1[1]);
    }
    norm2 = q[0] + q[1];
    d0 = p0[0] + p0[1];
    d1 = p1[0] + p1[1];
#pragma unroll
    for (int lanes = 4; lanes <= 16; lanes *= 2) {
      const double u0 = __shfl_xor_sync(~0u, norm2, lanes);
      const double u1 = __shfl_xor_sync(~0u, d0, lanes);
      const double u2 = __shfl_xor_sync(~0u, d1, lanes);
      norm2 += u0;
      d0 += u1;
      d1 += u2;
    }
  }

  /** This thread's part of T(:, 0..k-2) z, z = V' v_{k-1}. */
  __device__ __forceinline__ double t_times(const double* z) const {
    double t0 = 0, t1 = 0;
#pragma unroll
    for (int i = 0; i < 8; i += 2) {
      t0 = fma(t[i], z[tq + 4 * i], t0);
      t1 = fma(t[i + 1], z[tq + 4 * i + 4], t1);
    }
    return t0 + t1;
  }

  /** Sets column k of T from its complete product with z. */
  __device__ __forceinline__ void set_t(int k, double tau, double product) {
    const double t_new = ti == k ? tau : -tau * product;
#pragma unroll
    for (int i = 0; i < 8; i++) {
      t[i] = choose(k == tq + 4 * i, t_new, t[i]);
    }
  }

  __device__ __forceinline__ void update(const double2* kept, const double* x, double w0, double w1) {
#pragma unroll
    for (int s = 0; s < PAIRS; s++) {
      const double2 v = broadcast(kept, x, s);
      a[s][0][0] = fma(-v.x, w0, a[s][0][0]);
      a[s][0][1] = fma(-v.x, w1, a[s][0][1]);
      a[s][1][0] = fma(-v.y, w0, a[s][1][0]);
      a[s][1][1] = fma(-v.y, w1, a[s][1][1]);
    }
  }

  /** Publishes column `next` from the lanes that hold it, with zeros above its diagonal. */
  __device__ __forceinline__ void publish(int next, int columns) {
    if (c0 == (next & ~1) && next < columns) {
      const bool second = next & 1;
      double* to = sh.x[next & 1] + 2 * rl;
#pragma unroll
      for (int s = 0; s < PAIRS; s++) {
        double2 pair = make_double2(choose(second, a[s][0][1], a[s][0][0]), choose(second, a[s][1][1], a[s][1][0]));
        if (s < 2) {
          const int r = 2 * rl + 16 * s;
          if (r == (next & ~1)) {
            sh.alpha[next & 1] = choose(second, pair.y, pair.x);
          }
          pair.x = r >= next ? pair.x : 0.0;
          pair.y = r + 1 >= next ? pair.y : 0.0;
        }
        *reinterpret_cast<double2*>(to + 16 * s) = pair;
      }
    }
  }

  /** Stores the data of reflector k for T and R: z_j = v_j' v_k with both normalised, tau, R_kk. */
  __device__ __forceinline__ void note(int k, const Reflector& h, double d0, double d1) {
    const bool odd = k & 1;
    inverse[0] = choose(c0 == k, h.inverse, inverse[0]);
    inverse[1] = choose(c0 + 1 == k, h.inverse, inverse[1]);
    if (rl == 0) {
      const double z0 = c0 < k ? d0 * inverse[0] * h.inverse : 0.0;
      const double z1 = c0 + 1 < k ? d1 * inverse[1] * h.inverse : 0.0;
      *reinterpret_cast<double2*>(&sh.z[k & 1][c0]) = make_double2(z0, z1);
    }
    if (threadIdx.x == 0) {
      sh.tau[k] = h.tau;
    }
    if (rl == 0 && c0 == (k & ~1)) {
      sh.beta[k] = h.beta * choose(odd, unscale[1], unscale[0]);
    }
  }

  /** Turns row k into R's. */
  __device__ __forceinline__ void set_row(int k, double r0, double r1) {
    const bool odd = k & 1, top = k < 16;
    if (rl == (k & 15) >> 1) {
#pragma unroll
      for (int s = 0; s < 2; s++) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
          const bool here = top == (s == 0) && odd == (i == 1);
          a[s][i][0] = choose(here, r0, a[s][i][0]);
          a[s][i][1] = choose(here, r1, a[s][i][1]);
        }
      }
    }
  }

  /**
   * Makes the reflector of the published column k, applies it to the columns on the right, and computes column k - 1 of
   * T.
   */
  __device__ __forceinline__ void step(int k, int columns) {
    const double* x = sh.x[k & 1] + 2 * rl;
    double2 kept[KEEP];
#pragma unroll
    for (int s = 0; s < KEEP; s++) {
      kept[s] = *reinterpret_cast<const double2*>(x + 16 * s);
    }
    const double alpha = sh.alpha[k & 1];
    const int floor = sh.floor[k];
    const double* z = sh.z[(k + 1) & 1];
    const double tau_before = k > 0 ? sh.tau[k - 1] : 0.0;
    double a0, a1, norm2, d0, d1;
    row(k, a0, a1);
    products(kept, x, norm2, d0, d1);
    // T(:, k-1) = -tau T(:, 0..k-2) z: independent work that hides the latency of the next chain.
    double t0 = t_times(z);
    double t1 = __shfl_xor_sync(~0u, t0, 1);
    const Reflector h = reflector(alpha, norm2, floor);
    t0 += t1;
    t1 = __shfl_xor_sync(~0u, t0, 2);
    d0 = fma(-h.beta, a0, d0);
    d1 = fma(-h.beta, a1, d1);
    const double w0 = c0 > k ? h.gamma * d0 : 0.0;
    const double w1 = c0 + 1 > k ? h.gamma * d1 : 0.0;
    update(kept, x, w0, w1);
    publish(k + 1, columns);
    note(k, h, d0, d1);
    set_row(k, c0 == k ? h.beta : fma(-h.pivot, w0, a0), c0 + 1 == k ? h.beta : fma(-h.pivot, w1, a1));
    set_t(k - 1, tau_before, t0 + t1);
  }

  /** The last column of T, which the steps leave out. */
  __device__ __forceinline__ void last_of_t(int columns) {
    const double* z = sh.z[(columns - 1) & 1];
    double product = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
      product = fma(t[i], z[tq + 4 * i], product);
    }
    product += __shfl_xor_sync(~0u, product, 1);
    product += __shfl_xor_sync(~0u, product, 2);
    set_t(columns - 1, sh.tau[columns - 1], product);
  }

  /** Stores R in the first tile, its V and T in the slot (if there is one), and the other tiles' V in place. */
  __device__ __forceinline__ void store(const Bundle& bundle, int ld, int column, int columns, double* vt) const {
#pragma unroll
    for (int s = 0; s < PAIRS; s++) {
      if ((s >> 1) < bundle.size) {
        double* p = place(bundle, ld, column, s);
#pragma unroll
        for (int h = 0; h < 2; h++) {
          const int r = 2 * rl + 16 * s + h;
          double out[2];
          double v[2];
#pragma unroll
          for (int c = 0; c < 2; c++) {
            const double value = a[s][h][c];
            const bool reflector = c0 + c < columns;
            const double normal = value * inverse[c];
            if (s < 2) {
              out[c] = !reflector ? value : r <= c0 + c ? value * unscale[c] : 0.0;
              v[c] = r == c0 + c ? 1.0 : (r > c0 + c && reflector ? normal : 0.0);
            } else {
              out[c] = reflector ? normal : value;
            }
          }
          *reinterpret_cast<double2*>(p + h * ld) = make_double2(out[0], out[1]);
          if (s < 2 && vt != nullptr) {
            *reinterpret_cast<double2*>(vt + r * 32 + c0) = make_double2(v[0], v[1]);
          }
        }
      }
    }
    if (vt != nullptr) {
#pragma unroll
      for (int i = 0; i < 8; i++) {
        vt[SPARQR_TILE * SPARQR_TILE + ti * 32 + tq + 4 * i] = t[i];
      }
    }
  }
};

/**
 * Factorizes columns [0, columns) of the tiles at row[s] + column * 32; further columns of the tile are only updated.
 * vt: 2048 doubles, or null if V and T are not needed. On return sh.beta[k], k < columns, is R_kk. TILES is at least
 * the bundle's size. Called by all threads of the block, with a barrier after the writes of the tiles before it and one
 * before the reads after it.
 */
template <int TILES>
__device__ __forceinline__ void householder_factorize(HouseholderShared& sh, const Bundle& bundle, int ld, int column,
                                                      int columns, double* vt) {
  HouseholderBundle<TILES> tile(sh);
  tile.load(bundle, ld, column);
  tile.scale(columns);
  tile.begin();
  // Not unrolled: the loop's code just fits the instruction cache, and twice its size is slower.
#pragma unroll 1
  for (int k = 0; k < columns; k++) {
    __syncthreads();
    tile.step(k, columns);
  }
  __syncthreads();
  if (columns > 0) {
    tile.last_of_t(columns);
  }
  tile.store(bundle, ld, column, columns, vt);
}
