/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Factorize by Cholesky QR and Householder reconstruction: QR of a whole column tile of a bundle with columns far from
// dependent. Two serial chains of eight steps on 32 x 32 matrices instead of one of 32 reflectors; all work on the
// bundle's rows is matrix products on the tensor cores.
//
//   X (32 size x 32)         the column tile
//   G = X'X = R1'R1          Cholesky, and R1^-1 by the same elimination
//   Q1 = X R1^-1             orthonormal to eps times the square of X's condition
//   I + E = Q1'Q1            measured; I + U, U = triu(E) with half the diagonal, is its Cholesky factor to ||E||^2: with it
//                            Q1 is as orthonormal as by reflectors (CholeskyQR2; Yamamoto et al. 2015)
//   Z = Q1 - [S (I + U); 0]  S = diag(+-1), of signs for which no pivot of Z's top tile is less than 1 (Ballard et al.
//                            2014, Reconstructing Householder vectors from TSQR, section 5)
//   T' = -Ztop^-1 S (I - U') so I - Z T Z' is orthogonal and (I - Z T' Z') X = [S (I + U) R1; 0]
//
// So V = Z, not unit lower trapezoidal, and T full: another compact WY form of the orthogonal matrix that reflectors give.
// A column of zeros gets a zero column in V, zeros in T and R_kk = 0.
//
// Range. G is scaled to a diagonal in [1, 4) by powers of two, s_i g_ij s_j, before it is eliminated: exact, and no
// product of norms in the elimination can leave the range (unscaled, the 4 x 4 blocks' products of four norms underflow
// for norms of 1e-106 while their determinants do not). R1 and R1^-1 are scaled back when they are written. Norms have
// to be in 2^-400 .. 2^400, where G itself is safe, or the column all zeros.
//
// Declined, with the bundle as it was:
// - where an entry |R1^-1(j, k)| ||x_j|| (at most the condition of X with columns of norm 1, and a lower bound of it but for a
//   factor 32) exceeds CHOLESKY_GROWTH: R1 and R1^-1 come from the same multipliers, so R1^-1 R1 = I to eps times the product of
//   their sizes, and with it X = Q1 R1 column by column to eps times that growth, near what reflectors would give;
// - where an entry of E exceeds CHOLESKY_DEFECT = d. The error after the correction is of second order: (I + U)'(I + U)
//   is I + E + U'U, and with ||U||_2 <= ||E||_F <= 32 d it is at most 2^10 d^2 = 2^-54, half an eps, in norm. E is
//   measured on Q1 as written, so this holds whatever went wrong before;
// - where anything is not finite: both comparisons are written so that NaN fails them.
//
// Thread 4 i + t has row i of every 32 x 32 matrix, columns 8 c + 2 t + {0, 1} (elimination.cuh). Warp w has row
// tiles w and w + 4 of the bundle.
#pragma once
#include "elimination.cuh"
#include "gram.cuh"
#include "stage.cuh"

constexpr double CHOLESKY_GROWTH = 16;
constexpr double CHOLESKY_DEFECT = 0x1p-32;

/** Static shared memory, in addition to CholeskyTiles. */
struct CholeskyShared {
  EliminationShared elimination;
  double squares[32];  // (s_j ||x_j||)^2, in [1, 4); 0 for a column of zeros
  double scale[32];    // s_j, powers of two
  double beta[32];     // R_kk
};
static_assert(sizeof(CholeskyShared) == 6400, "");

/** The place of a row tile in shared memory. */
union alignas(16) CholeskyTile {
  double x[SPARQR_TILE_DOUBLES];  // X, or Q1 once it is no longer needed
  // Afterwards, in the first tile of each warp:
  struct {
    union {
      double gram[SPARQR_GRAM_DOUBLES];  // the warp's part of Q1'Q1
      double own[384];                   // then write_t's, private to the warp
    };
    double u[8][32];  // eight rows of U, swizzled as a tile's
  } after;
};
static_assert(sizeof(CholeskyTile) == sizeof(double) * SPARQR_TILE_DOUBLES, "");

