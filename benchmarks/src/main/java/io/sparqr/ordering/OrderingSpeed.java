/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.ordering.dissection.NestedDissection;
import io.sparqr.ordering.graph.WeightedGraph;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Arrays;
import java.util.Locale;

/**
 * Prints the time of nested dissection on one thread and on several, and the quality of its order.
 * Arguments: numbers of threads, separated by commas; runs of each, of which the fastest counts;
 * seeds, over which the flops are averaged; then problems of the gallery. A line holds the seconds
 * from the pattern to the order, of the first run and the best, then the best with the graph of A'A
 * given, as METIS has it, with CPU seconds of the whole process (compiler and collector included)
 * and a hash of the order, then the flops and entries of R. {@code peer/metis_peer.c} times METIS
 * on the same graphs, written by {@link OrderingReport}.
 */
final class OrderingSpeed {
  private OrderingSpeed() {}

  public static void main(String[] arguments) {
    int[] threads = Arrays.stream(arguments[0].split(",")).mapToInt(Integer::parseInt).toArray();
    int runs = Integer.parseInt(arguments[1]);
    int seeds = Integer.parseInt(arguments[2]);
    for (int i = 3; i < arguments.length; i++) {
      SparsityPattern pattern = Gallery.generate(arguments[i]).pattern();
      WeightedGraph graph = NestedDissection.graph(pattern);
      for (int t : threads) {
        measure(arguments[i], pattern, graph, t, runs);
      }
      if (seeds > 0) {
        quality(pattern, seeds);
      }
    }
  }

  private static void measure(
      String name, SparsityPattern pattern, WeightedGraph graph, int threads, int runs) {
    double first = 0;
    double best = Double.POSITIVE_INFINITY;
    double ofGraph = Double.POSITIVE_INFINITY;
    double cpu = Double.POSITIVE_INFINITY;
    NestedDissection dissection = new NestedDissection(threads);
    int hash = 0;
    for (int run = 0; run < runs; run++) {
      long begin = System.nanoTime();
      Permutation order = dissection.order(pattern);
      double seconds = (System.nanoTime() - begin) * 1e-9;
      first = run == 0 ? seconds : first;
      best = Math.min(best, seconds);
      hash = Arrays.hashCode(order.toArray());
      double cpuBegin = OrderingReport.processSeconds();
      begin = System.nanoTime();
      dissection.order(graph);
      ofGraph = Math.min(ofGraph, (System.nanoTime() - begin) * 1e-9);
      cpu = Math.min(cpu, OrderingReport.processSeconds() - cpuBegin);
    }
    System.out.printf(
        Locale.ROOT,
        "%-12s %2d threads: first %.3f s, best %.3f s; graph given %.3f s, CPU %.3f s, order %08x%n",
        name,
        threads,
        first,
        best,
        ofGraph,
        cpu,
        hash);
  }

  private static void quality(SparsityPattern pattern, int seeds) {
    double sum = 0;
    double least = Double.POSITIVE_INFINITY;
    double most = 0;
    double ofDefault = 0;
    long entries = 0;
    for (int seed = 0; seed < seeds; seed++) {
      SymbolicAnalysis analysis =
          SymbolicAnalyzer.analyze(
              pattern,
              SymbolicOptions.defaults().withGiven(NestedDissection.variant(seed).order(pattern)));
      double flops = analysis.flops() * 1e-9;
      sum += flops;
      least = Math.min(least, flops);
      most = Math.max(most, flops);
      if (seed == 0) {
        ofDefault = flops;
        entries = entriesOfR(analysis);
      }
    }
    System.out.printf(
        Locale.ROOT,
        "%14s R %d, %.2f Gflop; mean of %d seeds %.2f (%.2f to %.2f)%n",
        "",
        entries,
        ofDefault,
        seeds,
        sum / seeds,
        least,
        most);
  }

  private static long entriesOfR(SymbolicAnalysis analysis) {
    long entries = analysis.singletonEntries();
    for (int f = 0; f < analysis.fronts(); f++) {
      long pivots = analysis.fp(f);
      entries += pivots * (pivots + 1) / 2 + pivots * analysis.cn(f);
    }
    return entries;
  }
}
