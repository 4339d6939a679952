/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// What dense matrices alone have: products with Q and Q' of a front (dense/products.cuh), sums with which everything is
// checked (dense/sums.cuh), iterations of Robust PCA (dense/pursuit.cuh) and their SVD (dense/jacobi.cuh). Block: 128 threads,
// of the last one 1024.
#include "dense/jacobi.cuh"
#include "dense/products.cuh"
#include "dense/pursuit.cuh"
#include "dense/sums.cuh"

/** Grid: items x groups. Shared memory: as sparqr_round_8. */
extern "C" __global__ void __launch_bounds__(SPARQR_THREADS, 2)
    sparqr_product_8(const __grid_constant__ SparqrProduct product) {
  product_task<8>(product);
}

/** The same for bundles of up to 4. */
extern "C" __global__ void __launch_bounds__(SPARQR_THREADS, 2)
    sparqr_product_4(const __grid_constant__ SparqrProduct product) {
  product_task<4>(product);
}

extern "C" __global__ void __launch_bounds__(SPARQR_THREADS)
    sparqr_product_identity(const __grid_constant__ SparqrProduct product) {
  product_identity(product);
}

extern "C" __global__ void __launch_bounds__(SPARQR_THREADS)
    sparqr_product_signs(const __grid_constant__ SparqrProduct product) {
  product_signs(product);
}

extern "C" __global__ void __launch_bounds__(SPARQR_THREADS)
    sparqr_dense_product(const __grid_constant__ SparqrDense dense) {
  dense_product(dense);
}

extern "C" __global__ void __launch_bounds__(SPARQR_THREADS)
    sparqr_dense_sums(const __grid_constant__ SparqrDense dense) {
  dense_sums(dense);
}

extern "C" __global__ void __launch_bounds__(SPARQR_THREADS)
    sparqr_pursuit_start(const __grid_constant__ SparqrPursuit pursuit) {
  pursuit_start(pursuit);
}

extern "C" __global__ void __launch_bounds__(SPARQR_THREADS)
    sparqr_pursuit_step(const __grid_constant__ SparqrPursuit pursuit) {
  pursuit_step(pursuit);
}

extern "C" __global__ void __launch_bounds__(SPARQR_JACOBI_THREADS, 1)
    sparqr_jacobi(const __grid_constant__ SparqrJacobi its) {
  jacobi(its);
}