/** Dynamic shared memory of a bundle of at most TILES row tiles. */
template <int TILES>
struct alignas(16) CholeskyTiles {
  static_assert(TILES >= SPARQR_WARPS, "each warp needs a tile of its own");
  CholeskyTile tile[TILES];
  union {
    double gram[SPARQR_WARPS][SPARQR_GRAM_DOUBLES];  // X'X by warps
    struct {
      double r1[SPARQR_TILE_DOUBLES];       // L', then R1
      double inverse[SPARQR_TILE_DOUBLES];  // R1^-T, then N
      double top[SPARQR_TILE_DOUBLES];      // Q1's top tile
    } factor;
  };
};
static_assert(sizeof(CholeskyTiles<8>) == 90112 && SPARQR_FITS<CholeskyTiles<8>, 8>, "");
static_assert(sizeof(CholeskyTiles<4>) == 57344 && SPARQR_FITS<CholeskyTiles<4>, 4>, "");

/** Doubles from a warp's first row tile to its second, and from the start of a tile to its rows of U. */
constexpr int CHOLESKY_SECOND = SPARQR_WARPS * SPARQR_TILE_DOUBLES;
constexpr int CHOLESKY_U = offsetof(CholeskyTile, after.u) / sizeof(double);
static_assert(CHOLESKY_U == SPARQR_GRAM_DOUBLES && offsetof(CholeskyTile, after.own) == 0, "");

/** The tile of one row tile of a bundle in a column tile. */
__device__ __forceinline__ double* tile_of(const Bundle& bundle, int s, int column) {
  return bundle.row[s] + column * SPARQR_TILE;
}

/** Eight rows of a tile in fragments (gram.cuh) from or to global memory; p: row 2 t, column g. */
__device__ __forceinline__ void load_rows(double (&x)[2][4], const double* p, int ld) {
#pragma unroll
  for (int m = 0; m < 2; m++) {
    x[m][0] = p[16 * m];
    x[m][2] = p[16 * m + 8];
    x[m][1] = p[ld + 16 * m];
    x[m][3] = p[ld + 16 * m + 8];
  }
}

__device__ __forceinline__ void store_rows(double* p, int ld, const double (&x)[2][4]) {
#pragma unroll
  for (int m = 0; m < 2; m++) {
    p[16 * m] = x[m][0];
    p[16 * m + 8] = x[m][2];
    p[ld + 16 * m] = x[m][1];
    p[ld + 16 * m + 8] = x[m][3];
  }
}

/** The same, to eight rows of a tile in shared memory. */
__device__ __forceinline__ void put_rows(double* to, const TilePlaces& place, const double (&x)[2][4]) {
#pragma unroll
  for (int m = 0; m < 2; m++) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      to[16 * m + place.down[i >> 1][i & 1]] = x[m][i];
    }
  }
}

/** The reverse of put_rows. */
__device__ __forceinline__ void get_rows(double (&x)[2][4], const TilePlaces& place, const double* from) {
#pragma unroll
  for (int m = 0; m < 2; m++) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      x[m][i] = from[16 * m + place.down[i >> 1][i & 1]];
    }
  }
}

/** X of this warp's row tiles to shared memory, at tile and tile + 4 tiles, and its part of X'X. */
template <int GROUPS>
__device__ __forceinline__ void load_tiles(double* tile, const TilePlaces& place, const Bundle& bundle, int ld,
                                           int column, int live, double (&part)[6][4]) {
  const int warp = threadIdx.x >> 5, g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
  double x[GROUPS][2][4];
#pragma unroll
  for (int b = 0; b < GROUPS; b++) {
    if (b < live) {
      load_rows(x[b],
                tile_of(bundle, warp + 4 * (b >> 2), column) + g + static_cast<long long>(8 * (b & 3) + 2 * t) * ld,
                ld);
    }
  }
  clear(part);
#pragma unroll
  for (int b = 0; b < GROUPS; b++) {
    if (b < live) {
      put_rows(tile + (b >> 2) * CHOLESKY_SECOND + (b & 3) * 256, place, x[b]);
      if (b & 1) {
        add_gram(x[b - 1], x[b], part);
      }
    }
  }
}

/**
 * Scales G (a: row thread / 4) to a diagonal in [1, 4), ones where a column is zero, and keeps the scale in sh. tile: X
 * of this warp's row tiles, as stored by load_tiles. Returns this thread's vote for going on. Ends with a barrier.
 */
