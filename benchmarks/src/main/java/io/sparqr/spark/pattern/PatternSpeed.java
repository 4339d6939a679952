/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import com.sun.management.OperatingSystemMXBean;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.spark.BenchmarkSpark;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.plan.SolveOptions;
import io.sparqr.spark.rows.RowSource;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.sparse.SparsityPattern;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Seconds of the pattern pass over row objects in memory, in local Spark: {@code PatternSpeed CORES
 * REPEAT PROBLEM...}. A problem is a specification of {@link Gallery}, or {@code distinctMxKxN} for
 * M random rows of K entries in N columns. Prints wall time, CPU time of the process and time of
 * the garbage collector, least and median, for the whole pass and for the one with a given
 * analysis, and a hash of all results, by which two versions are compared bit by bit.
 */
public final class PatternSpeed {

  /** Rows by partition; a serialized task cannot carry a reference. */
  private static volatile SparseRow[][] held = new SparseRow[0][];

  private PatternSpeed() {}

  /** See the class. */
  public static void main(String[] args) {
    int repeat = Integer.parseInt(args[1]);
    SparkConf conf = BenchmarkSpark.conf("local[" + args[0] + "]", "sparqr pattern speed");
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      context.setLogLevel("ERROR");
      for (String problem : Arrays.asList(args).subList(2, args.length)) {
        RowSource source = RowSource.of(rows(context, problem));
        var pass = new PatternPass(source, SolveOptions.defaults());
        timed(problem + " | patterns", repeat, pass::run);
        timed(problem + " | given", repeat, () -> pass.figures(null));
      }
    }
  }

  private static JavaRDD<SparseRow> rows(JavaSparkContext context, String problem) {
    int parts = context.defaultParallelism();
    held = problem.startsWith("distinct") ? random(problem, parts) : gallery(problem, parts);
    List<Integer> numbers = IntStream.range(0, parts).boxed().toList();
    return context.parallelize(numbers, parts).flatMap(p -> Arrays.asList(held[p]).iterator());
  }

  private static SparseRow[][] gallery(String problem, int parts) {
    CsrMatrix a = Gallery.generate(problem);
    long m = a.rows();
    var rows = new SparseRow[parts][];
    for (int p = 0; p < parts; p++) {
      int from = (int) (m * p / parts);
      rows[p] = new SparseRow[(int) (m * (p + 1) / parts) - from];
      for (int i = 0; i < rows[p].length; i++) {
        int begin = a.rowStart()[from + i];
        int end = a.rowStart()[from + i + 1];
        rows[p][i] =
            new SparseRow(
                Arrays.copyOfRange(a.columnIndex(), begin, end),
                Arrays.copyOfRange(a.values(), begin, end),
                1);
      }
    }
    return rows;
  }

  private static SparseRow[][] random(String problem, int parts) {
    String[] number = problem.substring("distinct".length()).split("x");
    int m = Integer.parseInt(number[0]);
    int k = Integer.parseInt(number[1]);
    int n = Integer.parseInt(number[2]);
    var rows = new SparseRow[parts][];
    for (int p = 0; p < parts; p++) {
      var random = new SplittableRandom(p);
      rows[p] = new SparseRow[m / parts];
      for (int i = 0; i < rows[p].length; i++) {
        int[] column = random.ints(0, n).distinct().limit(k).sorted().toArray();
        double[] value = random.doubles(k, 0.5, 1.5).toArray();
        rows[p][i] = new SparseRow(column, value, 1);
      }
    }
    return rows;
  }

  private static void timed(String what, int repeat, Supplier<PatternPass.Result> pass) {
    double[] wall = new double[repeat];
    double[] cpu = new double[repeat];
    double[] gc = new double[repeat];
    long hash = 0;
    long patterns = 0;
    for (int k = 0; k < repeat; k++) {
      double cpuBefore = cpu();
      double gcBefore = gc();
      long begin = System.nanoTime();
      PatternPass.Result found = pass.get();
      wall[k] = (System.nanoTime() - begin) * 1e-9;
      cpu[k] = cpu() - cpuBefore;
      gc[k] = gc() - gcBefore;
      hash = hash(found);
      patterns = found.patterns().count();
    }
    System.out.printf(
        Locale.ROOT,
        "%s | %d patterns | first %.3f, wall %s, CPU %s, GC %s | %016x%n",
        what,
        patterns,
        wall[0],
        least(wall),
        least(cpu),
        least(gc),
        hash);
  }

  private static String least(double[] seconds) {
    double[] sorted = seconds.clone();
    Arrays.sort(sorted);
    return String.format(
        Locale.ROOT, "%.3f (median %.3f)", sorted[0], sorted[(sorted.length - 1) / 2]);
  }

  private static double cpu() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
            .getProcessCpuTime()
        * 1e-9;
  }

  private static double gc() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
            .mapToLong(GarbageCollectorMXBean::getCollectionTime)
            .sum()
        * 1e-3;
  }

  private static long hash(PatternPass.Result found) {
    long h = Arrays.hashCode(found.norm()) * 31L + Arrays.hashCode(found.rhs().max());
    h = h * 31 + found.rows();
    h = h * 31 + found.nonzeros();
    for (int p = 0; p < found.readings().partitions(); p++) {
      h = h * 31 + found.readings().of(p).hashCode();
    }
    if (found.patterns().print().isPresent()) {
      h = h * 31 + found.patterns().print().get().hashCode();
    }
    if (found.patterns().whole().isPresent()) {
      SparsityPattern pattern = found.patterns().whole().get();
      h = h * 31 + Arrays.hashCode(pattern.rowStart());
      h = h * 31 + Arrays.hashCode(pattern.columnIndex());
      h = h * 31 + Arrays.hashCode(pattern.multiplicity());
      h = h * 31 + pattern.fingerprint().hashCode();
    }
    return h;
  }
}
