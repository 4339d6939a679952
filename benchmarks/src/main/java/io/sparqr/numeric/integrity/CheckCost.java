/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.ColumnNorms;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/**
 * Measures the cost of a task's check, step by step, beside that of the factorization: CPU time of
 * one thread, quartiles over several rounds, each with a factorization and one check of its result.
 * Arguments: problems, generator's specifications; the system property {@code cost.rounds} (15).
 */
public final class CheckCost {

  private static final int ROUNDS = Integer.getInteger("cost.rounds", 15);

  /** Rounds that only warm up. */
  private static final int COLD = 4;

  private final SubtreeProblem problem;
  private final FactorOptions options;
  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final Map<String, Double> took = new LinkedHashMap<>();
  private long since;

  /** A problem as one task, equilibrated as the product does it, with one right-hand side. */
  public CheckCost(String specification) {
    CsrMatrix a = Gallery.generate(specification);
    double[] b = new double[a.rows()];
    var random = new Random(2);
    Arrays.setAll(b, i -> random.nextGaussian());
    var analysis =
        SymbolicAnalyzer.analyze(a.pattern(), SymbolicOptions.defaults().withSingletons(false));
    var norms = new ColumnNorms(a.columns());
    for (int k = 0; k < a.nonzeros(); k++) {
      norms.add(a.columnIndex()[k], a.values()[k]);
    }
    int[] fronts = new int[analysis.fronts()];
    Arrays.setAll(fronts, f -> f);
    RowSplit split = RowSplit.of(a, b, 1, analysis, norms.factors());
    problem = new SubtreeProblem(analysis, fronts, split.rows(), List.of());
    double tolerance = FactorOptions.defaultTolerance(a.rows(), a.columns(), 1);
    options = new FactorOptions(tolerance, 1, 0).ofUnitColumns(true);
  }

  /** Factors once and checks once: milliseconds by step. */
  public Map<String, Double> round() {
    took.clear();
    SubtreeFactor factor;
    start();
    try (var cpu = new CpuSubtreeFactorizer()) {
      factor = cpu.factor(problem, options);
    }
    stop("factor");
    steps(factor);
    start();
    TaskCheck.verify(problem, factor, options);
    stop("verify");
    return took;
  }

  /** The steps of {@link TaskCheck#verify}, one after the other. */
  private void steps(SubtreeFactor factor) {
    start();
    var columns = new TaskColumns(problem.analysis(), problem.fronts());
    stop("columns");
    var out = new FactorOut(problem, columns, factor);
    var dead = out.dead();
    stop("dead");
    var in = new RowsIn(columns, problem.rows(), null, problem.inputs(), 1);
    in.probe(dead);
    stop("(probe)");
    ColumnProbe probe = in.unitProbe(dead);
    stop("unit probe");
    long steps = Steps.of(problem, out.ranks());
    stop("steps");
    ColumnSums went = in.sums(probe);
    stop("sums in");
    ColumnSums came = out.sums(probe, 1);
    stop("sums out");
    new Balance(columns, probe, went, steps, 1)
        .verify(came, factor.residualSquares(), dead, factor.summary().droppedNorm());
    stop("balance");
  }

  private void start() {
    since = threads.getCurrentThreadCpuTime();
  }

  private void stop(String step) {
    long now = threads.getCurrentThreadCpuTime();
    took.put(step, (now - since) * 1e-6);
    since = threads.getCurrentThreadCpuTime();
  }

  /** Sizes that the cost depends on. */
  public String sizes() {
    SubtreeFactor factor;
    try (var cpu = new CpuSubtreeFactorizer()) {
      factor = cpu.factor(problem, options);
    }
    long values = factor.fronts().stream().mapToLong(f -> f.length()).sum();
    long columns = factor.fronts().stream().mapToLong(FrontFactor::fn).sum();
    return "%d rows, %d entries, %d columns; R: %d fronts, %d columns of fronts, %d rows, %d values"
        .formatted(
            problem.rows().rows(),
            problem.rows().rowStart()[problem.rows().rows()],
            new TaskColumns(problem.analysis(), problem.fronts()).count(),
            factor.fronts().size(),
            columns,
            factor.summary().rank(),
            values);
  }

  /** Prints quartiles by step. */
  public static void print(String title, List<Map<String, Double>> rounds) {
    double factor = quartile(rounds, "factor", 2);
    for (String step : rounds.get(0).keySet()) {
      System.out.printf(
          Locale.ROOT,
          "%-24s %-10s %9.2f ms [%9.2f %9.2f] %6.2f%%%n",
          title,
          step,
          quartile(rounds, step, 2),
          quartile(rounds, step, 1),
          quartile(rounds, step, 3),
          100 * quartile(rounds, step, 2) / factor);
    }
  }

  private static double quartile(List<Map<String, Double>> rounds, String step, int q) {
    double[] all = rounds.stream().mapToDouble(r -> r.get(step)).sorted().toArray();
    return all[Math.min(all.length - 1, q * all.length / 4)];
  }

  /** Prints a table for each problem. */
  public static void main(String[] specifications) {
    for (String specification : specifications) {
      var cost = new CheckCost(specification);
      System.out.println(specification + ": " + cost.sizes());
      var rounds = new ArrayList<Map<String, Double>>();
      for (int k = -COLD; k < ROUNDS; k++) {
        Map<String, Double> round = new LinkedHashMap<>(cost.round());
        if (k >= 0) {
          rounds.add(round);
        }
      }
      print(specification, rounds);
    }
  }
}