__device__ __forceinline__ bool scale_gram(CholeskyShared& sh, double (&a)[4][2], const double* tile, int live) {
  const int lane = threadIdx.x & 31, t = lane & 3, row = threadIdx.x >> 2;
  bool good = true, empty = false;
#pragma unroll
  for (int c = 0; c < 4; c++) {
    if (row >> 3 == c && t == (row & 7) >> 1) {
      const double square = choose(row & 1, a[c][1], a[c][0]);
      empty = square == 0;
      good = empty || (square > 0x1p-800 && square < 0x1p800);
      const int half = good && !empty ? (exponent_bits(square) - 1023) >> 1 : 0;
      const double scale = power_of_two(-half);
      sh.scale[row] = scale;
      sh.squares[row] = square * scale * scale;
      a[c][0] = row & 1 || !empty ? a[c][0] : 1.0;
      a[c][1] = row & 1 && empty ? 1.0 : a[c][1];
    }
  }
  if (__syncthreads_or(empty)) {
    // The squares of a nonzero column may underflow to zero; reflectors handle that case.
    const bool zero = sh.squares[lane] == 0;
    for (int i = 0; i < 8 * live; i++) {
      const int r = i & 31;
      good = good && !(zero && tile[(i >> 5) * CHOLESKY_SECOND + r * 32 + (lane ^ swizzle(r))] != 0);
    }
  }
  const double mine = sh.scale[row];
#pragma unroll
  for (int c = 0; c < 4; c++) {
    const double2 s = *reinterpret_cast<const double2*>(&sh.scale[8 * c + 2 * t]);
    a[c][0] *= mine * s.x;
    a[c][1] *= mine * s.y;
  }
  return good;
}

/**
 * From G = L D L': R1 over lt (L'), R1^-T to `inverse`, both swizzled and scaled back; zeros in the row of a column of
 * zeros. a: L^-1 from eliminate. Returns this thread's vote for going on. A warp reads only its own rows of lt.
 */
__device__ __forceinline__ bool finish_cholesky(const CholeskyShared& sh, const double (&a)[4][2], double* lt,
                                                double* inverse) {
  const int lane = threadIdx.x & 31, t = lane & 3, row = threadIdx.x >> 2;
  double f[4], h[4];  // D = F F' block by block: this row of F' and of F^-1
  factor_block(sh.elimination.pivot[row >> 2], row & 3, f, h);
  const bool zero = sh.squares[row] == 0;
  bool good = true;
  double r1[4][2];
#pragma unroll
  for (int c = 0; c < 4; c++) {
#pragma unroll
    for (int p = 0; p < 2; p++) {
      const int j = 8 * c + 2 * t + p;
      const double mine = j < (row & ~3) ? a[c][p] : j == row && !zero ? 1.0 : 0.0;
      double v = 0, r = 0;
#pragma unroll
      for (int s = 0; s < 4; s++) {
        const int k = (row & ~3) + s;
        v = fma(h[s], __shfl_sync(~0u, mine, (lane & 16) + 4 * s + t), v);
        r = fma(f[s], lt[k * 32 + (j ^ swizzle(k))], r);
      }
      const double scale = sh.scale[j];
      r1[c][p] = zero ? 0.0 : r * power_of_two(1023 - exponent_bits(scale));
      inverse[row * 32 + (j ^ swizzle(row))] = v * scale;
      good = good && sh.squares[j] * v * v <= CHOLESKY_GROWTH * CHOLESKY_GROWTH;
    }
  }
  __syncwarp();
#pragma unroll
  for (int c = 0; c < 4; c++) {
#pragma unroll
    for (int p = 0; p < 2; p++) {
      lt[row * 32 + ((8 * c + 2 * t + p) ^ swizzle(row))] = r1[c][p];
    }
  }
  return good;
}

/**
 * Q1 = X R1^-1, sixteen rows at a time, and this warp's part of Q1'Q1: the bundle's first tile to `top` in shared
 * memory, the second tile of each warp as V to the place of X, and its first tile to q1, because X of the first tile
 * must stay in shared memory. On the transpose, Q1' = R1^-T X', whose accumulators are the fragments of the Gram
 * matrix.
 */
