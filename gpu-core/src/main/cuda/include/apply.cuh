/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Apply: A := A - V T' (V' A) for the row tiles of a bundle and a range of columns (SQR section
// 3.2.2), on the transpose: C' = A' V, W' = C' T, A' := A' - W' V'. Each warp keeps 16 columns of A in registers from
// load to store, as the A operand of the first product and the accumulator of the last; C and W pass from one product
// to the next without a shuffle (see mma.cuh).
//
// Tiles in shared memory are swizzled (tile.cuh): the fragments of the first and of the last product, one the transpose
// of the other, both load without conflicts.
#pragma once
#include "mma.cuh"
#include "stage.cuh"
#include "tile.cuh"

#ifdef SPARQR_HOST
#include "host_instructions.h"
#else
__device__ __forceinline__ void copy_async_8(double* shared, const double* global, bool live) {
  unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  int bytes = live ? 8 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;\n" ::"r"(to), "l"(global), "r"(bytes));
}

__device__ __forceinline__ void copy_async_wait() {
  asm volatile("cp.async.wait_all;\n" ::: "memory");
}
#endif

/** Shared memory of Apply for a bundle of `SIZE` row tiles; where the size is known at run time only: ApplyPlaces. */
template <int SIZE>
struct alignas(16) ApplyShared {
  double v[SIZE][SPARQR_TILE_DOUBLES];
  double t[SPARQR_TILE_DOUBLES];
  double exchange[SPARQR_WARPS][512];  // SPLIT = 2: the warps' halves of C
};
static_assert(sizeof(ApplyShared<8>) == 90112 && SPARQR_FITS<ApplyShared<8>, 8>, "");
static_assert(sizeof(ApplyShared<4>) == 57344 && SPARQR_FITS<ApplyShared<4>, 4>, "");

/** The parts of ApplyShared<size>. */
struct ApplyPlaces {
  double* v;
  double* t;
  double* exchange;

  __device__ __forceinline__ ApplyPlaces(double* shared, int size)
      : v(shared), t(shared + size * SPARQR_TILE_DOUBLES), exchange(t + SPARQR_TILE_DOUBLES) {}
};
static_assert(offsetof(ApplyShared<3>, t) == 3 * sizeof(double) * SPARQR_TILE_DOUBLES, "");
static_assert(offsetof(ApplyShared<3>, exchange) == 4 * sizeof(double) * SPARQR_TILE_DOUBLES, "");

/**
 * Starts the copy of a bundle's V and T into shared memory; apply_columns waits for it. The first tile and T come from
 * the VT slot, the others from column tile `column` of the front, in which columns >= `columns` hold no reflector.
 */
__device__ __forceinline__ void load_vt(double* shared, const Bundle& bundle, int ld, int column, int columns,
                                        const double* vt) {
  const ApplyPlaces to(shared, bundle.size);
  for (int i = threadIdx.x; i < SPARQR_TILE_DOUBLES; i += SPARQR_THREADS) {
    int r = i >> 5, c = i & 31;
    int place = (r << 5) + (c ^ swizzle(r));
    copy_async_8(to.v + place, vt + i, true);
    copy_async_8(to.t + place, vt + SPARQR_TILE_DOUBLES + i, true);
  }
  for (int s = 1; s < bundle.size; s++) {
    const double* v = bundle.row[s] + column * SPARQR_TILE;
    for (int i = threadIdx.x; i < SPARQR_TILE_DOUBLES; i += SPARQR_THREADS) {
      int r = i >> 5, c = i & 31;
      copy_async_8(to.v + s * SPARQR_TILE_DOUBLES + (r << 5) + (c ^ swizzle(r)), v + static_cast<long long>(r) * ld + c,
                   c < columns);
    }
  }
}

/**
 * Applies the V and T copied by load_vt to columns [from, to) of the bundle, both multiples of 16. TILES row tiles per
 * warp; SPLIT = 2: two warps share 16 columns, each with TILES of the 2 TILES row tiles, and add their halves of C
 * through shared memory. Called by all warps of the block.
 */
template <int TILES, int SPLIT>
__device__ __forceinline__ void apply_columns(double* shared, const Bundle& bundle, int ld, int from, int to) {
  constexpr int STRIPS = SPARQR_WARPS / SPLIT;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int g = lane >> 2, t = lane & 3;
  const int half = SPLIT == 2 ? (warp & 1) : 0;
  const int first = half * TILES;
  const ApplyPlaces places(shared, bundle.size);
  const double* v = places.v + first * SPARQR_TILE_DOUBLES;
  const double* tt = places.t;
  double* exchange = places.exchange;
  const int live = min(TILES, bundle.size - first);
  const TilePlaces place;
  for (int base = from; base < to; base += 16 * STRIPS) {
    const int column = base + 16 * (warp / SPLIT);
    const bool active = column < to;
    double a[TILES * 4][4];
    double c[4][4];
#pragma unroll
    for (int n = 0; n < 4; n++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        c[n][i] = 0;
      }
    }
    if (active) {
#pragma unroll
      for (int s = 0; s < TILES; s++) {
        if (s < live) {
          const double* p = bundle.row[first + s] + static_cast<long long>(2 * t) * ld + column + g;
#pragma unroll
          for (int b = 0; b < 4; b++) {
            a[4 * s + b][0] = p[0];
            a[4 * s + b][2] = p[8];
            a[4 * s + b][1] = p[ld];
            a[4 * s + b][3] = p[ld + 8];
            p += 8ll * ld;
          }
        }
      }
    }
    if (base == from) {
      copy_async_wait();
      __syncthreads();
    }
    if (active) {
#pragma unroll
      for (int s = 0; s < TILES; s++) {
        if (s < live) {
#pragma unroll
          for (int h = 0; h < 2; h++) {
            const int b2 = 2 * s + h;
            double fa[8];
#pragma unroll
            for (int i = 0; i < 8; i++) {
              fa[i] = a[2 * b2 + (i >> 2)][(i & 1) * 2 + ((i >> 1) & 1)];
            }
#pragma unroll
            for (int n = 0; n < 4; n++) {
              double fb[4];
#pragma unroll
              for (int i = 0; i < 4; i++) {
                fb[i] = v[b2 * 512 + (i >> 1) * 256 + (n >> 1) * 16 + place.down[n & 1][i & 1]];
              }
              mma_16x8x16(c[n], fa, fb);
            }
          }
        }
      }
    }
    if (SPLIT == 2) {
      // Both warps of a pair add half 0 + half 1, in this order.
      __syncthreads();
#pragma unroll
      for (int n = 0; n < 4; n++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
          exchange[warp * 512 + (n * 4 + i) * 32 + lane] = c[n][i];
        }
      }
      __syncthreads();
#pragma unroll
      for (int n = 0; n < 4; n++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
          double other = exchange[(warp ^ 1) * 512 + (n * 4 + i) * 32 + lane];
          c[n][i] = c[n][i] + other;
        }
      }
    }
    if (active) {
      double w[4][4];
#pragma unroll
      for (int n = 0; n < 4; n++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
          w[n][i] = 0;
        }
      }
