/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.pattern.PatternPass;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.report.LeastSquaresSolution;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicOptions;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryType;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * The pattern and the analysis of rows with a column of each of three factors, or the whole
 * solution, in a driver process of its own, with an executor that generates them. Prints {@code
 * live COUNT BYTES}: distinct patterns, or rows where it solves, and the most that was reachable on
 * the driver, beyond what was before.
 */
final class DriverCells {

  private DriverCells() {}

  /** {@code analyze} or {@code solve}, ROWS, and the levels of the factors. */
  public static void main(String[] args) throws IOException, InterruptedException {
    boolean solves = args[0].equals("solve");
    int rows = Integer.parseInt(args[1]);
    int[] levels = Arrays.stream(args).skip(2).mapToInt(Integer::parseInt).toArray();
    SparkConf conf =
        LocalCluster.conf("sparqr cells", 1, 2)
            // Spark refuses heaps of less than 450 MB
            .set("spark.testing.memory", "600000000")
            .set("spark.executor.memory", "900m");
    try (var context = LocalCluster.start(conf, 1)) {
      context.setLogLevel("OFF");
      context.parallelize(IntStream.range(0, 4).boxed().toList(), 4).count();
      long before = live();
      var ended = new AtomicBoolean();
      var worst = new long[1];
      var sampler =
          new Thread(
              () -> {
                while (!ended.get()) {
                  worst[0] = Math.max(worst[0], live());
                }
              });
      sampler.start();
      JavaRDD<SparseRow> cells = cells(context, rows, levels);
      long patterns = solves ? solved(cells, levels) : analyzed(cells, levels);
      ended.set(true);
      sampler.join();
      System.out.println("live " + patterns + " " + (worst[0] - before));
    }
  }

  private static long analyzed(JavaRDD<SparseRow> cells, int[] levels) {
    PatternPass.Result found = new PatternPass(RowSource.of(cells), SolveOptions.defaults()).run();
    SymbolicAnalysis analysis = found.patterns().analyze(SymbolicOptions.defaults());
    require(analysis.columns() == Arrays.stream(levels).sum(), "columns: " + analysis.columns());
    return found.patterns().count();
  }

  /** Each level after the first factor's can be told but for the sums of the factors. */
  private static long solved(JavaRDD<SparseRow> cells, int[] levels) {
    LeastSquaresSolution x = GpuSparseQR.builder().build().solve(cells);
    require(x.rank() == Arrays.stream(levels).sum() - (levels.length - 1), "rank: " + x.rank());
    return x.report().matrix().rows();
  }

  private static void require(boolean right, String what) {
    if (!right) {
      throw new IllegalStateException(what);
    }
  }

  /** Bytes that the collection left, not those in use: others allocate before these are read. */
  private static long live() {
    System.gc();
    return ManagementFactory.getMemoryPoolMXBeans().stream()
        .filter(p -> p.getType() == MemoryType.HEAP)
        .mapToLong(p -> p.getCollectionUsage().getUsed())
        .sum();
  }

  private static JavaRDD<SparseRow> cells(JavaSparkContext context, int rows, int[] levels) {
    int parts = 8;
    return context
        .parallelize(IntStream.range(0, parts).boxed().toList(), parts)
        .mapPartitionsWithIndex(
            (p, it) -> {
              var random = new Random(p);
              return IntStream.range(0, rows / parts)
                  .mapToObj(
                      i -> {
                        int[] column = new int[levels.length];
                        double[] one = new double[levels.length];
                        int first = 0;
                        for (int k = 0; k < levels.length; k++) {
                          column[k] = first + random.nextInt(levels[k]);
                          one[k] = 1;
                          first += levels[k];
                        }
                        return new SparseRow(column, one, random.nextGaussian());
                      })
                  .iterator();
            },
            false);
  }
}
