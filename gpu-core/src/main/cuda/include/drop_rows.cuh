/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Leftover rows (drop.cuh): their places, and those passed on by children. Column tile j of their row tile q is block
// off[q] + j; blocks are the row tile after the front's last, then tiles below the diagonal, which hold remains of V
// that are no longer needed.
#pragma once
// First, because it includes the emulation of CUDA for an ordinary compiler.
#include "front_tasks.cuh"
#include "assemble.cuh"
#include "drop_record.cuh"

/** The shape of a front for DROP tasks. */
struct DropShape {
  int rows;     // min(fm, fn)
  int panels;   // column tiles with a diagonal entry of one of these rows
  int pivots;   // those of them with a pivot of the front
  int tiles;    // column tiles
  int blocks;   // available for leftover rows
  int whole;    // column tiles without right-hand sides or padding in them
  int last;     // row tiles
  int slots;    // VT slots of a panel

  __device__ __forceinline__ explicit DropShape(const SparqrFront& front) {
    rows = min(front.fm, front.fn);
    panels = (rows + 31) >> 5;
    pivots = (min(front.fp, rows) + 31) >> 5;
    tiles = front.column_tiles;
    whole = front.fn >> 5;
    last = front.row_tiles;
    const int square = min(whole, last);
    blocks = tiles + square * (square - 1) / 2 + max(0, last - whole) * whole;
    slots = (tiles + 2) / 3 + 1;
  }

  /** Number of columns of panel c with a pivot. */
  __device__ __forceinline__ int width(int c) const {
    return min(32, rows - 32 * c);
  }

  /** First entry of block m. */
  __device__ __forceinline__ double* block(const SparqrStage& stage, const SparqrFront& front, int m) const {
    int i = last, k = m;
    if (m >= tiles) {
      m -= tiles;
      const int square = min(whole, last);
      const int triangle = square * (square - 1) / 2;
      if (m < triangle) {
        i = static_cast<int>((1.0f + sqrtf(1.0f + 8.0f * static_cast<float>(m))) * 0.5f);
        while (i * (i - 1) / 2 > m) {
          i--;
        }
        while ((i + 1) * i / 2 <= m) {
          i++;
        }
        k = m - i * (i - 1) / 2;
      } else {
        i = whole + (m - triangle) / whole;
        k = (m - triangle) % whole;
      }
    }
    return row_tile(stage, front, i) + 32 * k;
  }
};

/** Row tiles of bundle b of a panel in column tile j; row[s] + 32 j is the tile. One thread per row tile. */
template <int BUNDLE>
__device__ __forceinline__ void drop_bundle(Bundle& bundle, const SparqrStage& stage, const SparqrFront& front,
                                            const DropShape& shape, const Drop& drop, int c, int b, int waiting, int j) {
  const int first = b * (BUNDLE - 1), s = threadIdx.x;
  const int size = 1 + min(BUNDLE - 1, waiting - first);
  if (s == 0) {
    bundle.size = size;
    bundle.row[0] = row_tile(stage, front, c);
  } else if (s < size) {
    bundle.row[s] = shape.block(stage, front, drop.off(first + s - 1) + j) - 32 * j;
  }
}

/** Sets a block to zero. */
__device__ __forceinline__ void clear_block(double* block, int ld) {
  for (int i = threadIdx.x; i < 1024; i += SPARQR_THREADS) {
    block[static_cast<long long>(i >> 5) * ld + (i & 31)] = 0;
  }
}

/** Entry (row, column of tile j) of a leftover row. */
__device__ __forceinline__ double* left_entry(const SparqrStage& stage, const SparqrFront& front,
                                              const DropShape& shape, const Drop& drop, int row, int j) {
  return shape.block(stage, front, drop.off(row >> 5) + j) + static_cast<long long>(row & 31) * front.ld;
}

/** Takes blocks for row tile q in column tiles >= `first`. Called by one thread; false: none left. */
__device__ __forceinline__ bool open_tile(const DropShape& shape, const Drop& drop, int q, int first) {
  const int from = drop.word[DROP_BLOCKS];
  if (q >= shape.tiles || from + shape.tiles - first > shape.blocks) {
    return false;
  }
  drop.off(q) = from - first;
  drop.word[DROP_BLOCKS] = from + shape.tiles - first;
  return true;
}

/** Gathers the leftover rows of children, children ascending. False: no room. */
__device__ __forceinline__ bool gather_rows(const SparqrStage& stage, const SparqrFront& front, const DropShape& shape,
                                            const Drop& drop) {
  __shared__ int child, room;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  if (threadIdx.x == 0) {
    child = -1;
    room = 1;
  }
  __syncthreads();
  while (true) {
    if (threadIdx.x == 0) {
      int best = 0x7fffffff;
      for (int k = drop.word[DROP_CHILD] - 1; k >= 0;) {
        best = k > child ? min(best, k) : best;
        k = Drop(stage, stage.fronts[k]).word[DROP_NEXT] - 1;
      }
      child = best;
      if (best != 0x7fffffff) {
        const int to = drop.word[DROP_LEFT] + Drop(stage, stage.fronts[best]).word[DROP_LEFT];
        for (int q = (drop.word[DROP_LEFT] + 31) >> 5; q < (to + 31) >> 5 && room; q++) {
          room = open_tile(shape, drop, q, 0);
        }
      }
    }
    __syncthreads();
    if (child == 0x7fffffff || !room) {
      return room;
    }
    const SparqrFront& source = stage.fronts[child];
    const Drop from(stage, source);
    const DropShape of(source);
    const int at = drop.word[DROP_LEFT], count = from.word[DROP_LEFT];
    for (int q = (at + 31) >> 5; q < (at + count + 31) >> 5; q++) {
      for (int j = 0; j < shape.tiles; j++) {
        clear_block(shape.block(stage, front, drop.off(q) + j), front.ld);
      }
    }
    __syncthreads();
    const int stop = from.word[DROP_STOP], begin = stop < of.panels ? 32 * stop : of.rows;
    const int32_t* column_map = stage.maps + source.column_map - source.fp;
    for (int i = warp; i < count; i += SPARQR_WARPS) {
      for (int k = begin + lane; k < source.fn + source.rhs; k += 32) {
        const int to = column_map[k];
        left_entry(stage, front, shape, drop, at + i, to >> 5)[to & 31] =
            left_entry(stage, source, of, from, i, k >> 5)[k & 31];
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      drop.word[DROP_LEFT] = at + count;
    }
  }
}
