/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * Products with the Q that a factorization on the CPU has kept: {@code KeptQSpeed WIDTH REPEATS
 * SPEC@ORDERING...}, a line a problem: seconds of the factorization, of Q'B and of Q C for WIDTH
 * vectors, the medians, and their flops.
 */
public final class KeptQSpeed {

  private KeptQSpeed() {}

  /** See the class. */
  public static void main(String[] args) {
    int width = Integer.parseInt(args[0]);
    int repeats = Integer.parseInt(args[1]);
    for (String problem : Arrays.asList(args).subList(2, args.length)) {
      String[] part = problem.split("@");
      measure(part[0], OrderingMethod.valueOf(part[1].toUpperCase(Locale.ROOT)), width, repeats);
    }
  }

  private static void measure(String spec, OrderingMethod method, int width, int repeats) {
    CsrMatrix a = Gallery.generate(Gallery.PREFIX + spec);
    var analysis =
        SymbolicAnalyzer.analyze(
            a.pattern(), SymbolicOptions.defaults().withSingletons(false).withOrdering(method));
    double[] b = new Random(1).doubles((long) a.rows() * width, -1, 1).toArray();
    double[] ones = new double[a.columns()];
    Arrays.fill(ones, 1);
    RowBlock one = RowSplit.of(a, Arrays.copyOf(b, a.rows()), 1, analysis, ones).rows();
    RowBlock rows = RowSplit.of(a, b, width, analysis, ones).rows();
    int[] fronts = new int[analysis.fronts()];
    Arrays.setAll(fronts, f -> f);
    int threads = Runtime.getRuntime().availableProcessors();
    double tolerance = FactorOptions.defaultTolerance(a.rows(), a.columns(), 1);
    double[] factor = new double[repeats];
    double[] back = new double[repeats];
    double[] forth = new double[repeats];
    double flops = 0;
    try (var cpu = new CpuSubtreeFactorizer()) {
      var problem = new SubtreeProblem(analysis, fronts, one, List.of());
      for (int k = 0; k < repeats; k++) {
        long begin = System.nanoTime();
        SubtreeFactor f = cpu.factor(problem, new FactorOptions(tolerance, threads, 0, true));
        factor[k] = 1e-9 * (System.nanoTime() - begin);
        flops = 0;
        for (FrontReflectors each : f.reflectors()) {
          flops += each.blocks().stream().mapToDouble(x -> 4.0 * width * x.v().length).sum();
        }
        begin = System.nanoTime();
        var qt =
            new TaskReflection(analysis, fronts, rows.front(), rows.rhs(), width, false, List.of());
        f.reflectors().forEach(qt::run);
        back[k] = 1e-9 * (System.nanoTime() - begin);
        begin = System.nanoTime();
        var product =
            new TaskQProduct(analysis, fronts, rows.front(), qt.values(), width, false, List.of());
        List<FrontReflectors> q = f.reflectors();
        for (int i = q.size() - 1; i >= 0; i--) {
          product.run(q.get(i));
        }
        forth[k] = 1e-9 * (System.nanoTime() - begin);
      }
    }
    for (double[] times : List.of(factor, back, forth)) {
      Arrays.sort(times);
    }
    int mid = repeats / 2;
    System.out.printf(
        Locale.ROOT,
        "%s@%s, %d threads: factorization %.3f s, %.1f Gflop; %d vectors, %.1f Gflop each way: Q'B %.3f s, Q C %.3f s%n",
        spec,
        method.label(),
        threads,
        factor[mid],
        1e-9 * analysis.flops(),
        width,
        1e-9 * flops,
        back[mid],
        forth[mid]);
  }
}
