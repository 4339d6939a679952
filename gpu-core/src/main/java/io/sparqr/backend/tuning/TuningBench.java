/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.tuning;

import io.sparqr.symbolic.Tuning;

/** What measures. Not thread-safe. */
public interface TuningBench extends AutoCloseable {

  /**
   * One measurement. What is done for the first time with a tuning, such as layouts and memory, is
   * not in it.
   *
   * @return seconds, positive: of the kernels; of {@link Workload#CHUNKS} all of them
   */
  double seconds(Workload workload, Tuning tuning);

  /** Flops that the factorization takes without tiles: the same for every tuning. */
  double flops(Workload workload);

  /** A workload with its sizes, for a table's head. */
  String describe(Workload workload);

  /** Frees what is held; the device stays with its owner. */
  @Override
  void close();
}
