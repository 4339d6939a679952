/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// FP64 matrix multiply-accumulate of one warp, D (16 x 8) += A (16 x 16) B (16 x 8).
//
// Fragments, with g = lane / 4 and t = lane % 4 (PTX ISA, mma.m16n8k16 .f64):
//   A[i]: row g + 8 (i % 2), column t + 4 (i / 2)      i in [0, 8)
//   B[i]: row t + 4 i, column g                        i in [0, 4)
//   D[i]: row g + 8 (i / 2), column 2 t + i % 2        i in [0, 4)
// The 16 inner indices may be permuted as long as A and B agree; the kernels let slot t + 4 i stand
// for inner index 8 (i / 2) + 2 t + i % 2, so that a D fragment is an A fragment of the next product.
#pragma once
#ifdef SPARQR_HOST
#include "host_instructions.h"
#else

__device__ __forceinline__ void mma_16x8x16(double (&d)[4], const double (&a)[8], const double (&b)[4]) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};\n"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]),
        "d"(b[2]), "d"(b[3]));
#else
#pragma unroll
  for (int i = 0; i < 4; i++) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};\n"
                   : "+d"(d[2 * half]), "+d"(d[2 * half + 1])
                   : "d"(a[half + 2 * i]), "d"(b[i]));
    }
  }
#endif
}

/** D (8 x 8) += A (8 x 4) B (4 x 8); lane 4 g + t: A(g, t), B(t, g), D(g, 2 t + {0, 1}). */
__device__ __forceinline__ void mma_8x8x4(double (&d)[2], double a, double b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};\n"
               : "+d"(d[0]), "+d"(d[1])
               : "d"(a), "d"(b));
}
#endif
