/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Solves with the rows of R in a stage's output buffer, and their backward errors (triangular.cuh).
#include "back_substitution.cuh"
#include "forward_substitution.cuh"

/** R x = c. Grid: items. Block: 128 threads, as below; bounds for many blocks: most of them wait for memory. */
extern "C" __global__ void __launch_bounds__(SPARQR_THREADS, 5)
    sparqr_back_substitution(const __grid_constant__ SparqrSolve solve) {
  back_item(solve);
}

/** The backward error of x. */
extern "C" __global__ void __launch_bounds__(SPARQR_THREADS)
    sparqr_back_error(const __grid_constant__ SparqrSolve solve) {
  back_error(solve);
}

/** R'y = c. */
extern "C" __global__ void __launch_bounds__(SPARQR_THREADS, 6)
    sparqr_forward_substitution(const __grid_constant__ SparqrSolve solve) {
  forward_item(solve);
}

/** The backward error of y, and the bits of R. */
extern "C" __global__ void __launch_bounds__(SPARQR_THREADS)
    sparqr_forward_error(const __grid_constant__ SparqrSolve solve) {
  forward_error(solve);
}
