/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import java.util.Optional;

/** The only level-3 operation of the dense factorizations. Stateless and thread-safe. */
public interface DenseKernels {

  /**
   * C := beta C + alpha op(A) B, all column-major; op(A) is m x k, B is k x n, C is m x n. No
   * operand may overlap C.
   *
   * @param transposeA whether op(A) = A'
   */
  void gemm(
      boolean transposeA,
      int m,
      int n,
      int k,
      double alpha,
      double[] a,
      int aOffset,
      int lda,
      double[] b,
      int bOffset,
      int ldb,
      double beta,
      double[] c,
      int cOffset,
      int ldc);

  /** Whether calls go to native code, in which case tiny operands are faster in Java. */
  boolean isNative();

  /** Library, version, core type, or the reason for pure Java. One line, for the report. */
  String description();

  /** What is wrong with them in a line, such as native ones that could not be loaded, and why. */
  default Optional<String> warning() {
    return Optional.empty();
  }
}
