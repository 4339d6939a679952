/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
// Column sums over the input and the output of a stage, and their comparison (column_sums.cuh).
#include "column_sums.cuh"
#include "stage.cuh"

/** Column sums over the stage's packed output rows. Grid: chunks. Block: 128 threads, as below. */
extern "C" __global__ void __launch_bounds__(SPARQR_THREADS)
    sparqr_output_sums(const __grid_constant__ SparqrSums sums) {
  packed_sums(sums, false);
}

/** Over input blocks. */
extern "C" __global__ void __launch_bounds__(SPARQR_THREADS)
    sparqr_block_sums(const __grid_constant__ SparqrSums sums) {
  packed_sums(sums, true);
}

/** Over right-hand sides among the input S entries, then over the entries, then probes of several right-hand sides. */
extern "C" __global__ void __launch_bounds__(SPARQR_THREADS) sparqr_rhs_sums(const __grid_constant__ SparqrSums sums) {
  rhs_sums(sums);
}

extern "C" __global__ void __launch_bounds__(SPARQR_THREADS)
    sparqr_entry_sums(const __grid_constant__ SparqrSums sums) {
  entry_sums(sums);
}

extern "C" __global__ void __launch_bounds__(SPARQR_THREADS)
    sparqr_rhs_probe_sums(const __grid_constant__ SparqrSums sums) {
  rhs_probe_sums(sums);
}

/** The comparison of the two: the probe's norm first, then departures. */
extern "C" __global__ void __launch_bounds__(SPARQR_THREADS)
    sparqr_probe_norm(const __grid_constant__ SparqrDepartures departures) {
  probe_norm(departures);
}

extern "C" __global__ void __launch_bounds__(SPARQR_THREADS)
    sparqr_departures(const __grid_constant__ SparqrDepartures all) {
  departures(all);
}
