/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.ordering.dissection.NestedDissection;
import io.sparqr.ordering.graph.ColumnGraph;
import io.sparqr.ordering.graph.WeightedGraph;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/**
 * Prints the flops and seconds of nested dissection on matrices of the gallery, and of orders read
 * from files. Arguments: {@code SPEC} for ours, {@code SPEC=FILE} for a permutation (one original
 * index a line), {@code SPEC>FILE} to write the graph of A'A in METIS's format.
 */
final class OrderingReport {
  private static final int RUNS = 5;

  private OrderingReport() {}

  public static void main(String[] arguments) throws IOException {
    for (String argument : arguments) {
      String[] part = argument.split("[=>]", 2);
      SparsityPattern pattern = Gallery.generate(part[0]).pattern();
      if (argument.contains(">")) {
        writeGraph(ColumnGraph.of(pattern, Long.MAX_VALUE), Path.of(part[1]));
      } else if (argument.contains("=")) {
        int[] order =
            Files.readAllLines(Path.of(part[1])).stream().mapToInt(Integer::parseInt).toArray();
        print(argument, flops(pattern, new Permutation(order)), new double[] {0}, 0);
      } else {
        double[] seconds = new double[RUNS];
        Permutation order = null;
        double cpu = Double.POSITIVE_INFINITY;
        for (int run = 0; run < RUNS; run++) {
          long begin = System.nanoTime();
          double cpuBegin = processSeconds();
          order = new NestedDissection().order(pattern);
          seconds[run] = (System.nanoTime() - begin) * 1e-9;
          cpu = Math.min(cpu, processSeconds() - cpuBegin);
        }
        print(argument, flops(pattern, order), seconds, cpu);
      }
    }
  }

  /** CPU seconds of all threads so far, including the compiler's and the collector's. */
  static double processSeconds() {
    var bean = ManagementFactory.getOperatingSystemMXBean();
    return ((com.sun.management.OperatingSystemMXBean) bean).getProcessCpuTime() * 1e-9;
  }

  private static double flops(SparsityPattern pattern, Permutation order) {
    SymbolicAnalysis analysis =
        SymbolicAnalyzer.analyze(pattern, SymbolicOptions.defaults().withGiven(order));
    return analysis.flops();
  }

  private static void print(String name, double flops, double[] seconds, double cpu) {
    System.out.printf(
        Locale.ROOT,
        "%-20s %10.2f Gflop, first %.2f s, best %.2f s, CPU %.2f s%n",
        name,
        flops * 1e-9,
        seconds[0],
        Arrays.stream(seconds).min().orElse(0),
        cpu);
  }

  private static void writeGraph(WeightedGraph graph, Path file) throws IOException {
    try (var out = Files.newBufferedWriter(file)) {
      out.write(graph.n + " " + graph.entries() / 2 + "\n");
      for (int v = 0; v < graph.n; v++) {
        for (int e = graph.start[v]; e < graph.start[v + 1]; e++) {
          out.write(" " + (graph.neighbor[e] + 1));
        }
        out.write("\n");
      }
    }
  }
}
