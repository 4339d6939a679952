/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.gram;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.numeric.Tolerances;
import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.DenseKernels;
import io.sparqr.threads.Crew;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Trees at the edges: their memory, right-hand sides of all numbers and sizes, empty fronts. */
class GramLimitsTest {

  private static final DenseKernels KERNELS = BlasLoader.kernels();

  private static final double TOLERANCE = Math.pow(2, -33);

  private static final RowPieces NO_ROWS = pieces(0, new int[40], (p, view) -> {});

  private static RowPieces pieces(int count, int[] start, BiConsumer<Integer, RowPiece> view) {
    return new RowPieces() {
      @Override
      public int count() {
        return count;
      }

      @Override
      public int start(int k) {
        return start[k];
      }

      @Override
      public void piece(int p, RowPiece to) {
        view.accept(p, to);
      }
    };
  }

  private static int[] starts(GramCase c) {
    return IntStream.rangeClosed(0, c.shape.fronts()).map(c::start).toArray();
  }

  private static GramQr factor(RowPieces rows, GramShape shape, int rhs, Crew crew) {
    return GramQr.factor(KERNELS, rows, shape, rhs, TOLERANCE, part -> {}, crew);
  }

  /** The same tree with right-hand sides of its own, row-major. */
  private static GramQr factor(GramCase c, double[] b, int rhs) {
    RowPieces rows =
        pieces(
            c.count(),
            starts(c),
            (p, view) -> {
              c.piece(p, view);
              view.rhsAt(b, p * rhs);
            });
    return factor(rows, c.shape, rhs, Crew.ALONE);
  }

  private static GramCase tree(int seed) {
    var random = new Random(seed);
    return GramCase.tree(random, 12, 6, 5, (i, j) -> random.nextGaussian());
  }

  @Test
  void eachOfManyRightHandSidesIsThatOfItsOwn() {
    GramCase c = tree(1);
    int rhs = 2 * GramQr.SIDES + 3;
    int m = c.rows.length;
    double[] b = new Random(2).doubles((long) m * rhs, -1, 1).toArray();
    GramQr all = factor(c, b, rhs);
    assertThat(all.refused()).isEmpty();
    for (int q = 0; q < rhs; q++) {
      double[] one = new double[m];
      for (int i = 0; i < m; i++) {
        one[i] = b[i * rhs + q];
      }
      GramQr single = factor(c, one, 1);
      double square = Arrays.stream(one).map(v -> v * v).sum();
      var near = within(Tolerances.REORDERED * square);
      assertThat(all.residualSquares()[q])
          .as("side %d: square", q)
          .isCloseTo(single.residualSquares()[0], near);
      for (int k = 0; k < c.shape.fronts(); k++) {
        int n = c.shape.pivots(k) + c.shape.tail(k);
        for (int i = 0; i < c.shape.rows(k); i++) {
          assertThat(all.rows(k).get(i, n + q))
              .as("side %d, front %d, row %d", q, k, i)
              .isCloseTo(single.rows(k).get(i, n), near);
        }
      }
    }
  }

  @Test
  void aThousandRightHandSidesTakeNoMoreThanTheFront() {
    int n = 5000;
    int rhs = 1000;
    long front = 8L * n * (n + rhs);
    long bytes = GramQr.bytes(NO_ROWS, GramShape.single(n, n), rhs);
    assertThat(bytes).isBetween(front, front + front / 2);
  }