#pragma unroll
      for (int k = 0; k < 2; k++) {
        double fa[8];
#pragma unroll
        for (int i = 0; i < 8; i++) {
          fa[i] = -c[2 * k + (i >> 2)][(i & 1) * 2 + ((i >> 1) & 1)];
        }
#pragma unroll
        for (int n = 0; n < 4; n++) {
          double fb[4];
#pragma unroll
          for (int i = 0; i < 4; i++) {
            fb[i] = tt[k * 512 + (i >> 1) * 256 + (n >> 1) * 16 + place.down[n & 1][i & 1]];
          }
          mma_16x8x16(w[n], fa, fb);
        }
      }
      double fw[2][8];
#pragma unroll
      for (int k = 0; k < 2; k++) {
#pragma unroll
        for (int i = 0; i < 8; i++) {
          fw[k][i] = w[2 * k + (i >> 2)][(i & 1) * 2 + ((i >> 1) & 1)];
        }
      }
#pragma unroll
      for (int s = 0; s < TILES; s++) {
        if (s < live) {
          double* p = bundle.row[first + s] + static_cast<long long>(2 * t) * ld + column + g;
#pragma unroll
          for (int b = 0; b < 4; b++) {
            const int rb = 4 * s + b;
#pragma unroll
            for (int k = 0; k < 2; k++) {
              double fb[4];
#pragma unroll
              for (int i = 0; i < 4; i++) {
                fb[i] = v[rb * 256 + k * 16 + place.across[i >> 1][i & 1]];
              }
              mma_16x8x16(a[rb], fw[k], fb);
            }
            p[0] = a[rb][0];
            p[8] = a[rb][2];
            p[ld] = a[rb][1];
            p[ld + 8] = a[rb][3];
            p += 8ll * ld;
          }
        }
      }
    }
  }
}
