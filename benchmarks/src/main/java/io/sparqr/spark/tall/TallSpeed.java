/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.tall;

import io.sparqr.backend.BackendChoice;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.DenseKernels;
import io.sparqr.numeric.dense.DenseQr;
import io.sparqr.spark.BenchmarkSpark;
import io.sparqr.threads.Crew;
import java.util.Arrays;
import java.util.Locale;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.Function;
import org.apache.spark.mllib.linalg.Matrix;
import org.apache.spark.mllib.linalg.QRDecomposition;
import org.apache.spark.mllib.linalg.Vector;
import org.apache.spark.mllib.linalg.Vectors;
import org.apache.spark.mllib.linalg.distributed.RowMatrix;
import org.apache.spark.storage.StorageLevel;

/**
 * Seconds of QR of a tall dense matrix whose rows are in memory, beside MLlib's {@code
 * RowMatrix.tallSkinnyQR} in the same run: {@code TallSpeed ROWS COLUMNS [REPEAT [PARTITIONS]]}, in
 * local Spark or under {@code -Dspeed.master}; with {@code -Dspeed.mllib=false} without it; with
 * {@code -Dspeed.devices=true} also R alone on devices. Each way is run once in each of REPEAT
 * rounds, so that what else the machine does meets all of them; R alone, R and all rows of Q
 * (counted, not fetched), and X of one right-hand side. Ours from {@code double[]}, MLlib's from
 * its vectors. Before it the floors: 2 m n^2 flops at the rate of dgemm on all cores, the same by a
 * single loop over chunks without Spark, and the bytes of the matrix at the rate of reading.
 */
public final class TallSpeed {

  private static final long SEED = 20261128;
  private static final int SIDE = 1024;

  private TallSpeed() {}

  private static double[] row(long id, int n) {
    var random = new Random(SEED + id * 0x9E3779B97F4A7C15L);
    double[] row = new double[n];
    for (int k = 0; k < n; k++) {
      row[k] = random.nextGaussian();
    }
    return row;
  }

  private interface Way {
    Object run();
  }

  /** See the class. */
  public static void main(String[] args) {
    long m = Long.parseLong(args[0]);
    int n = Integer.parseInt(args[1]);
    int repeat = args.length > 2 ? Integer.parseInt(args[2]) : 15;
    SparkConf conf =
        BenchmarkSpark.cluster(
            System.getProperty("speed.master", "local[*]"), "tall matrices", "3g");
    try (var context = new JavaSparkContext(conf)) {
      context.setLogLevel("ERROR");
      int cores = context.defaultParallelism();
      int partitions = args.length > 3 ? Integer.parseInt(args[3]) : cores;
      System.out.printf(
          "%d x %d, %d partitions, %d cores, %s%n",
          m, n, partitions, cores, BlasLoader.kernels().description());
      floors(m, n, cores);
      JavaRDD<double[]> rows =
          context
              .parallelize(IntStream.range(0, partitions).boxed().toList(), partitions)
              .flatMap(
                  p ->
                      LongStream.range(m * p / partitions, m * (p + 1) / partitions)
                          .mapToObj(id -> row(id, n))
                          .iterator())
              .persist(StorageLevel.MEMORY_ONLY());
      JavaRDD<double[]> labels =
          rows.map(a -> new double[] {a[0] - a[a.length - 1] + 1})
              .persist(StorageLevel.MEMORY_ONLY());
      JavaRDD<Vector> vectors = rows.map((Function<double[], Vector>) Vectors::dense);
      vectors.persist(StorageLevel.MEMORY_ONLY());
      long there = rows.count() + labels.count() + vectors.count();
      if (there != 3 * m) {
        throw new IllegalStateException(there + " rows");
      }
      measure(rows, labels, vectors, repeat);
    }
  }

  private static void measure(
      JavaRDD<double[]> rows, JavaRDD<double[]> labels, JavaRDD<Vector> vectors, int repeat) {
    String[] names = {
      "R, Sparqr",
      "R on devices, Sparqr",
      "R, MLlib",
      "R and Q, Sparqr",
      "R and Q, Sparqr, Q stored",
      "R and Q, MLlib",
      "x, Sparqr"
    };
    Way[] ways = {
      () -> r(rows),
      () -> onDevices(rows),
      () -> mllib(vectors, false).R(),
      () -> withQ(rows, QStorage.RECOMPUTED),
      () -> withQ(rows, QStorage.STORED),
      () -> mllib(vectors, true).Q().rows().count(),
      () -> x(rows, labels)
    };
    boolean mllib = !"false".equals(System.getProperty("speed.mllib"));
    boolean devices = Boolean.getBoolean("speed.devices");
    var seconds = new double[ways.length][repeat];
    for (int k = 0; k < repeat; k++) {
      for (int w = 0; w < ways.length; w++) {
        if (!mllib && names[w].contains("MLlib") || !devices && names[w].contains("devices")) {
          continue;
        }
        long begin = System.nanoTime();
        ways[w].run();
        seconds[w][k] = (System.nanoTime() - begin) * 1e-9;
      }
    }
    for (int w = 0; w < ways.length; w++) {
      if (seconds[w][0] > 0) {
        print(names[w], seconds[w]);
      }
    }
    if (mllib) {
      compare(r(rows), mllib(vectors, false).R());
    }
  }

  private static org.apache.spark.ml.linalg.DenseMatrix r(JavaRDD<double[]> rows) {
    try (var qr = TallSkinnyQR.builder().factorize(rows)) {
      return qr.r();
    }
  }

