/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.dense;

import dev.ludovic.netlib.blas.BLAS;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** gemm through a dev.ludovic.netlib instance, native or Java. */
final class NetlibKernels implements DenseKernels {

  private final BLAS blas;
  private final boolean isNative;
  private final String description;
  private final @Nullable String warning;

  NetlibKernels(BLAS blas, boolean isNative, String description) {
    this(blas, isNative, description, null);
  }

  NetlibKernels(BLAS blas, boolean isNative, String description, @Nullable String warning) {
    this.blas = blas;
    this.isNative = isNative;
    this.description = description;
    this.warning = warning;
  }

  @Override
  public void gemm(
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
      int ldc) {
    if (m == 0 || n == 0) {
      return;
    }
    String opA = transposeA ? "T" : "N";
    blas.dgemm(opA, "N", m, n, k, alpha, a, aOffset, lda, b, bOffset, ldb, beta, c, cOffset, ldc);
  }

  @Override
  public boolean isNative() {
    return isNative;
  }

  @Override
  public String description() {
    return description;
  }

  @Override
  public Optional<String> warning() {
    return Optional.ofNullable(warning);
  }
}
