/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// 32 x 32 tiles in shared memory: entry (r, c) at 32 r + (c xor swizzle(r)).
#pragma once

constexpr int SPARQR_TILE_DOUBLES = 1024;

__device__ __forceinline__ int swizzle(int r) {
  return (r & 1) | ((r & 2) << 2) | (r & 4);
}

/**
 * Places of this lane's fragment entries in a swizzled tile, [8-block parity][odd]: down at row 2 t + odd, column 8
 * parity + g; across at row g, column 8 parity + 2 t + odd. Rows 8 further: 256 doubles; columns 16 further: 16.
 */
struct TilePlaces {
  int down[2][2], across[2][2];

  __device__ __forceinline__ TilePlaces() {
    const int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
#pragma unroll
    for (int i = 0; i < 2; i++) {
#pragma unroll
      for (int k = 0; k < 2; k++) {
        down[i][k] = (2 * t + k) * 32 + ((8 * i + g) ^ swizzle(2 * t + k));
        across[i][k] = g * 32 + ((8 * i + 2 * t + k) ^ swizzle(g));
      }
    }
  }
};
