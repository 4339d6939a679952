/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.IntConsumer;

/**
 * Q and R of dense matrices on one device ({@link CudaDenseQr}): milliseconds of the kernels, and
 * seconds from an array of the host to R, and to Q, on the host. {@code DenseQrSpeed REPEAT MxN[+-]
 * ...}; with +, all m columns of Q, too, with -, R alone.
 */
public final class DenseQrSpeed {

  private DenseQrSpeed() {}

  /** See the class. */
  public static void main(String[] args) {
    int repeat = Integer.parseInt(args[0]);
    var sessions = new DeviceSessions(TestDevice.driver(), 10_000);
    int threads = Runtime.getRuntime().availableProcessors();
    for (String size : Arrays.asList(args).subList(1, args.length)) {
      boolean full = size.endsWith("+");
      boolean alone = size.endsWith("-");
      String[] part = size.replaceAll("[-+]", "").split("x");
      int m = Integer.parseInt(part[0]);
      int n = Integer.parseInt(part[1]);
      double[] a = TallFrontSpeed.matrix(m, n);
      for (boolean keepQ : alone ? List.of(false) : List.of(false, true)) {
        long begin = System.nanoTime();
        try (var qr = new CudaDenseQr(sessions, 0, m, n, keepQ, threads)) {
          qr.factor(a);
          report(
              size, keepQ ? "R, Q kept, first" : "R, first", 1e-9 * (System.nanoTime() - begin), 0);
          double[] kernels = new double[repeat];
          double seconds =
              median(
                  repeat,
                  k -> {
                    qr.factor(a);
                    kernels[k] = qr.kernelMillis();
                  });
          Arrays.sort(kernels);
          String way = keepQ ? "R, Q kept" : qr.byGram() ? "R by its Gram matrix" : "R";
          report(size, way, seconds, kernels[repeat / 2]);
          if (keepQ) {
            product(size, "thin Q", qr, n, repeat);
            if (full) {
              product(size, "full Q", qr, m, repeat);
            }
            fetched(size, qr, repeat);
          }
        }
      }
    }
    sessions.closeIdle();
  }

  private static void product(String size, String what, CudaDenseQr qr, int width, int repeat) {
    qr.make(width);
    double[] kernels = new double[repeat];
    double seconds =
        median(
            repeat,
            k -> {
              qr.make(width);
              kernels[k] = qr.kernelMillis();
            });
    Arrays.sort(kernels);
    report(size, what + " left on the device", seconds, kernels[repeat / 2]);
  }

  private static void fetched(String size, CudaDenseQr qr, int repeat) {
    double seconds = median(repeat, k -> qr.thinQ());
    report(size, "thin Q to the host, checked", seconds, qr.kernelMillis());
  }

  private static double median(int repeat, IntConsumer step) {
    double[] seconds = new double[repeat];
    for (int k = 0; k < repeat; k++) {
      long begin = System.nanoTime();
      step.accept(k);
      seconds[k] = 1e-9 * (System.nanoTime() - begin);
    }
    Arrays.sort(seconds);
    return seconds[repeat / 2];
  }

  private static void report(String size, String what, double seconds, double millis) {
    System.out.printf(
        Locale.ROOT, "%s | %s | %.4f s | kernels %.3f ms%n", size, what, seconds, millis);
  }
}
