/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.tall;

import io.sparqr.matrix.gallery.MovingScene;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.lowrank.DensePursuit;
import io.sparqr.numeric.lowrank.PursuitMethod;
import io.sparqr.numeric.lowrank.PursuitOptions;
import io.sparqr.spark.BenchmarkSpark;
import java.util.Locale;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;

/**
 * Iterations a second of Robust PCA on a seeded film: {@code RobustPcaSpeed [HEIGHT WIDTH FRAMES
 * [ITERATIONS [REPEAT]]]}, default the paper's 288 x 384 x 100, so 110,592 x 100, and 40
 * iterations, 3 times. Each way without Spark, by all cores, and in local Spark (or under {@code
 * -Dspeed.master}), one partition a core: in turns, so that what else the machine does meets all of
 * them. A rate is that of iterations ITERATIONS / 2 to ITERATIONS alone, as the difference of two
 * runs: reading the rows, the result and the verdict count for neither. Then a whole decomposition
 * to 1e-7, in seconds. The paper has 0.9 (MKL's SVD on 4 cores), 8.7 and 27.0 (a GTX 480), in
 * single precision; ours is double.
 */
public final class RobustPcaSpeed {

  private static final long SEED = 20261128;
  private static final double NOISE = 0.01;

  private RobustPcaSpeed() {}

  private interface Way {
    /** Decomposes by at most so many iterations; returns how many there were. */
    int run(PursuitMethod method, int iterations);
  }

  /** See the class. */
  public static void main(String[] args) {
    int[] size = {288, 384, 100, 40, 3};
    for (int k = 0; k < args.length; k++) {
      size[k] = Integer.parseInt(args[k]);
    }
    var scene = new MovingScene(size[0], size[1], size[2], NOISE, SEED);
    var conf =
        BenchmarkSpark.cluster(System.getProperty("speed.master", "local[*]"), "Robust PCA", "3g");
    try (var context = new JavaSparkContext(conf)) {
      context.setLogLevel("ERROR");
      int cores = context.defaultParallelism();
      JavaRDD<double[]> rows =
          context
              .parallelize(IntStream.range(0, scene.pixels()).boxed().toList(), cores)
              .map(scene::row)
              .persist(StorageLevel.MEMORY_ONLY());
      System.out.printf(
          "%d x %d, %d cores, %s%n",
          rows.count(), size[2], cores, BlasLoader.kernels().description());
      double[][] all = scene.matrix();
      Way local = (method, most) -> local(all, method, most, cores);
      Way spark = (method, most) -> spark(rows, method, most);
      for (PursuitMethod method : PursuitMethod.values()) {
        var rates = new double[2][size[4]];
        for (int k = 0; k < size[4]; k++) {
          rates[0][k] = rate(local, method, size[3]);
          rates[1][k] = rate(spark, method, size[3]);
        }
        print("without Spark, " + method, rates[0]);
        print("Spark, " + method, rates[1]);
      }
      whole("without Spark", local);
      whole("Spark", spark);
    }
  }

  private static int local(double[][] rows, PursuitMethod method, int most, int threads) {
    PursuitOptions options = PursuitOptions.DEFAULTS.withMethod(method);
    return DensePursuit.decompose(rows, options.withMaxIterations(most), threads).history().size();
  }

  private static int spark(JavaRDD<double[]> rows, PursuitMethod method, int most) {
    try (var found = RobustPca.builder().method(method).maxIterations(most).decompose(rows)) {
      return found.history().size();
    }
  }

  /** Iterations a second of the later half. */
  private static double rate(Way way, PursuitMethod method, int iterations) {
    long begin = System.nanoTime();
    int few = way.run(method, iterations / 2);
    long between = System.nanoTime();
    int many = way.run(method, iterations);
    long end = System.nanoTime();
    return (many - few) / ((end - between - (between - begin)) * 1e-9);
  }

  private static void print(String name, double[] rates) {
    double first = rates[0];
    java.util.Arrays.sort(rates);
    System.out.printf(
        Locale.ROOT,
        "%-28s first %.2f, median %.2f, most %.2f iterations/s (bar 6, goal 12 on two cores)%n",
        name,
        first,
        rates[rates.length / 2],
        rates[rates.length - 1]);
  }

  private static void whole(String name, Way way) {
    long begin = System.nanoTime();
    int iterations = way.run(PursuitMethod.INEXACT_ALM, Integer.MAX_VALUE);
    System.out.printf(
        Locale.ROOT,
        "%-28s to 1e-7: %d iterations, %.2f s%n",
        name,
        iterations,
        (System.nanoTime() - begin) * 1e-9);
  }
}
