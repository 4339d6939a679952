/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Products with Q and Q' of one tiled front on a matrix C that lies beside it: the front's V and T are applied once more,
// bundle by bundle (docs/design/explicit-q.md). Q' takes the bundles in the order in which they were factorized and T', Q
// takes them backwards and T, since H = I - V T V' and H' = I - V T' V'.
//
// A task is one bundle and one group of C's columns. Groups do not wait for each other. In a group, a task waits for
// those that had one of its row tiles before: each row tile has a count of what was done to it, and the item says which
// counts it needs. Blocks take tasks in the order in which they start, items one after the other, so what a task waits
// for has been taken before it: no deadlock.
#pragma once
#include "apply.cuh"
#include "waiting.cuh"

/** A bundle; written by io.sparqr.backend.staged.product.ProductList. */
struct alignas(16) SparqrProductItem {
  int32_t size;     // row tiles
  int32_t column;   // column tile of its reflectors
  int32_t slot;     // of V's first tile and T, from the front's first
  int32_t unused;
  int32_t tile[SPARQR_MAX_BUNDLE];
  uint32_t need[SPARQR_MAX_BUNDLE];  // what must have been done to these row tiles
};
static_assert(sizeof(SparqrProductItem) == 80, "");
static_assert(offsetof(SparqrProductItem, tile) == 16, "");
static_assert(offsetof(SparqrProductItem, need) == 48, "");

struct SparqrProduct {
  const SparqrProductItem* items;
  const double* front;           // its first entry
  const double* vt;              // its first slot
  double* c;                     // rows padded as the front's, columns padded to whole tiles
  unsigned long long* progress;  // tickets, and SPARQR_GIVEN_UP
  unsigned* done;                // by row tile and group
  unsigned long long wait_nanos;
  int32_t ld;          // of the front
  int32_t fn;          // columns with reflectors
  int32_t c_ld;
  int32_t c_columns;   // a multiple of 32
  int32_t group;       // columns of a group, a multiple of 32
  int32_t groups;
  int32_t height;      // rows of R, whose signs are made positive
  int32_t transposed;  // 1: Q'
  int32_t identity;    // 1: C was the identity, so a bundle changes columns from its own on only
  int32_t unused;
};
static_assert(sizeof(SparqrProduct) == 96, "");

/** As load_vt, with T transposed if `flip`; V from one place, C elsewhere. */
__device__ __forceinline__ void load_product(double* shared, const Bundle& v, int ld, int column, int columns,
                                             const double* vt, bool flip) {
  load_vt(shared, v, ld, column, columns, vt);
  if (flip) {
    const ApplyPlaces to(shared, v.size);
    copy_async_wait();
    __syncthreads();
    // Threads exchange entries across the diagonal, each pair once.
    for (int i = threadIdx.x; i < SPARQR_TILE_DOUBLES; i += SPARQR_THREADS) {
      const int r = i >> 5, c = i & 31;
      if (r < c) {
        double* upper = to.t + (r << 5) + (c ^ swizzle(r));
        double* lower = to.t + (c << 5) + (r ^ swizzle(c));
        const double x = *upper;
        *upper = *lower;
        *lower = x;
      }
    }
  }
}

#ifndef SPARQR_HOST
/** Takes the next item and its group; false: given up. Called by all threads. */
__device__ __forceinline__ bool next_product(const SparqrProduct& p, SparqrProductItem& item, int& group) {
  constexpr int WORDS = sizeof(SparqrProductItem) / sizeof(int4);
  bool up = false;
  if (threadIdx.x < 32) {
    const int lane = threadIdx.x;
    long long number = 0;
    if (lane == 0) {
      number = atomicAdd(p.progress, 1ull);
    }
    number = __shfl_sync(~0u, number, 0);
    up = number < 0;
    number = up ? 0 : number;
    const int mine = static_cast<int>(number % p.groups);
    if (lane < WORDS) {
      reinterpret_cast<int4*>(&item)[lane] = reinterpret_cast<const int4*>(p.items + number / p.groups)[lane];
    }
    if (lane == 0) {
      group = mine;
    }
    __syncwarp();
    const bool waits = lane < item.size;
    const unsigned need = waits ? item.need[lane] : 0;
    const unsigned* word = p.done + static_cast<long long>(waits ? item.tile[lane] : 0) * p.groups + mine;
    unsigned long long since = 0;
    while (!up) {
      unsigned have = need;
      if (need > 0) {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(have) : "l"(word) : "memory");
      }
      if (__all_sync(~0u, have >= need)) {
        break;
      }
      const bool late = lane == 0 && given_up(p.progress, p.wait_nanos, since);
      up = __any_sync(~0u, late);
    }
  }
  return !__syncthreads_or(up);
}

/** One task of a product: grid items x groups, dynamic shared memory as for rounds. */
template <int BUNDLE>
__device__ __forceinline__ void product_task(const SparqrProduct& p) {
  extern __shared__ __align__(16) double shared[];
  __shared__ SparqrProductItem item;
  __shared__ Bundle v, c;
  __shared__ int group;
  if (!next_product(p, item, group)) {
    return;
  }
  const int lane = threadIdx.x;
  if (lane < item.size) {
    const long long row = static_cast<long long>(item.tile[lane]) * SPARQR_TILE;
    // Read only.
    v.row[lane] = const_cast<double*>(p.front) + row * p.ld;
    c.row[lane] = p.c + row * p.c_ld;
  }
  if (lane == 0) {
    v.size = item.size;
    c.size = item.size;
  }
  __syncthreads();
  const int first = item.column * SPARQR_TILE;
  const int from = max(group * p.group, p.identity ? first : 0);
  const int to = min((group + 1) * p.group, p.c_columns);
  if (from < to) {
    const double* vt = p.vt + static_cast<long long>(item.slot) * SPARQR_VT_DOUBLES;
    load_product(shared, v, p.ld, item.column, min(SPARQR_TILE, p.fn - first), vt, p.transposed == 0);
    constexpr int HALF = (BUNDLE + 1) / 2;
    if (BUNDLE > 4 && item.size > 4) {
      apply_columns<HALF, 2>(shared, c, p.c_ld, from, to);
    } else {
      apply_columns<(BUNDLE < 4 ? BUNDLE : 4), 1>(shared, c, p.c_ld, from, to);
    }
  }
  __syncthreads();
  if (lane < item.size) {
    unsigned* word = p.done + static_cast<long long>(item.tile[lane]) * p.groups + group;
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(word) : "memory");
  }
}

/** C := the identity, whose rows of R with a negative diagonal are negated. C is zero. Grid: any. */
__device__ __forceinline__ void product_identity(const SparqrProduct& p) {
  for (int i = blockIdx.x * SPARQR_THREADS + threadIdx.x; i < p.c_columns; i += gridDim.x * SPARQR_THREADS) {
    const bool negated = i < p.height && p.front[static_cast<long long>(i) * p.ld + i] < 0;
    p.c[static_cast<long long>(i) * p.c_ld + i] = negated ? -1.0 : 1.0;
  }
}

/** Negates the rows of C whose row of R has a negative diagonal. Grid: rows of R. */
__device__ __forceinline__ void product_signs(const SparqrProduct& p) {
  const long long i = blockIdx.x;
  if (p.front[i * p.ld + i] < 0) {
    for (int j = threadIdx.x; j < p.c_columns; j += SPARQR_THREADS) {
      p.c[i * p.c_ld + j] = -p.c[i * p.c_ld + j];
    }
  }
}
#endif
