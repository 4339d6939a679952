/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.doctor;

import io.sparqr.configuration.Keys;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.DenseKernels;
import java.util.Arrays;
import org.apache.spark.SparkConf;

/** Which BLAS is used, and how fast it multiplies. */
final class BlasCheck implements HostCheck {

  /** Columns of the factors: 2 MB each, 0.27 GFLOP, a front of middling size. */
  private static final int SIZE = 512;

  private static final int TIMES = 5;

  private static final String CORE_TYPE = "OPENBLAS_CORETYPE";

  /** A core slower than the plan assumes by more than this factor is told of. */
  static final double SLOW = 4;

  @Override
  public String name() {
    return "blas";
  }

  @Override
  public void look(SparkConf conf, Findings findings) {
    DenseKernels kernels = BlasLoader.kernels();
    judge(
        kernels.isNative(),
        kernels.description(),
        rate(kernels),
        Keys.CORE_FLOPS.in(key -> conf.get(key, null)),
        findings);
  }

  /**
   * The verdict.
   *
   * @param rate flops a second of one core
   * @param assumed the same as the plan assumes
   */
  static void judge(
      boolean isNative, String description, double rate, double assumed, Findings findings) {
    double gflops = rate * 1e-9;
    if (!isNative) {
      boolean asked = description.contains("asked for");
      boolean unfit = description.contains(CORE_TYPE);
      findings.warning(
          asked
              ? "unset sparqr.blas and SPARQR_BLAS"
              : unfit ? "unset " + CORE_TYPE : "see the findings on natives and folders",
          "%s, dgemm %.3g GFLOP/s on a core: a solve takes about three times as long",
          description,
          gflops);
    } else if (rate * SLOW < assumed) {
      findings.warning(
          "spark.sparqr.model.coreFlops=%.2g".formatted(rate),
          "%s, dgemm %.3g GFLOP/s on a core, and plans assume %.3g: a shared or throttled machine,"
              + " or the wrong "
              + CORE_TYPE,
          description,
          gflops,
          assumed * 1e-9);
    } else {
      findings.ok("%s, dgemm %.3g GFLOP/s on a core", description, gflops);
    }
  }

  /** Flops a second of the fastest of some products, after one to warm up. */
  private static double rate(DenseKernels kernels) {
    int n = SIZE;
    double[] a = new double[n * n];
    double[] c = new double[n * n];
    Arrays.setAll(a, i -> 1.0 / (1 + i % n));
    double best = Double.POSITIVE_INFINITY;
    for (int k = 0; k <= TIMES; k++) {
      long begin = System.nanoTime();
      kernels.gemm(false, n, n, n, 1, a, 0, n, a, 0, n, 0, c, 0, n);
      double seconds = (System.nanoTime() - begin) * 1e-9;
      best = k == 0 ? best : Math.min(best, seconds);
    }
    return 2.0 * n * n * n / best;
  }
}