template <int GROUPS>
__device__ __forceinline__ void orthonormalize(const double* tile, const double* inverse, double* top,
                                               const TilePlaces& place, const Bundle& bundle, int ld, int column,
                                               int live, double (&q1)[4][2][4], double (&part)[6][4]) {
  const int warp = threadIdx.x >> 5, g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
  double fa[3][8];  // R1^-T: blocks (0, 0), (1, 0), (1, 1)
#pragma unroll
  for (int i = 0; i < 8; i++) {
    const double* from = inverse + place.across[i >> 2][(i >> 1) & 1] + 256 * (i & 1);
    fa[0][i] = from[0];
    fa[1][i] = from[512];
    fa[2][i] = from[528];
  }
  clear(part);
#pragma unroll
  for (int step = GROUPS - 2; step >= 0; step -= 2) {
    const int b = step;  // the second tile first, while the registers for Q1 of the first are still free
    if (b < live) {
#pragma unroll
      for (int r = 0; r < 2; r++) {
        double (&q)[2][4] = q1[(b & 3) + r];
        const double* from = tile + (b >> 2) * CHOLESKY_SECOND + ((b & 3) + r) * 256;
        double fb[2][4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
          fb[0][i] = from[place.across[i >> 1][i & 1]];
          fb[1][i] = from[16 + place.across[i >> 1][i & 1]];
          q[0][i] = q[1][i] = 0;
        }
        mma_16x8x16(q[0], fa[0], fb[0]);
        mma_16x8x16(q[1], fa[1], fb[0]);
        mma_16x8x16(q[1], fa[2], fb[1]);
      }
      add_gram(q1[b & 3], q1[(b & 3) + 1], part);
#pragma unroll
      for (int r = 0; r < 2; r++) {
        if (b >= 4) {
          store_rows(tile_of(bundle, warp + 4, column) + g + static_cast<long long>(8 * ((b & 3) + r) + 2 * t) * ld, ld,
                     q1[(b & 3) + r]);
        } else if (warp == 0) {
          put_rows(top + (b + r) * 256, place, q1[b + r]);
        }
      }
    }
  }
}

/** Stores V of the first tile of each warp except warp 0 to the place of X. */
__device__ __forceinline__ void store_first_tile(const double (&q1)[4][2][4], const Bundle& bundle, int ld, int column,
                                                 int live) {
  const int warp = threadIdx.x >> 5, g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
  if (warp > 0 && live > 0) {
    double* to = tile_of(bundle, warp, column) + g + static_cast<long long>(2 * t) * ld;
#pragma unroll
    for (int b = 0; b < 4; b++) {
      store_rows(to + static_cast<long long>(8 * b) * ld, ld, q1[b]);
    }
  }
}

/** Restores X of this warp's second tile from shared memory at `from`, over the stored Q1. Ends with a barrier. */
template <int GROUPS>
__device__ __forceinline__ void restore_second_tile(const double* from, const TilePlaces& place, const Bundle& bundle,
                                                    int ld, int column, int live) {
  if (GROUPS > 4 && live > 4) {
    const int warp = threadIdx.x >> 5, g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
    double* to = tile_of(bundle, warp + 4, column) + g + static_cast<long long>(2 * t) * ld;
#pragma unroll 1
    for (int b = 0; b < 4; b++) {
      double x[2][4];
      get_rows(x, place, from + 256 * b);
      store_rows(to + static_cast<long long>(8 * b) * ld, ld, x);
    }
  }
  __syncthreads();
}

/** Columns 8 warp .. 8 warp + 7 of swizzled 32 x 32 matrices: this warp's part of the final products. */
struct Strip {
  int down[2], across[2];

  __device__ __forceinline__ explicit Strip(const TilePlaces& place) {
    const int warp = threadIdx.x >> 5;
#pragma unroll
    for (int i = 0; i < 2; i++) {
      down[i] = 16 * (warp >> 1) + (warp & 1 ? place.down[1][i] : place.down[0][i]);
      across[i] = 16 * (warp >> 1) + (warp & 1 ? place.across[1][i] : place.across[0][i]);
    }
  }

  /** As B fragments, rows 16 h .. 16 h + 15. */
  __device__ __forceinline__ void operand(const double* from, double (&b)[2][4]) const {
#pragma unroll
    for (int h = 0; h < 2; h++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        b[h][i] = from[512 * h + 256 * (i >> 1) + down[i & 1]];
      }
    }
  }

  /** As accumulators, rows 16 m + g and 16 m + 8 + g. */
  __device__ __forceinline__ void accumulator(const double* from, double (&d)[2][4]) const {
#pragma unroll
    for (int m = 0; m < 2; m++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        d[m][i] = from[512 * m + 256 * (i >> 1) + across[i & 1]];
      }
    }
  }
};