  private static org.apache.spark.ml.linalg.DenseMatrix onDevices(JavaRDD<double[]> rows) {
    try (var qr =
        TallSkinnyQR.builder()
            .keepQ(QStorage.NONE)
            .backend(BackendChoice.REQUIRE_CUDA)
            .factorize(rows)) {
      return qr.r();
    }
  }

  private static long withQ(JavaRDD<double[]> rows, QStorage storage) {
    try (var qr = TallSkinnyQR.builder().keepQ(storage).factorize(rows)) {
      return qr.q().count();
    }
  }

  private static Object x(JavaRDD<double[]> rows, JavaRDD<double[]> labels) {
    try (var qr = TallSkinnyQR.builder().factorize(rows)) {
      return qr.solve(labels);
    }
  }

  private static QRDecomposition<RowMatrix, Matrix> mllib(JavaRDD<Vector> rows, boolean q) {
    return new RowMatrix(rows.rdd()).tallSkinnyQR(q);
  }

  private static void compare(org.apache.spark.ml.linalg.DenseMatrix ours, Matrix theirs) {
    double worst = 0;
    double most = 0;
    for (int j = 0; j < ours.numCols(); j++) {
      for (int i = 0; i <= j; i++) {
        double sign = theirs.apply(i, i) < 0 ? -1 : 1;
        worst = Math.max(worst, Math.abs(ours.apply(i, j) - sign * theirs.apply(i, j)));
        most = Math.max(most, Math.abs(ours.apply(i, j)));
      }
    }
    System.out.printf(Locale.ROOT, "largest difference of R's: %.2g of %.2g%n", worst, most);
  }

  private static void print(String name, double[] seconds) {
    double first = seconds[0];
    Arrays.sort(seconds);
    System.out.printf(
        Locale.ROOT,
        "%-28s first %.3f, median %.4f, least %.4f s%n",
        name,
        first,
        seconds[(seconds.length - 1) / 2],
        seconds[0]);
  }

  private static void floors(long m, int n, int cores) {
    DenseKernels kernels = BlasLoader.kernels();
    double flops = 2.0 * m * n * n;
    double wide = rate(cores, 2.0 * SIDE * SIDE * SIDE, () -> square(kernels));
    double narrow = rate(cores, 4.0 * SIDE * 32 * n, () -> panel(kernels, n));
    double read = rate(cores, 8.0 * (1 << 24), TallSpeed::reading);
    System.out.printf(
        Locale.ROOT,
        "floor by flops %.4f s: %.3g at %.1f GFLOP/s (dgemm of %d); %.4f s at %.1f, of panels of 32%n",
        flops / wide,
        flops,
        wide * 1e-9,
        SIDE,
        flops / narrow,
        narrow * 1e-9);
    System.out.printf(
        Locale.ROOT, "floor by bytes %.4f s at %.1f GB/s%n", 8.0 * m * n / read, read * 1e-9);
    int some = (int) Math.min(m / cores, 200_000);
    double[][] rows = IntStream.range(0, some).mapToObj(i -> row(i, n)).toArray(double[][]::new);
    double whole = rate(cores, 2.0 * some * n * n, () -> chunks(kernels, rows, n));
    System.out.printf(
        Locale.ROOT,
        "DenseQr of rows without Spark: %.4f s at %.1f GFLOP/s%n",
        flops / whole,
        whole * 1e-9);
  }

  private static double square(DenseKernels kernels) {
    double[] a = new double[SIDE * (SIDE + 1)];
    Arrays.fill(a, 1e-3);
    double[] c = new double[SIDE * (SIDE + 1)];
    for (int k = 0; k < 3; k++) {
      kernels.gemm(false, SIDE, SIDE, SIDE, 1, a, 0, SIDE, a, 0, SIDE, 0, c, 0, SIDE);
    }
    return 3;
  }

  private static double panel(DenseKernels kernels, int n) {
    double[] v = new double[SIDE * 33];
    double[] c = new double[SIDE * (n + 1)];
    double[] w = new double[32 * (n + 1)];
    for (int k = 0; k < 100; k++) {
      kernels.gemm(true, 32, n, SIDE, 1, v, 0, SIDE, c, 0, SIDE, 0, w, 0, 32);
      kernels.gemm(false, SIDE, n, 32, -1, v, 0, SIDE, w, 0, 32, 1, c, 0, SIDE);
    }
    return 100;
  }

  private static double reading() {
    double[] a = new double[1 << 24];
    double[] b = new double[1 << 10];
    for (int k = 0; k < 4; k++) {
      for (int at = 0; at < a.length; at += b.length) {
        System.arraycopy(a, at, b, 0, b.length);
      }
    }
    return 4;
  }

  private static double chunks(DenseKernels kernels, double[][] rows, int n) {
    DenseQr.Builder builder = DenseQr.builder(kernels, n, Crew.ALONE);
    for (double[] row : rows) {
      builder.row(row);
    }
    builder.factor();
    return 1;
  }

  private interface Work {
    double run();
  }

  /** The best of some trials of all cores at once: units a second, of {@code size} a repetition. */
  private static double rate(int cores, double size, Work work) {
    double best = 0;
    for (int trial = 0; trial < 6; trial++) {
      long begin = System.nanoTime();
      double done = IntStream.range(0, cores).parallel().mapToDouble(k -> work.run()).sum();
      best = Math.max(best, size * done / ((System.nanoTime() - begin) * 1e-9));
    }
    return best;
  }
}
