/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.pattern.PatternPass;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicOptions;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryType;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * The pattern and the analysis of rows with a column of each of three factors, in a driver process
 * of its own, with an executor that generates them. Prints {@code live PATTERNS BYTES}: the most
 * that was reachable on the driver, beyond what was before.
 */
final class DriverCells {

  private static final int[] LEVELS = {1000, 60, 50};

  private DriverCells() {}

  /** ROWS. */
  public static void main(String[] args) throws IOException, InterruptedException {
    int rows = Integer.parseInt(args[0]);
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
      PatternPass.Result found =
          new PatternPass(RowSource.of(cells(context, rows)), SolveOptions.defaults()).run();
      SymbolicAnalysis analysis = found.patterns().analyze(SymbolicOptions.defaults());
      ended.set(true);
      sampler.join();
      if (analysis.columns() != LEVELS[0] + LEVELS[1] + LEVELS[2]) {
        throw new IllegalStateException("columns: " + analysis.columns());
      }
      System.out.println("live " + found.patterns().count() + " " + (worst[0] - before));
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

  private static JavaRDD<SparseRow> cells(JavaSparkContext context, int rows) {
    int parts = 8;
    return context
        .parallelize(IntStream.range(0, parts).boxed().toList(), parts)
        .mapPartitionsWithIndex(
            (p, it) -> {
              var random = new Random(p);
              return IntStream.range(0, rows / parts)
                  .mapToObj(
                      i -> {
                        int a = random.nextInt(LEVELS[0]);
                        int b = LEVELS[0] + random.nextInt(LEVELS[1]);
                        int c = LEVELS[0] + LEVELS[1] + random.nextInt(LEVELS[2]);
                        return new SparseRow(new int[] {a, b, c}, new double[] {1, 1, 1}, 0);
                      })
                  .iterator();
            },
            false);
  }
}