  /** Pairs of fronts below one: what the upper of each leaves waits until all have. */
  @Test
  void squaresThatWaitAreCounted() {
    int pairs = 10;
    int tail = 400;
    int[] pivotStart = IntStream.rangeClosed(0, 2 * pairs + 1).map(k -> 5 * k).toArray();
    pivotStart[2 * pairs + 1] += tail - 5;
    int[] tailStart = new int[2 * pairs + 2];
    int[] parent = new int[2 * pairs + 1];
    int[] tails = new int[2 * pairs * tail];
    for (int k = 0; k < 2 * pairs; k++) {
      tailStart[k + 1] = (k + 1) * tail;
      parent[k] = k % 2 == 0 ? k + 1 : 2 * pairs;
      for (int j = 0; j < tail; j++) {
        tails[k * tail + j] = (k % 2 == 0 && j < 5 ? 5 * (k + 1) : pivotStart[2 * pairs]) + j;
      }
    }
    tailStart[2 * pairs + 1] = tails.length;
    parent[2 * pairs] = -1;
    var shape = new GramShape(pivotStart, tailStart, tails, parent);
    long waiting = 8L * pairs * tail * (tail + 1) / 2;
    long root = 8L * tail * tail;
    assertThat(GramQr.bytes(NO_ROWS, shape, 1)).isBetween(waiting + root, 2 * waiting + root);
  }

  @Test
  void squaresOfRightHandSidesOutOfRangeAreRefused() {
    GramCase c = tree(3);
    for (double scale : new double[] {1e-200, 1e-120, 1e120, 1e200, Double.NaN}) {
      double[] b = Arrays.stream(c.b).map(v -> scale * v).toArray();
      assertThat(factor(c, b, 1).refused()).as("%g", scale).contains("out of range");
    }
    GramQr none = factor(c, new double[c.b.length], 1);
    assertThat(none.refused()).isEmpty();
    assertThat(none.residualSquares()).containsExactly(0);
    assertThat(factor(c, new double[0], 0).refused()).isEmpty();
  }

  /** Rounded sums of so many products would lose some hundred units in more than 8 directions. */
  @Test
  void sumsOfManyProductsLoseNothing() {
    int m = 100_000;
    int n = 30;
    double[] value = new Random(7).doubles((long) m * n, -1, 1).toArray();
    int[] all = IntStream.range(0, n).toArray();
    var rows =
        pieces(
            m,
            new int[] {0, m},
            (p, view) -> view.size(1, n).columnsAt(all, 0).valuesAt(value, p * n));
    GramQr qr = factor(rows, GramShape.single(n, n), 0, Crew.ALONE);
    assertThat(qr.refused()).isEmpty();
    assertThat(qr.error()).isLessThan(4 * Tolerances.EPS);
  }

  @Test
  void rowsWithoutEntriesCountInTheResidual() {
    GramCase c = tree(4);
    int extra = c.start(3);
    int[] start = starts(c);
    for (int k = 3; k < start.length; k++) {
      start[k]++;
    }
    RowPieces more =
        pieces(
            c.count() + 1,
            start,
            (p, view) -> {
              if (p == extra) {
                view.size(1, 0).rhsAt(new double[] {3}, 0);
              } else {
                c.piece(p < extra ? p : p - 1, view);
              }
            });
    double square = factor(c, c.shape, 1, Crew.ALONE).residualSquares()[0];
    GramQr qr = factor(more, c.shape, 1, Crew.ALONE);
    assertThat(qr.refused()).isEmpty();
    assertThat(qr.residualSquares()[0])
        .isCloseTo(square + 9, within(Tolerances.REORDERED * (square + 9)));
  }

  /** Two pivots; a front of no columns above them; the root with two others. */
  @Test
  void aFrontWithoutColumnsPassesNothingOn() {
    int[] none = {};
    var shape = new GramShape(new int[] {0, 2, 2, 4}, new int[4], none, new int[] {1, 2, -1});
    double[][] value = {{1, 2}, {3, 1}, {2, 2}, {4, 1}, {1, 3}, {1, 1}};
    RowPieces rows =
        pieces(
            6,
            new int[] {0, 3, 3, 6},
            (p, view) ->
                view.size(1, 2)
                    .columnsAt(p < 3 ? new int[] {0, 1} : new int[] {2, 3}, 0)
                    .valuesAt(value[p], 0));
    GramQr qr = factor(rows, shape, 0, Crew.ALONE);
    assertThat(qr.refused()).isEmpty();
    assertThat(qr.rows(0).get(0, 0)).isCloseTo(Math.sqrt(14), within(Tolerances.REORDERED));
    assertThat(qr.kept(1)).isEmpty();
    assertThat(qr.rows(2).get(0, 0)).isCloseTo(Math.sqrt(18), within(Tolerances.REORDERED));
  }

