/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.numeric.tall.ChunkReducer;
import io.sparqr.numeric.tall.TallFront;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Seconds of R of a dense matrix in an array of the host, on one device ({@link TallFront}), by
 * lanes and sizes of a chunk: {@code TallFrontSpeed REPEAT MxN...}. The first run prepares task
 * lists and memory. Each R is checked by the norms of its columns.
 */
final class TallFrontSpeed {

  private static final int[] LANES = {1, 2};

  /** Doubles of a chunk, as powers of two. */
  private static final int[] CHUNKS = {22, 25};

  private TallFrontSpeed() {}

  /** See the class. */
  public static void main(String[] args) {
    int repeat = Integer.parseInt(args[0]);
    var sessions = new DeviceSessions(TestDevice.driver(), 10_000);
    int threads = Runtime.getRuntime().availableProcessors();
    for (String size : Arrays.asList(args).subList(1, args.length)) {
      String[] part = size.split("x");
      int m = Integer.parseInt(part[0]);
      int n = Integer.parseInt(part[1]);
      double[] a = matrix(m, n);
      for (int lanes : LANES) {
        for (int chunk : CHUNKS) {
          List<ChunkReducer> reducers = new ArrayList<>();
          int rows = ChunkReducer.chunkRows(n, 1 << chunk);
          for (int k = 0; k < lanes; k++) {
            reducers.add(
                new ChunkReducer(
                    () -> new CudaSubtreeFactorizer(sessions, 0, null), n, rows, threads));
          }
          String what = "%s, %d lanes, chunks of %,d rows".formatted(size, lanes, rows);
          try (var front = new TallFront(reducers)) {
            measure(front, a, n, repeat, what);
          }
          reducers.forEach(ChunkReducer::close);
        }
      }
    }
    sessions.closeIdle();
  }

  static double[] matrix(int m, int n) {
    double[] a = new double[Math.multiplyExact(m, n)];
    IntStream.range(0, m)
        .parallel()
        .forEach(
            i -> {
              var random = new SplittableRandom(i);
              for (int k = 0; k < n; k++) {
                a[i * n + k] = 2 * random.nextDouble() - 1;
              }
            });
    return a;
  }

  private static void measure(TallFront front, double[] a, int n, int repeat, String what) {
    double[] seconds = new double[repeat];
    double first = 0;
    double off = 0;
    for (int k = -1; k < repeat; k++) {
      long begin = System.nanoTime();
      front.rows(a, 0, a.length / n);
      double[] r = front.r();
      double taken = (System.nanoTime() - begin) * 1e-9;
      if (k < 0) {
        first = taken;
        off = departure(a, n, r);
      } else {
        seconds[k] = taken;
      }
    }
    Arrays.sort(seconds);
    double median = seconds[repeat / 2];
    System.out.printf(
        Locale.ROOT,
        "%s | first %.3f, median %.4f, least %.4f s | %.1f GB/s, %.2f TFLOP/s | norms off by %.1e%n",
        what,
        first,
        median,
        seconds[0],
        8e-9 * a.length / median,
        2e-12 * a.length * n / median,
        off);
  }

  /** The largest relative error of the norm of one in sixteen columns. */
  private static double departure(double[] a, int n, double[] r) {
    return IntStream.range(0, (n + 15) / 16)
        .parallel()
        .mapToDouble(
            p -> {
              int j = 16 * p;
              double of = 0;
              double given = 0;
              for (int i = 0; i <= j; i++) {
                of += r[i + j * n] * r[i + j * n];
              }
              for (int at = j; at < a.length; at += n) {
                given += a[at] * a[at];
              }
              return Math.abs(Math.sqrt(of / given) - 1);
            })
        .max()
        .orElseThrow();
  }
}