/** D += U B with U's blocks (0, 0), (0, 1), (1, 1). */
__device__ __forceinline__ void add_upper(const double (&u)[3][8], const double (&b)[2][4], double (&d)[2][4]) {
  mma_16x8x16(d[0], u[0], b[0]);
  mma_16x8x16(d[0], u[1], b[1]);
  mma_16x8x16(d[1], u[2], b[1]);
}

/**
 * Writes T to the VT slot: with N = -(Qtop - S)^-1 S, to first order in U, T' = N - N (U N + U'). n: N, swizzled; ut:
 * U' as accumulators; own: of the warp's CholeskyTile.
 */
__device__ __forceinline__ void write_t(const double* n, const double (&u)[3][8], double (&ut)[2][4],
                                        const TilePlaces& place, const Strip& strip, double* own, double* t_slot) {
  const int warp = threadIdx.x >> 5, g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
  double b[2][4], d[2][4];
  strip.operand(n, b);
  add_upper(u, b, ut);
  // Transposes accumulators to B fragments through shared memory.
#pragma unroll
  for (int m = 0; m < 2; m++) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      own[(16 * m + 8 * (i >> 1) + g) * 12 + 2 * t + (i & 1)] = ut[m][i];
    }
  }
  __syncwarp();
#pragma unroll
  for (int h = 0; h < 2; h++) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      b[h][i] = own[(16 * h + 8 * (i >> 1) + 2 * t + (i & 1)) * 12 + g];
    }
  }
  strip.accumulator(n, d);
#pragma unroll
  for (int m = 0; m < 2; m++) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
      double a[8];
#pragma unroll
      for (int i = 0; i < 8; i++) {
        a[i] = -n[512 * m + 256 * (i & 1) + 16 * h + place.across[i >> 2][(i >> 1) & 1]];
      }
      mma_16x8x16(d[m], a, b[h]);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
      t_slot[(8 * warp + 2 * t + (i & 1)) * 32 + 16 * m + g + 8 * (i >> 1)] = d[m][i];
    }
  }
}

/**
 * Factorizes the 32 columns of column tile `column` of a bundle of at most TILES row tiles, as householder_factorize
 * does, or returns false with the bundle unchanged. shared: CholeskyTiles<TILES>. On return sh.beta[k] is R_kk.
 * Called by all threads of the block, with a barrier after the writes of the tiles before it and one before the reads
 * after it.
 */
