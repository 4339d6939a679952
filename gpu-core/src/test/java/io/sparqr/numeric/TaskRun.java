/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;

/**
 * Drives a backend over a tree that is cut into tasks, handing contribution blocks over by hand, as
 * the distributed pipeline does.
 */
final class TaskRun {

  final SymbolicAnalysis analysis;
  final List<FrontFactor> fronts = new ArrayList<>();
  final double[] residualSquares;
  FactorSummary summary;

  /** One result for each task, in the order in which they ran; Q is kept if the options say so. */
  final List<SubtreeProblem> problems = new ArrayList<>();

  final List<SubtreeFactor> factors = new ArrayList<>();

  private TaskRun(SymbolicAnalysis analysis, int nrhs) {
    this.analysis = analysis;
    this.residualSquares = new double[nrhs];
  }

  /** One task for all. */
  static int[] whole(SymbolicAnalysis analysis) {
    return new int[analysis.fronts()];
  }

  /** Every front a task. */
  static int[] single(SymbolicAnalysis analysis) {
    int[] task = new int[analysis.fronts()];
    Arrays.setAll(task, f -> f);
    return task;
  }

  /** Subtrees of at most {@code size} fronts, and everything above them in one task. */
  static int[] subtrees(SymbolicAnalysis analysis, int size) {
    int nf = analysis.fronts();
    int[] below = new int[nf];
    int[] task = new int[nf];
    for (int f = 0; f < nf; f++) {
      below[f]++;
      if (analysis.parent(f) >= 0) {
        below[analysis.parent(f)] += below[f];
      }
    }
    for (int f = nf - 1; f >= 0; f--) {
      int p = analysis.parent(f);
      boolean root = p < 0 || below[p] > size;
      task[f] = below[f] > size ? nf : root ? f : task[p];
    }
    return task;
  }

  /** Runs the tasks in ascending order of their numbers. */
  static TaskRun run(
      SubtreeFactorizer factorizer,
      SymbolicAnalysis analysis,
      RowBlock rows,
      int[] taskOf,
      FactorOptions options) {
    var run = new TaskRun(analysis, rows.rhsCount());
    var tasks = new TreeMap<Integer, List<Integer>>();
    for (int f = 0; f < taskOf.length; f++) {
      tasks.computeIfAbsent(taskOf[f], t -> new ArrayList<>()).add(f);
    }
    var travelling = new ArrayList<ContributionBlock>();
    for (var task : tasks.entrySet()) {
      int t = task.getKey();
      var inputs = new ArrayList<ContributionBlock>();
      for (var it = travelling.iterator(); it.hasNext(); ) {
        var block = it.next();
        if (taskOf[analysis.parent(block.front())] == t) {
          inputs.add(0, block);
          it.remove();
        }
      }
      int[] fronts = task.getValue().stream().mapToInt(i -> i).toArray();
      var problem = new SubtreeProblem(analysis, fronts, select(rows, taskOf, t), inputs);
      SubtreeFactor factor = factorizer.factor(problem, options);
      run.problems.add(problem);
      run.factors.add(factor);
      run.fronts.addAll(factor.fronts());
      travelling.addAll(factor.outputs());
      for (int q = 0; q < rows.rhsCount(); q++) {
        run.residualSquares[q] += factor.residualSquares()[q];
      }
      run.summary = run.summary == null ? factor.summary() : run.summary.merge(factor.summary());
    }
    if (!travelling.isEmpty()) {
      throw new AssertionError("blocks that nobody took: " + travelling.size());
    }
    run.fronts.sort(Comparator.comparingInt(FrontFactor::front));
    return run;
  }

  /** The rows of one task. */
  static RowBlock select(RowBlock rows, int[] taskOf, int task) {
    var front = new ArrayList<Integer>();
    var start = new ArrayList<Integer>(List.of(0));
    var position = new ArrayList<Integer>();
    var value = new ArrayList<Double>();
    var rhs = new ArrayList<Double>();
    int nrhs = rows.rhsCount();
    for (int i = 0; i < rows.rows(); i++) {
      if (taskOf[rows.front()[i]] == task) {
        front.add(rows.front()[i]);
        for (int k = rows.rowStart()[i]; k < rows.rowStart()[i + 1]; k++) {
          position.add(rows.position()[k]);
          value.add(rows.value()[k]);
        }
        start.add(position.size());
        for (int q = 0; q < nrhs; q++) {
          rhs.add(rows.rhs()[i * nrhs + q]);
        }
      }
    }
    return new RowBlock(
        front.stream().mapToInt(i -> i).toArray(),
        start.stream().mapToInt(i -> i).toArray(),
        position.stream().mapToInt(i -> i).toArray(),
        value.stream().mapToDouble(x -> x).toArray(),
        rhs.stream().mapToDouble(x -> x).toArray(),
        nrhs);
  }

  /**
   * Q'b by the kept reflectors, task by task.
   *
   * @param rows the rows that were factored, with the right-hand sides to transform
   * @param norms out: residual norms by right-hand side
   * @return by position x rhsCount, 0 at dead columns
   */
  double[] reflect(RowBlock rows, int[] taskOf, double[] norms) {
    int width = rows.rhsCount();
    double[] c = new double[analysis.columns() * width];
    var travelling = new ArrayList<ContributionRhs>();
    for (int t = 0; t < problems.size(); t++) {
      int[] fronts = problems.get(t).fronts();
      RowBlock mine = select(rows, taskOf, taskOf[fronts[0]]);
      var inputs = new ArrayList<ContributionRhs>();
      for (var it = travelling.iterator(); it.hasNext(); ) {
        var block = it.next();
        if (Arrays.binarySearch(fronts, analysis.parent(block.front())) >= 0) {
          inputs.add(0, block);
          it.remove();
        }
      }
      var run =
          new TaskReflection(analysis, fronts, mine.front(), mine.rhs(), width, false, inputs);
      factors.get(t).reflectors().forEach(run::run);
      travelling.addAll(run.outputs());
      for (int i = 0; i < run.positions().length; i++) {
        System.arraycopy(run.values(), i * width, c, run.positions()[i] * width, width);
      }
      for (int q = 0; q < width; q++) {
        norms[q] = Math.hypot(norms[q], run.residual()[q]);
      }
    }
    if (!travelling.isEmpty()) {
      throw new AssertionError("right-hand sides that nobody took: " + travelling.size());
    }
    return c;
  }

  /** n x n, row p is the row of R with its pivot at position p; dead rows zero. */
  double[][] denseR() {
    int n = analysis.columns();
    double[][] r = new double[n][n];
    for (FrontFactor f : fronts) {
      int at = 0;
      for (int k : f.livePivot()) {
        int p = analysis.column(f.front(), k);
        for (int j = k; j < f.fn(); j++) {
          r[p][analysis.column(f.front(), j)] = f.values().get(at++);
        }
      }
    }
    return r;
  }

  /** The backend's result as a factorization without singletons. */
  NumericFactorization factorization(double[] factors, double tolerance, int nrhs) {
    var none = new SingletonRows(new int[1], new int[0], new double[0], new double[0], nrhs);
    return new NumericFactorization(
        analysis, factors, none, fronts, residualSquares, tolerance, summary);
  }
}
