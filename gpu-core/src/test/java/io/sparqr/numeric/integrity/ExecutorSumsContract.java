/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.cpu.CpuSubtreeFactorizer;
import io.sparqr.backend.staged.ForwardingExecutor;
import io.sparqr.backend.staged.StagedFactorization;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.numeric.Tolerances;
import io.sparqr.sparse.CsrMatrix;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The column sums of an executor are those that {@link RoundExecutor} describes, computed here
 * entry by entry. A comparison of an executor's input with its own output would not see a part that
 * is left out of both.
 */
public abstract class ExecutorSumsContract {

  /** The executor under test; closed by the test. */
  protected abstract RoundExecutor executor();

  /** Sums over rows, in plain loops. */
  private static final class Expected {
    private final int columns;
    private final double[] scale;
    private final double part;
    final double[] squares;
    final double[] probe;

    Expected(int columns, double[] scale) {
      this.columns = columns;
      this.scale = scale;
      int rhs = scale.length - columns;
      part = ColumnProbe.right(rhs);
      squares = new double[scale.length];
      probe = new double[scale.length];
    }

    /** Adds a row with values at [at, at + count) and right-hand sides at rightAt. */
    void row(int[] number, int from, double[] v, int at, int count, double[] right, int rightAt) {
      double t = 0;
      for (int k = 0; k < count; k++) {
        t += v[at + k] * scale[number[from + k]];
      }
      double g = 0;
      for (int j = columns; j < scale.length; j++) {
        g += part * right[rightAt + j - columns] * scale[j];
      }
      for (int k = 0; k < count; k++) {
        add(number[from + k], v[at + k], t + g);
      }
      for (int j = columns; j < scale.length; j++) {
        add(j, right[rightAt + j - columns], t);
      }
    }

    private void add(int j, double value, double p) {
      squares[j] += value * scale[j] * (value * scale[j]);
      probe[j] += value * scale[j] * p;
    }

    void rows(TaskColumns numbers, RowBlock r) {
      int[] number = new int[r.rowStart()[r.rows()]];
      numbers.numbers(r.position(), 0, number.length, number, 0);
      for (int i = 0; i < r.rows(); i++) {
        int at = r.rowStart()[i];
        row(number, at, r.value(), at, r.rowStart()[i + 1] - at, r.rhs(), i * r.rhsCount());
      }
    }

    void blocks(TaskColumns numbers, List<ContributionBlock> blocks) {
      for (ContributionBlock b : blocks) {
        int[] number = new int[b.cn()];
        numbers.tailNumbers(b.front(), number, 0);
        int at = 0;
        for (int i = 0; i < b.cm(); i++) {
          row(number, i, b.values(), at, b.cn() - i, b.rhs(), i * b.rhsCount());
          at += b.cn() - i;
        }
      }
    }

    void factor(TaskColumns numbers, FrontFactor f) {
      int[] number = new int[f.fn()];
      numbers.numbers(f.front(), number, 0);
      double[] values = new double[Math.toIntExact(f.length())];
      f.values().get(0, values);
      int at = 0;
      for (int i = 0; i < f.rank(); i++) {
        int first = f.livePivot()[i];
        row(number, first, values, at, f.fn() - first, f.rhs(), i * f.rhsCount());
        at += f.fn() - first;
      }
    }

    void same(ColumnSums sums, String what) {
      for (int j = 0; j < scale.length; j++) {
        double size = ColumnProbe.mostProbe(columns, scale.length - columns);
        double limit = Tolerances.of(columns, columns, size);
        Tolerances.require(Math.abs(sums.squares(j) - squares[j]), limit, "%s, %d", what, j);
        Tolerances.require(Math.abs(sums.probe(j) - probe[j]), limit, "%s, probe %d", what, j);
      }
    }
  }

  /** Keeps the sums of the stage, of which there is one. */
  private static final class Keeping extends ForwardingExecutor {
    private final RoundExecutor inner;
    double[] scale;
    TaskColumns columns;
    ColumnSums in;
    ColumnSums out;

    Keeping(RoundExecutor inner) {
      this.inner = inner;
    }

    @Override
    protected RoundExecutor inner() {
      return inner;
    }

    @Override
    public Compared compare(StageProgram p, double[] with, double[] residualSquares) {
      assertThat(in).as("stages before").isNull();
      boolean[] all = new boolean[p.fronts()];
      Arrays.fill(all, true);
      scale = with;
      columns = p.columns().all();
      in = new ColumnSums(scale.length);
      out = new ColumnSums(scale.length);
      inner.inputSums(p, scale, all, in);
      inner.outputSums(p, scale, all, out);
      return inner.compare(p, scale, residualSquares);
    }
  }

  private void check(SubtreeProblem p, String what) {
    var keeping = new Keeping(executor());
    try (var cpu = new CpuSubtreeFactorizer();
        keeping) {
      // Without a tolerance every front is sound.
      SubtreeFactor f =
          new StagedFactorization(what, keeping, cpu).factor(p, new FactorOptions(-1, 1, 0));
      int n = keeping.columns.count();
      var in = new Expected(n, keeping.scale);
      in.rows(keeping.columns, p.rows());
      in.blocks(keeping.columns, p.inputs());
      in.same(keeping.in, what + ", in");
      var out = new Expected(n, keeping.scale);
      f.fronts().forEach(front -> out.factor(keeping.columns, front));
      out.blocks(keeping.columns, f.outputs());
      out.same(keeping.out, what + ", out");
    }
  }

  /** Rows of all lengths, also none, and rows of only a few. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 5, 40})
  void rowsOfAllLengths(int rhs) {
    var random = new Random(rhs);
    for (int most : new int[] {3, 60, 200}) {
      double[][] dense = new double[700][200];
      for (double[] row : dense) {
        for (int k = random.nextInt(most); k > 0; k--) {
          row[random.nextInt(row.length)] = random.nextGaussian();
        }
      }
      CsrMatrix a = TestMatrices.ofDense(dense, 200, false);
      double[] b = TestMatrices.vector(a.rows() * rhs, random);
      String what = "up to %d entries, %d rhs".formatted(most, rhs);
      check(IntegrityCases.of(what, a, b, rhs, random).problem(), what);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3})
  void rowsOfThousands(int rhs) {
    var random = new Random(rhs);
    CsrMatrix a = TestMatrices.dense(3, 2500, random);
    double[] b = TestMatrices.vector(a.rows() * rhs, random);
    String what = "long rows, %d rhs".formatted(rhs);
    check(IntegrityCases.of(what, a, b, rhs, random).problem(), what);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 40})
  void blocksInAndOut(int rhs) {
    var random = new Random(rhs);
    var grid = Gallery.generate("gen:cells2d20");
    double[] v = TestMatrices.vector(grid.nonzeros(), random);
    var a = new CsrMatrix(grid.rows(), grid.columns(), grid.rowStart(), grid.columnIndex(), v);
    double[] b = TestMatrices.vector(rhs * a.rows(), random);
    String what = "blocks, %d rhs".formatted(rhs);
    SubtreeProblem whole = IntegrityCases.of(what, a, b, rhs, random).problem();
    int end = whole.fronts().length;
    SubtreeProblem below = IntegrityCases.part(whole, 0, end - 2, List.of());
    check(below, what + ", below");
    try (var cpu = new CpuSubtreeFactorizer()) {
      List<ContributionBlock> out = cpu.factor(below, new FactorOptions(-1, 1, 0)).outputs();
      assertThat(out).isNotEmpty();
      check(IntegrityCases.part(whole, end - 2, end, out), what + ", above");
    }
  }
}
