/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.error.MatrixFormatException;
import io.sparqr.matrix.Libsvm;
import io.sparqr.matrix.MatrixMarket;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.sparse.SparsityPattern;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * AUTO beside each fixed order: {@code OrderComparison THREADS RUNS RATE PROBLEM...}. THREADS are
 * numbers with commas between, each of which gets a JVM of its own with that many processors; RUNS
 * of each order, in turn; RATE is the expected flops per second of the factorization, as AUTO is
 * told it. A problem is {@code gen:SPEC} of the gallery, a Matrix Market or libsvm file, {@code
 * t:FILE} for its transpose, or a folder: all sparse files below it, the wide ones transposed too.
 *
 * <p>A line for each order: the least and the median seconds of ordering and analysis together,
 * pattern to tree; CPU seconds of the whole process at best; flops; entries of R; the time
 * predicted for the solve, least seconds + flops / RATE. The last line of a problem holds AUTO's
 * predicted time over that of the best fixed order, the difference in milliseconds, and AUTO's
 * reason; {@code LOSES} where it is more than 5% and 20 ms behind.
 */
final class OrderComparison {

  private static final List<OrderingMethod> METHODS =
      List.of(
          OrderingMethod.AUTO,
          OrderingMethod.AMD,
          OrderingMethod.COLAMD,
          OrderingMethod.NESTED_DISSECTION);

  /** Runs of one problem end after these seconds, but not before the second of each. */
  private static final double PATIENCE = 60;

  private OrderComparison() {}

  public static void main(String[] arguments) throws IOException, InterruptedException {
    String[] threads = arguments[0].split(",");
    if (threads.length > 1
        || Integer.parseInt(threads[0]) != Runtime.getRuntime().availableProcessors()) {
      for (String t : threads) {
        inJvm(t, arguments);
      }
      return;
    }
    int runs = Integer.parseInt(arguments[1]);
    double rate = Double.parseDouble(arguments[2]);
    System.out.printf(Locale.ROOT, "%s threads, %.3g Gflop/s%n", threads[0], rate * 1e-9);
    for (String argument : Arrays.asList(arguments).subList(3, arguments.length)) {
      for (String problem : problems(argument)) {
        compare(problem, runs, rate);
      }
    }
  }

  private static void inJvm(String threads, String[] arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (!option.startsWith("-XX:ActiveProcessorCount")) {
        command.add(option);
      }
    }
    command.add("-XX:ActiveProcessorCount=" + threads);
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(OrderComparison.class.getName());
    command.add(threads);
    command.addAll(Arrays.asList(arguments).subList(1, arguments.length));
    int status = new ProcessBuilder(command).inheritIO().start().waitFor();
    if (status != 0) {
      throw new IOException("the JVM with " + threads + " processors ended with " + status);
    }
  }

  private static List<String> problems(String argument) throws IOException {
    if (argument.contains(":") || !Files.isDirectory(Path.of(argument))) {
      return List.of(argument);
    }
    List<String> found = new ArrayList<>();
    try (Stream<Path> files = Files.walk(Path.of(argument))) {
      for (Path file : files.sorted().toList()) {
        if (file.toString().matches(".*\\.(mtx|svm)(\\.gz)?")) {
          addIfSparse(file.toString(), found);
        }
      }
    }
    return found;
  }

  private static void addIfSparse(String file, List<String> found) throws IOException {
    try {
      CsrMatrix a = read(file);
      if (a.columns() > 1) {
        found.add(file);
      }
      if (a.rows() < a.columns() && a.rows() > 1) {
        found.add("t:" + file);
      }
    } catch (MatrixFormatException e) {
      // an array, or a file that a reader must refuse
    }
  }

  private static CsrMatrix read(String problem) throws IOException {
    if (problem.startsWith("gen:")) {
      return Gallery.generate(problem);
    }
    Path file = Path.of(problem);
    return problem.contains(".svm") ? Libsvm.read(file).matrix() : MatrixMarket.readMatrix(file);
  }

  private static SparsityPattern pattern(String problem) throws IOException {
    return problem.startsWith("t:")
        ? read(problem.substring(2)).transpose().pattern()
        : read(problem).pattern();
  }

  private static void compare(String problem, int runs, double rate) throws IOException {
    SparsityPattern pattern = pattern(problem);
    double[][] seconds = new double[METHODS.size()][0];
    double[] cpu = new double[METHODS.size()];
    Arrays.fill(cpu, Double.POSITIVE_INFINITY);
    SymbolicAnalysis[] last = new SymbolicAnalysis[METHODS.size()];
    long deadline = System.nanoTime() + (long) (PATIENCE * 1e9);
    for (int run = 0; run < runs && (run < 2 || System.nanoTime() < deadline); run++) {
      for (int k = 0; k < METHODS.size(); k++) {
        SymbolicOptions options =
            SymbolicOptions.defaults()
                .withOrdering(METHODS.get(k))
                .withRate((flops, intensity) -> rate);
        double cpuBegin = processSeconds();
        long begin = System.nanoTime();
        last[k] = SymbolicAnalyzer.analyze(pattern, options);
        seconds[k] = Arrays.copyOf(seconds[k], run + 1);
        seconds[k][run] = (System.nanoTime() - begin) * 1e-9;
        cpu[k] = Math.min(cpu[k], processSeconds() - cpuBegin);
      }
    }
    print(problem, pattern, seconds, cpu, last, rate);
  }

  private static void print(
      String problem,
      SparsityPattern pattern,
      double[][] seconds,
      double[] cpu,
      SymbolicAnalysis[] analyses,
      double rate) {
    double[] total = new double[METHODS.size()];
    int best = 1;
    System.out.printf(
        Locale.ROOT,
        "%s: %d x %d, %d entries in %d patterns%n",
        problem,
        pattern.rows(),
        pattern.columns(),
        pattern.patternEntries(),
        pattern.patterns());
    for (int k = 0; k < total.length; k++) {
      double[] s = seconds[k];
      Arrays.sort(s);
      total[k] = s[0] + analyses[k].flops() / rate;
      best = k > 0 && total[k] < total[best] ? k : best;
      System.out.printf(
          Locale.ROOT,
          "  %-6s %8.4f %8.4f s, CPU %8.4f, %11.5f Gflop, R %11d, predicted %9.4f s, order %08x%n",
          METHODS.get(k).label(),
          s[0],
          s[s.length / 2],
          cpu[k],
          analyses[k].flops() * 1e-9,
          entriesOfR(analyses[k]),
          total[k],
          Arrays.hashCode(analyses[k].permutation().toArray()));
    }
    double behind = total[0] - total[best];
    System.out.printf(
        Locale.ROOT,
        "  auto / %s %.3f, %.1f ms%s; %s%n",
        METHODS.get(best).label(),
        total[0] / total[best],
        behind * 1e3,
        behind > Math.max(0.05 * total[best], 0.02) ? ", LOSES" : "",
        analyses[0].orderingReason());
  }

  private static long entriesOfR(SymbolicAnalysis analysis) {
    long entries = analysis.singletonEntries();
    for (int f = 0; f < analysis.fronts(); f++) {
      long pivots = analysis.fp(f);
      entries += pivots * (pivots + 1) / 2 + pivots * analysis.cn(f);
    }
    return entries;
  }

  /** CPU seconds of all threads so far, including the compiler's and the collector's. */
  private static double processSeconds() {
    var bean = ManagementFactory.getOperatingSystemMXBean();
    return ((com.sun.management.OperatingSystemMXBean) bean).getProcessCpuTime() * 1e-9;
  }
}
