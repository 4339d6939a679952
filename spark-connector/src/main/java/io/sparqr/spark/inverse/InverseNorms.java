/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inverse;

import io.sparqr.numeric.SingletonRows;
import io.sparqr.spark.plan.SolvePlan;
import io.sparqr.spark.solve.Norms;
import java.util.Arrays;
import java.util.List;

/**
 * Norms of the rows of R^-1, sqrt(diag((R'R)^-1)), for the same R that gave x: those of fronts by
 * the selected inverse from the top of the tree down ({@link FrontInverse}), those of singletons
 * from their rows ({@link SingletonInverse}), which query the tree for sqrt(u'Z u). If u's columns
 * meet in one front, that front has the answer; otherwise R'w = u is solved, ||w|| = sqrt(u'Z u),
 * {@value #BATCH} right-hand sides at a time.
 */
public final class InverseNorms {

  /** Right-hand sides per batch. */
  private static final int BATCH = 64;

  /** Maximum number of values in a batch, 64 MB. */
  private static final long BATCH_VALUES = 8 << 20;

  private final SolvePlan plan;
  private final SingletonInverse singletons;
  private final int[] dead;
  private final Tree tree;

  /** The operations on the stored R. */
  interface Tree {

    /**
     * Descends from the top of the tree.
     *
     * @param asked queries for each task, see {@link SubtreeInverse#run}
     * @param norm size n plus the number of queries: receives the values in the frames
     */
    void descend(List<byte[]> asked, double[] norm);

    /** R'y = c from the lowest level up, in place, by position, width values each. */
    void forward(double[] c, int width);
  }

  /**
   * For one R.
   *
   * @param dead original indices of dependent columns
   */
  public InverseNorms(SolvePlan plan, SingletonRows rows, int[] dead, Tree tree) {
    this.plan = plan;
    this.dead = dead;
    int[] positions = Arrays.stream(dead).map(plan::position).toArray();
    this.singletons = new SingletonInverse(plan, rows, positions);
    this.tree = tree;
  }

  /**
   * sqrt(diag((A'A)^-1)) by original column in the caller's units, NaN for dependent columns.
   *
   * @throws io.sparqr.error.NonFiniteSolutionException that names the column, if one is beyond the
   *     range of doubles
   */
  public double[] run() {
    double[] z = byPosition();
    double[] norms = new double[z.length];
    for (int j = 0; j < z.length; j++) {
      double norm = z[plan.position(j)];
      norms[j] = plan.scaled(j, norm);
      if (Double.isInfinite(norms[j])) {
        throw plan.overflow("the standard error", j, norm);
      }
    }
    for (int j : dead) {
      norms[j] = Double.NaN;
    }
    return norms;
  }

  /** The norms by position, for equilibrated columns; 0 for dead ones. */
  private double[] byPosition() {
    int n = plan.analysis().columns();
    int questions = singletons.questions();
    double[] norm = new double[Math.addExact(n, questions)];
    tree.descend(singletons.asked(), norm);
    double[] answer = Arrays.copyOfRange(norm, n, norm.length);
    solve(singletons.unanswered(), answer);
    double[] all = Arrays.copyOf(norm, n);
    singletons.complete(all, answer);
    return all;
  }

  /** Solves the queries that no front can answer. */
  private void solve(int[] open, double[] answer) {
    int n = plan.analysis().columns();
    int batch = (int) Math.max(1, Math.min(BATCH, BATCH_VALUES / n));
    for (int from = 0; from < open.length; from += batch) {
      int width = Math.min(batch, open.length - from);
      double[] c = plan.vector(width);
      for (int k = 0; k < width; k++) {
        singletons.put(open[from + k], c, k, width);
      }
      tree.forward(c, width);
      for (int k = 0; k < width; k++) {
        answer[open[from + k]] = Norms.norm(c, k, n, width);
      }
    }
  }
}