template <int TILES>
__device__ __forceinline__ bool cholesky_factorize(double* shared, CholeskyShared& sh, const Bundle& bundle, int ld,
                                                   int column, double* vt) {
  constexpr int GROUPS = (TILES + 3) / 4 * 4;  // of eight rows, per warp
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int g = lane >> 2, t = lane & 3, row = threadIdx.x >> 2;
  const int live = 4 * max(0, (bundle.size - warp + 3) / 4);
  const TilePlaces place;
  CholeskyTiles<TILES>& tiles = *reinterpret_cast<CholeskyTiles<TILES>*>(shared);
  // By doubles, because the compiler computes other addresses for tile[warp], with more instructions.
  double* own = tiles.tile[0].x + warp * SPARQR_TILE_DOUBLES;
  double* r1 = tiles.factor.r1;
  double* inverse = tiles.factor.inverse;
  double* top = tiles.factor.top;
  double part[6][4];
  load_tiles<GROUPS>(own, place, bundle, ld, column, live, part);
  put_gram(tiles.gram[0] + warp * SPARQR_GRAM_DOUBLES, part);
  __syncthreads();
  double a[4][2];
  sum_gram(tiles.gram[0], SPARQR_GRAM_DOUBLES, a);
  const bool in_range = scale_gram(sh, a, own, live);
  eliminate(sh.elimination, a, r1);
  __syncthreads();
  if (!__syncthreads_and(finish_cholesky(sh, a, r1, inverse) && in_range)) {
    return false;
  }
  double q1[4][2][4];
  orthonormalize<GROUPS>(own, inverse, top, place, bundle, ld, column, live, q1, part);
  __syncwarp();
  put_gram(own, part);
  __syncthreads();
  const bool zero = sh.squares[row] == 0;
  double u[4][2];
  sum_gram(tiles.tile[0].after.gram, SPARQR_TILE_DOUBLES, u);
  double* above = tiles.tile[0].x + (row >> 3) * SPARQR_TILE_DOUBLES + CHOLESKY_U + (row & 7) * 32;
  bool orthonormal = true;
#pragma unroll
  for (int c = 0; c < 4; c++) {
#pragma unroll
    for (int p = 0; p < 2; p++) {
      const int j = 8 * c + 2 * t + p;
      const double e = j > row ? u[c][p] : j == row && !zero ? u[c][p] - 1.0 : 0.0;
      orthonormal = orthonormal && fabs(e) <= CHOLESKY_DEFECT;
      u[c][p] = j == row ? 0.5 * e : e;
      above[j ^ swizzle(row)] = u[c][p];
      const double q1 = top[row * 32 + (j ^ swizzle(row))];
      a[c][p] = !zero ? q1 : j == row ? 1.0 : 0.0;
    }
  }
  if (!__syncthreads_and(orthonormal)) {
    restore_second_tile<GROUPS>(own + CHOLESKY_SECOND, place, bundle, ld, column, live);
    return false;
  }
  store_first_tile(q1, bundle, ld, column, live);
  if (vt != nullptr) {
    reconstruct(sh.elimination, a);
  } else if (threadIdx.x < 32) {
    sh.elimination.sign[threadIdx.x] = 1;  // V and T are not needed: any sign will do
  }
#pragma unroll
  for (int c = 0; c < 4; c++) {
#pragma unroll
    for (int p = 0; p < 2; p++) {
      const int j = 8 * c + 2 * t + p;
      inverse[row * 32 + (j ^ swizzle(row))] = zero && j == row ? 0.0 : a[c][p];
    }
  }
  __syncthreads();
  double upper[3][8];  // U as add_upper takes it
#pragma unroll
  for (int i = 0; i < 8; i++) {
    const double* from = tiles.tile[0].x + (i & 1) * SPARQR_TILE_DOUBLES + CHOLESKY_U + place.across[i >> 2][(i >> 1) & 1];
    upper[0][i] = from[0];
    upper[1][i] = from[16];
    upper[2][i] = from[2 * SPARQR_TILE_DOUBLES + 16];
  }
  const Strip strip(place);
  if (vt != nullptr) {
    const double s = sh.elimination.sign[row];
#pragma unroll
    for (int c = 0; c < 4; c++) {
      double z[2];
#pragma unroll
      for (int p = 0; p < 2; p++) {
        const int j = 8 * c + 2 * t + p;
        const double factor = j == row && !zero ? 1.0 + u[c][p] : u[c][p];
        z[p] = fma(-s, factor, top[row * 32 + (j ^ swizzle(row))]);
      }
      *reinterpret_cast<double2*>(vt + row * 32 + 8 * c + 2 * t) = make_double2(z[0], z[1]);
    }
    double ut[2][4];
#pragma unroll
    for (int m = 0; m < 2; m++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        ut[m][i] = own[CHOLESKY_U + 16 * m + place.down[i >> 1][i & 1]];
      }
    }
    write_t(inverse, upper, ut, place, strip, own, vt + SPARQR_TILE_DOUBLES);
  }
  double b[2][4], r[2][4];
  strip.operand(r1, b);
  strip.accumulator(r1, r);
  add_upper(upper, b, r);
#pragma unroll
  for (int m = 0; m < 2; m++) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int i = 16 * m + g + 8 * h, j = 8 * warp + 2 * t;
      const double s = sh.elimination.sign[i];
      const double2 out = make_double2(j >= i ? s * r[m][2 * h] : 0.0, j + 1 >= i ? s * r[m][2 * h + 1] : 0.0);
      *reinterpret_cast<double2*>(tile_of(bundle, 0, column) + static_cast<long long>(i) * ld + j) = out;
      if (j == i || j + 1 == i) {
        sh.beta[i] = j == i ? out.x : out.y;
      }
    }
  }
  __syncthreads();
  return true;
}
