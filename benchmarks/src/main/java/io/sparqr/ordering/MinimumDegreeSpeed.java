/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import io.sparqr.matrix.Gallery;
import io.sparqr.sparse.SparsityPattern;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;

/**
 * Prints the time of approximate minimum degree, from the pattern to the order, without and with
 * helpers. Arguments: numbers of helpers, separated by commas; runs of each, which alternate; then
 * problems of the gallery. A line holds the least and the median of the seconds and of the caller's
 * CPU seconds, in which its waiting counts, and a hash of the order, which must be the same in all
 * lines of a problem.
 */
final class MinimumDegreeSpeed {
  private MinimumDegreeSpeed() {}

  public static void main(String[] arguments) {
    int[] helpers = Arrays.stream(arguments[0].split(",")).mapToInt(Integer::parseInt).toArray();
    int runs = Integer.parseInt(arguments[1]);
    System.out.printf("%d processors%n", Runtime.getRuntime().availableProcessors());
    for (int i = 2; i < arguments.length; i++) {
      measure(arguments[i], helpers, runs);
    }
  }

  private static void measure(String name, int[] helpers, int runs) {
    SparsityPattern pattern = Gallery.generate(name).pattern();
    var thread = ManagementFactory.getThreadMXBean();
    double[][] seconds = new double[helpers.length][runs];
    double[][] cpu = new double[helpers.length][runs];
    int[] hash = new int[helpers.length];
    for (int run = 0; run < runs; run++) {
      for (int k = 0; k < helpers.length; k++) {
        var sharing =
            helpers[k] == 0 ? ElementScan.Sharing.NONE : ElementScan.Sharing.with(helpers[k]);
        long begin = System.nanoTime();
        long cpuBegin = thread.getCurrentThreadCpuTime();
        var result = ApproximateMinimumDegree.counted(pattern, sharing);
        cpu[k][run] = (thread.getCurrentThreadCpuTime() - cpuBegin) * 1e-9;
        seconds[k][run] = (System.nanoTime() - begin) * 1e-9;
        hash[k] = Arrays.hashCode(result.order().toArray());
      }
    }
    for (int k = 0; k < helpers.length; k++) {
      Arrays.sort(seconds[k]);
      Arrays.sort(cpu[k]);
      System.out.printf(
          Locale.ROOT,
          "%-14s %d helpers: least %.3f s, median %.3f s; caller's CPU %.3f s, %.3f s; order %08x%n",
          name,
          helpers[k],
          seconds[k][0],
          seconds[k][runs / 2],
          cpu[k][0],
          cpu[k][runs / 2],
          hash[k]);
    }
  }
}
