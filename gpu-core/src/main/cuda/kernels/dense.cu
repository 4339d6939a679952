/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// What dense matrices alone have: products with Q and Q' of a front (dense/products.cuh), sums with which everything is
// checked (dense/sums.cuh), iterations of Robust PCA (dense/pursuit.cuh) and their SVD (dense/jacobi.cuh), and R of a tall one
// by its Gram matrix (dense/tall.cuh, dense/tall_factor.cuh). Block: 128 threads, if not said otherwise.
#include "dense/jacobi.cuh"
#include "dense/products.cuh"
#include "dense/pursuit.cuh"
#include "dense/sums.cuh"
#include "dense/tall.cuh"
#include "dense/tall_factor.cuh"

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

extern "C" __global__ void __launch_bounds__(SPARQR_TALL_THREADS, 1)
    sparqr_tall_pass_1(const __grid_constant__ SparqrTall tall) {
  tall_pass<1>(tall);
}

extern "C" __global__ void __launch_bounds__(SPARQR_TALL_THREADS, 1)
    sparqr_tall_pass_2(const __grid_constant__ SparqrTall tall) {
  tall_pass<2>(tall);
}

extern "C" __global__ void __launch_bounds__(SPARQR_TALL_THREADS, 1)
    sparqr_tall_pass_3(const __grid_constant__ SparqrTall tall) {
  tall_pass<3>(tall);
}

extern "C" __global__ void __launch_bounds__(SPARQR_TALL_THREADS, 1)
    sparqr_tall_pass_4(const __grid_constant__ SparqrTall tall) {
  tall_pass<4>(tall);
}

extern "C" __global__ void __launch_bounds__(SPARQR_TALL_SUM_THREADS)
    sparqr_tall_sum(const __grid_constant__ SparqrTall tall) {
  tall_sum(tall);
}

extern "C" __global__ void __launch_bounds__(SPARQR_TALL_THREADS, 1)
    sparqr_tall_cholesky(const __grid_constant__ SparqrTall tall) {
  tall_cholesky(tall);
}

extern "C" __global__ void __launch_bounds__(SPARQR_TALL_THREADS)
    sparqr_tall_pack(const __grid_constant__ SparqrTall tall) {
  tall_pack(tall);
}

extern "C" __global__ void __launch_bounds__(SPARQR_THREADS)
    sparqr_tall_finish(const __grid_constant__ SparqrTall tall) {
  tall_finish(tall);
}
