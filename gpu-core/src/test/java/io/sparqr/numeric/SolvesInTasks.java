/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.numeric.integrity.TaskColumns;
import java.util.Arrays;
import java.util.List;

/**
 * Solves with R that stayed on a backend in several tasks, up the tree and down, as the distributed
 * pipeline does.
 */
final class SolvesInTasks {

  private final TaskRun run;

  /** By task: the positions of its pivots, then those of the columns outside. */
  private final int[][] position;

  /** The number of pivots among them. */
  private final int[] pivots;

  SolvesInTasks(TaskRun run) {
    this.run = run;
    int tasks = run.problems.size();
    position = new int[tasks][];
    pivots = new int[tasks];
    for (int t = 0; t < tasks; t++) {
      int[] fronts = run.problems.get(t).fronts();
      var columns = new TaskColumns(run.analysis, fronts);
      position[t] = new int[columns.count()];
      Arrays.setAll(position[t], columns::position);
      pivots[t] = Arrays.stream(fronts).map(run.analysis::fp).sum();
    }
  }

  /** Whether R of every task has stayed. */
  boolean stayed() {
    return run.factors.stream().allMatch(f -> f.residence().factor().isPresent());
  }

  /** Tasks that are no whole trees. */
  long parts() {
    long parts = 0;
    for (int t = 0; t < pivots.length; t++) {
      parts += pivots[t] < position[t].length ? 1 : 0;
    }
    return parts;
  }

  private ResidentFactor factor(int t) {
    return run.factors.get(t).residence().factor().orElseThrow();
  }

  /** R'R x = c by position. */
  double[] normal(double[] c, int width) {
    double[] v = c.clone();
    for (int t = 0; t < pivots.length; t++) {
      double[] given = values(v, t, 0, pivots[t], width);
      double[] y = factor(t).forward(given, width).orElseThrow();
      assertThat(factor(t).forward(given, width).orElseThrow()).as("again").isEqualTo(y);
      assertThat(y).hasSize(position[t].length * width);
      for (int k = 0; k < position[t].length; k++) {
        for (int q = 0; q < width; q++) {
          int at = position[t][k] * width + q;
          v[at] = y[k * width + q] + (k < pivots[t] ? 0 : v[at]);
        }
      }
    }
    for (int t = pivots.length - 1; t >= 0; t--) {
      double[] given = values(v, t, 0, position[t].length, width);
      double[] x = factor(t).back(given, width).orElseThrow();
      assertThat(factor(t).back(given, width).orElseThrow()).as("again").isEqualTo(x);
      put(x, t, v, width);
    }
    return v;
  }

  /** A position's number among the pivots of its task. */
  int number(int p) {
    for (int t = 0; t < pivots.length; t++) {
      int at = Arrays.binarySearch(position[t], 0, pivots[t], p);
      if (at >= 0) {
        return at;
      }
    }
    throw new IllegalArgumentException("position " + p + " is no pivot");
  }

  /** R x = Q'b by position, and the probe's solution after it. */
  double[] stored(int width) {
    double[] x = new double[run.analysis.columns() * width];
    for (int t = pivots.length - 1; t >= 0; t--) {
      double[] outside = values(x, t, pivots[t], position[t].length, width);
      double[] own = factor(t).solveStored(outside).orElseThrow();
      assertThat(factor(t).solveStored(outside).orElseThrow()).as("again").isEqualTo(own);
      put(own, t, x, width);
    }
    return x;
  }

  private double[] values(double[] v, int t, int from, int to, int width) {
    double[] values = new double[(to - from) * width];
    for (int k = from; k < to; k++) {
      System.arraycopy(v, position[t][k] * width, values, (k - from) * width, width);
    }
    return values;
  }

  private void put(double[] own, int t, double[] v, int width) {
    assertThat(own).hasSize(pivots[t] * width);
    for (int k = 0; k < pivots[t]; k++) {
      System.arraycopy(own, k * width, v, position[t][k] * width, width);
    }
  }

  /** The rows of R, copied to the host task by task. */
  List<List<FrontFactor>> fetched(int threads) {
    return run.factors.stream()
        .map(f -> f.residence().factor().orElseThrow().fetch(RowMemory.HEAP, threads).orElseThrow())
        .toList();
  }

  void close() {
    run.factors.forEach(f -> f.residence().close());
  }
}
