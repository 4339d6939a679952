/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.numeric.integrity.FaultProblem;
import io.sparqr.numeric.integrity.TaskCheck;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * The triangle that replaces the blocks for one parent has their Gram matrix, and no more rows than
 * columns.
 */
class BlockReducerTest {

  private static final int PROBLEMS = 400;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @Test
  void keepsTheGramMatrixOfTheBlocks() {
    int several = 0;
    int smaller = 0;
    for (long seed = 1; seed <= PROBLEMS; seed++) {
      FaultProblem p = FaultProblem.random(seed, 1);
      for (var group : outputsByParent(p).entrySet()) {
        if (group.getValue().size() < 2) {
          continue;
        }
        several++;
        SymbolicAnalysis a = p.problem().analysis();
        var reducer = new BlockReducer(a, group.getKey(), group.getValue());
        RowBlock in = reducer.stacked();
        RowBlock out = reducer.reduce();
        String what = "seed " + seed + ", front " + group.getKey();
        // the sums that an orthogonal transformation keeps, then every entry
        double departure =
            TaskCheck.verifyRows(a, group.getKey(), in, out, reducer.residualSquares());
        assertThat(departure)
            .as(what)
            .isLessThan(Tolerances.of(in.rows(), a.fn(group.getKey()), 1));
        sameGram(a.columns(), in, out, reducer.residualSquares(), what);
        int entries = out.rowStart()[out.rows()];
        assertThat((long) entries).as(what).isLessThanOrEqualTo(reducer.reducedValues());
        smaller += entries < reducer.values() ? 1 : 0;
        for (int i = 0; i < out.rows(); i++) {
          assertThat(out.front()[i]).isEqualTo(group.getKey());
          assertThat(out.rowStart()[i + 1])
              .as(what + ": no empty row")
              .isGreaterThan(out.rowStart()[i]);
        }
        RowBlock again = new BlockReducer(a, group.getKey(), group.getValue()).reduce();
        assertThat(again.value()).as(what + ": same bits").isEqualTo(out.value());
      }
    }
    assertThat(several).as("parents with several blocks").isGreaterThan(50);
    assertThat(smaller).as("reductions that save something").isGreaterThan(20);
  }

  /**
   * Rows of a front are checked at the cost of these rows: a panel has a front of ten rows for each
   * worker, and buffers of a fixed size once took longer than all else.
   */
  @Test
  void theCheckOfFewRowsTakesLittleMemory() {
    FaultProblem p = FaultProblem.random(3, 1);
    SymbolicAnalysis a = p.problem().analysis();
    int front = 0;
    var rows =
        new RowBlock(
            new int[] {front},
            new int[] {0, 1},
            new int[] {0},
            new double[] {2},
            new double[] {3},
            1);
    Runnable check = () -> TaskCheck.verifyRows(a, front, rows, rows, new double[1]);
    check.run();
    long before = THREADS.getCurrentThreadAllocatedBytes();
    check.run();
    assertThat(THREADS.getCurrentThreadAllocatedBytes() - before).isBetween(1L, 1L << 14);
  }

  /** Arrays end at 2^31 values; a task's memory is exhausted long before. */
  @Test
  void whatIsTooLargeGoesAsItIs() {
    assertThat(BlockReducer.fits(1L << 26, 2000, 1)).isTrue();
    assertThat(BlockReducer.fits((1L << 26) + 1, 2000, 1)).isFalse();
    assertThat(BlockReducer.fits(1L << 33, 2000, 1)).isFalse();
    assertThat(BlockReducer.fits(1000, 5000, 1)).isTrue();
    assertThat(BlockReducer.fits(1000, 6000, 1)).isFalse();
    assertThat(BlockReducer.fits(1000, 1L << 30, 1)).isFalse();
  }

  /** The blocks that leave the fronts below a front that has several children. */
  private static TreeMap<Integer, List<ContributionBlock>> outputsByParent(FaultProblem p) {
    SubtreeProblem whole = p.problem();
    SymbolicAnalysis a = whole.analysis();
    var groups = new TreeMap<Integer, List<ContributionBlock>>();
    int top = whole.fronts().length - 1;
    if (top == 0 || !whole.inputs().isEmpty()) {
      return groups;
    }
    int[] below = java.util.Arrays.copyOf(whole.fronts(), top);
    int from = whole.fronts()[top];
    RowBlock rows = rowsBelow(whole.rows(), from);
    var options = new FactorOptions(p.options().rankTolerance(), 1, 0);
    try (var cpu = new CpuSubtreeFactorizer()) {
      SubtreeFactor f = cpu.factor(new SubtreeProblem(a, below, rows, List.of()), options);
      for (ContributionBlock b : f.outputs()) {
        if (a.parent(b.front()) >= 0) {
          groups.computeIfAbsent(a.parent(b.front()), k -> new ArrayList<>()).add(b);
        }
      }
    }
    return groups;
  }

  private static RowBlock rowsBelow(RowBlock r, int front) {
    int n = 0;
    int entries = 0;
    for (int i = 0; i < r.rows(); i++) {
      if (r.front()[i] < front) {
        n++;
        entries += r.rowStart()[i + 1] - r.rowStart()[i];
      }
    }
    int rhs = r.rhsCount();
    var out =
        new RowBlock(
            new int[n],
            new int[n + 1],
            new int[entries],
            new double[entries],
            new double[n * rhs],
            rhs);
    int row = 0;
    int at = 0;
    for (int i = 0; i < r.rows(); i++) {
      if (r.front()[i] >= front) {
        continue;
      }
      int length = r.rowStart()[i + 1] - r.rowStart()[i];
      out.front()[row] = r.front()[i];
      System.arraycopy(r.position(), r.rowStart()[i], out.position(), at, length);
      System.arraycopy(r.value(), r.rowStart()[i], out.value(), at, length);
      System.arraycopy(r.rhs(), i * rhs, out.rhs(), row * rhs, rhs);
      at += length;
      out.rowStart()[++row] = at;
    }
    return out;
  }

  private static void sameGram(int n, RowBlock in, RowBlock out, double[] squares, String what) {
    double[][] a = gram(n, in);
    double[][] b = gram(n, out);
    for (int q = 0; q < squares.length; q++) {
      b[n + q][n + q] += squares[q];
    }
    for (int i = 0; i < n + squares.length; i++) {
      for (int j = 0; j < n + squares.length; j++) {
        // only the norms of the tails of two right-hand sides are known
        if (i >= n && j >= n && i != j) {
          continue;
        }
        double size = Math.sqrt(a[i][i] * a[j][j]);
        assertThat(Math.abs(a[i][j] - b[i][j]))
            .as("%s, entry %d, %d", what, i, j)
            .isLessThanOrEqualTo(300 * Math.ulp(1.0) * size);
      }
    }
  }

  private static double[][] gram(int n, RowBlock r) {
    int rhs = r.rhsCount();
    double[][] g = new double[n + rhs][n + rhs];
    double[] row = new double[n + rhs];
    for (int i = 0; i < r.rows(); i++) {
      java.util.Arrays.fill(row, 0);
      for (int e = r.rowStart()[i]; e < r.rowStart()[i + 1]; e++) {
        row[r.position()[e]] = r.value()[e];
      }
      System.arraycopy(r.rhs(), i * rhs, row, n, rhs);
      for (int k = 0; k < n + rhs; k++) {
        for (int l = 0; l < n + rhs && row[k] != 0; l++) {
          g[k][l] += row[k] * row[l];
        }
      }
    }
    return g;
  }
}
