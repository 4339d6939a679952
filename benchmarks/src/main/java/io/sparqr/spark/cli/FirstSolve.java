/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import com.sun.management.OperatingSystemMXBean;
import io.sparqr.backend.BackendChoice;
import io.sparqr.matrix.DenseMatrix;
import io.sparqr.matrix.gallery.DefaultRightHandSide;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.spark.BenchmarkSpark;
import io.sparqr.spark.GpuSparseQR;
import io.sparqr.spark.input.DriverRows;
import io.sparqr.spark.input.LocalProblem;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.spark.warmup.Warmup;
import io.sparqr.sparse.CsrMatrix;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * What the first solve of a JVM costs beyond later ones, in local Spark: {@code FirstSolve BACKEND
 * REPEAT SPEC@ORDERING}. For each step (Spark's start, a job of Spark's own, each solve) it prints
 * wall and processor seconds, those of the compiler's and the collector's threads, classes loaded,
 * and page faults. {@code -Dspark.plugins=io.sparqr.spark.metrics.SparqrPlugin} warms up meanwhile,
 * {@code -Dsparqr.await=true} waits for its end before the first solve, {@code -Dsparqr.job=true}
 * runs a job before it.
 */
public final class FirstSolve {

  private FirstSolve() {}

  /** A reading of the JVM's counters. */
  private record Reading(
      double wall, double cpu, long classes, double c1, double c2, double collecting, long faults) {

    /** Clock ticks a second, of the times in /proc. */
    private static final double TICKS = 100;

    static Reading now() throws IOException {
      var os = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
      String[] stat = Files.readString(Path.of("/proc/self/stat")).split(" ");
      return new Reading(
          System.nanoTime() * 1e-9,
          os.getProcessCpuTime() * 1e-9,
          ManagementFactory.getClassLoadingMXBean().getTotalLoadedClassCount(),
          threads("C1 "),
          threads("C2 "),
          threads("GC "),
          Long.parseLong(stat[9]));
    }

    /** Processor seconds of the living threads whose names begin so. */
    private static double threads(String name) throws IOException {
      double seconds = 0;
      try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
        for (Path task : tasks) {
          String stat = read(task.resolve("stat"));
          int begin = stat.indexOf('(') + 1;
          if (begin > 0 && stat.startsWith(name, begin)) {
            String[] words = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            seconds += (Long.parseLong(words[11]) + Long.parseLong(words[12])) / TICKS;
          }
        }
      }
      return seconds;
    }

    /** Empty if the thread has ended meanwhile. */
    private static String read(Path file) {
      try {
        return Files.readString(file);
      } catch (IOException ended) {
        return "";
      }
    }

    String since(Reading r) {
      return String.format(
          Locale.ROOT,
          "wall %.3f cpu %.2f (C1 %.2f C2 %.2f collector %.2f) classes %d faults %d",
          wall - r.wall,
          cpu - r.cpu,
          c1 - r.c1,
          c2 - r.c2,
          collecting - r.collecting,
          classes - r.classes,
          faults - r.faults);
    }
  }

  /** See the class. */
  public static void main(String[] args) throws Exception {
    var backend = BackendChoice.valueOf(args[0].toUpperCase(Locale.ROOT));
    int repeat = Integer.parseInt(args[1]);
    String[] part = args[2].split("@");
    OrderingMethod method =
        Arrays.stream(OrderingMethod.values())
            .filter(m -> m.label().equals(part.length > 1 ? part[1] : "auto"))
            .findFirst()
            .orElseThrow();
    Reading begin = Reading.now();
    SparkConf conf =
        BenchmarkSpark.conf(System.getProperty("spark.master", "local[*]"), "sparqr first solve");
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      context.setLogLevel("ERROR");
      begin = told("spark", begin);
      if (Boolean.getBoolean("sparqr.await")) {
        Warmup warmup = Warmup.last().orElseThrow();
        warmup.await(600);
        begin = told("warm-up: " + warmup.outcome().end(), begin);
      }
      if (Boolean.getBoolean("sparqr.job")) {
        context.parallelize(List.of(1, 2, 3, 4), 4).map(x -> x + 1).collect();
        begin = told("a job", begin);
      }
      CsrMatrix a = LocalProblem.generate("gen:" + part[0]);
      var labeled = new LocalProblem(a, new DenseMatrix(a.rows(), 1, DefaultRightHandSide.of(a)));
      begin = told("generated", begin);
      var solver = GpuSparseQR.builder().backend(backend).ordering(method).build();
      try (var rows = new DriverRows(context, labeled, context.defaultParallelism())) {
        for (int k = 0; k < repeat; k++) {
          SolveReport.Seconds s = solver.solve(rows.rows()).report().seconds();
          begin =
              told(
                  String.format(
                      Locale.ROOT,
                      "solve %d | pattern %.3f order %.3f analyze %.3f plan %.3f rows %.3f factorize"
                          + " %.3f solve %.3f",
                      k + 1,
                      s.pattern(),
                      s.order(),
                      s.analyze(),
                      s.plan(),
                      s.assemble(),
                      s.factorize(),
                      s.solve()),
                  begin);
        }
      }
    }
  }

  private static Reading told(String what, Reading since) throws IOException {
    Reading now = Reading.now();
    System.out.println(what + " | " + now.since(since));
    return Reading.now();
  }
}
