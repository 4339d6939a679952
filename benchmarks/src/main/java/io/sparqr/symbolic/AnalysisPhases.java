/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.SparsityPattern;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ForkJoinPool;

/**
 * Prints the median seconds of ordering and of each phase of the analysis. Arguments: numbers of
 * threads with commas between (no more than the machine's processors; AUTO's candidates use the
 * common pool and nested dissection all processors, whatever the number); runs of each; expected
 * flops per second of the factorization; then METHOD=SPEC, a method of {@link OrderingMethod} and a
 * problem of the gallery. For the candidates of AUTO one after another name amd, colamd and nd;
 * given:METHOD=SPEC orders once and repeats the analysis alone. After the medians: CPU seconds of
 * the whole process in the run with the least, and a hash of the fronts.
 */
final class AnalysisPhases {
  private AnalysisPhases() {}

  public static void main(String[] arguments) {
    int[] threads = Arrays.stream(arguments[0].split(",")).mapToInt(Integer::parseInt).toArray();
    int runs = Integer.parseInt(arguments[1]);
    double rate = Double.parseDouble(arguments[2]);
    for (String argument : Arrays.asList(arguments).subList(3, arguments.length)) {
      boolean given = argument.startsWith("given:");
      String[] part = argument.substring(given ? 6 : 0).split("=", 2);
      SparsityPattern pattern = Gallery.generate(part[1]).pattern();
      SymbolicOptions options =
          SymbolicOptions.defaults()
              .withOrdering(OrderingMethod.parse(part[0]))
              .withRate((flops, intensity) -> rate);
      if (given) {
        options = options.withGiven(SymbolicAnalyzer.analyze(pattern, options).permutation());
      }
      SymbolicOptions chosen = options;
      for (int t : threads) {
        ForkJoinPool pool = new ForkJoinPool(t);
        pool.submit(() -> measure(argument, pattern, chosen, t, runs)).join();
        pool.shutdown();
      }
    }
  }

  private static void measure(
      String name, SparsityPattern pattern, SymbolicOptions options, int threads, int runs) {
    Map<String, double[]> seconds = new TreeMap<>();
    SymbolicAnalysis analysis = null;
    double cpu = Double.POSITIVE_INFINITY;
    for (int run = 0; run < runs; run++) {
      double begin = processSeconds();
      PhaseTimes times = new PhaseTimes();
      analysis = SymbolicAnalyzer.analyze(pattern, options, times);
      cpu = Math.min(cpu, processSeconds() - begin);
      int r = run;
      times.seconds().forEach((k, s) -> seconds.computeIfAbsent(k, x -> new double[runs])[r] = s);
      seconds.computeIfAbsent("= analyze", x -> new double[runs])[r] =
          analysis.data().analyzeSeconds();
    }
    StringBuilder text = new StringBuilder();
    seconds.forEach(
        (phase, s) -> {
          Arrays.sort(s);
          text.append(String.format(Locale.ROOT, "; %s %.3f", phase, s[s.length / 2]));
        });
    System.out.printf(
        Locale.ROOT,
        "%s, %d threads: %.3f Gflop, order %08x%s; CPU %.3f; fronts %08x%n",
        name,
        threads,
        analysis.flops() * 1e-9,
        Arrays.hashCode(analysis.permutation().toArray()),
        text,
        cpu,
        fronts(analysis.data()));
  }

  private static int fronts(SymbolicAnalysis.Data d) {
    int hash = 31 * Arrays.hashCode(d.parent()) + Arrays.hashCode(d.tailStart());
    hash = 31 * hash + Arrays.hashCode(d.tailColumns());
    for (int f = 0; f < d.parent().length; f++) {
      hash = 31 * hash + Long.hashCode(d.fm().get(f)) + Long.hashCode(d.frontFlops().get(f));
    }
    return hash;
  }

  /** CPU seconds of all threads so far, including the compiler's and the collector's. */
  private static double processSeconds() {
    var bean = ManagementFactory.getOperatingSystemMXBean();
    return ((com.sun.management.OperatingSystemMXBean) bean).getProcessCpuTime() * 1e-9;
  }
}