  /** Pairs of columns that hardly differ in a leaf: what is left of the second is a thirtieth. */
  private static GramCase pairs(int pairs, Random random) {
    int leaf = 2 * pairs;
    int n = leaf + 10;
    double[][] rows = new double[2 * n][n];
    for (int i = 0; i < rows.length; i++) {
      boolean below = i < rows.length / 2;
      for (int j = below ? 0 : leaf; j < (below ? leaf + 1 : n); j++) {
        rows[i][j] =
            j < leaf && j % 2 == 1
                ? rows[i][j - 1] + random.nextGaussian() / 30
                : random.nextGaussian();
      }
    }
    int[] sizes = new int[rows.length];
    Arrays.fill(sizes, 1);
    var shape =
        new GramShape(
            new int[] {0, leaf, n}, new int[] {0, 1, 1}, new int[] {leaf}, new int[] {1, -1});
    var b = new double[rows.length];
    return new GramCase(rows, b, sizes, shape, new int[] {0, n, 2 * n});
  }

  /** Where R is small in many directions, the tree is left before its last front is begun. */
  @Test
  void aTreeOfManySmallPivotsIsLeftAtOnce() {
    for (int pairs : new int[] {16, 17}) {
      GramCase c = pairs(pairs, new Random(3));
      int[] read = new int[1];
      RowPieces rows =
          pieces(
              c.count(),
              starts(c),
              (p, view) -> {
                read[0] += p == c.start(1) ? 1 : 0;
                c.piece(p, view);
              });
      new RowProducts(rows, new GramChunks(c.shape)).squares(Crew.ALONE);
      int before = read[0];
      GramQr qr = factor(rows, c.shape, 1, Crew.ALONE);
      boolean left = qr.refused().equals("more than 16 pivots below 1/8 of their columns");
      assertThat(left).as("%d pairs: %s", pairs, qr.refused()).isEqualTo(pairs > 16);
      assertThat(read[0] > 2 * before).as("%d pairs, root begun", pairs).isEqualTo(pairs <= 16);
    }
  }

  /** The crew is asked before each front of a chunk whether the job goes on. */
  @Test
  void aCancelledJobEndsBetweenTwoFronts() {
    var random = new Random(5);
    GramCase c = GramCase.tree(random, 300, 4, 4, (i, j) -> random.nextGaussian());
    int[] chunk = new GramChunks(c.shape).chunk[0];
    assertThat(chunk.length).isGreaterThan(5);
    int from = c.start(chunk[2]);
    int last = chunk[chunk.length - 1];
    boolean[] state = new boolean[3];
    RowPieces rows =
        pieces(
            c.count(),
            starts(c),
            (p, view) -> {
              state[1] |= state[0] && p == from;
              state[2] |= state[1] && p >= c.start(last) && p < c.start(last + 1);
              c.piece(p, view);
            });
    double[] norms = new RowProducts(rows, new GramChunks(c.shape)).squares(Crew.ALONE);
    var chunks = new GramChunks(c.shape);
    var any = GramFronts.Small.ANY;
    var fronts = new GramFronts(KERNELS, c.shape, chunks, rows, 1, norms, c.n, any);
    Crew stopped =
        (count, task) ->
            IntStream.range(0, count)
                .forEach(
                    i -> {
                      if (state[1]) {
                        throw new CancellationException("told");
                      }
                      task.accept(i);
                    });
    state[0] = true;
    assertThatThrownBy(() -> fronts.factor(part -> {}, stopped))
        .isInstanceOf(CancellationException.class);
    assertThat(state[2]).as("the chunk's last front was begun").isFalse();
  }
}
