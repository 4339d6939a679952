/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric;

import io.sparqr.numeric.dense.BlasLoader;
import io.sparqr.numeric.dense.TallReducer;
import io.sparqr.symbolic.SymbolicAnalysis;
import java.util.Arrays;
import java.util.List;

/**
 * Contribution blocks for one parent, stacked and triangularized before they are sent. They become
 * rows of the parent's front, at most as many as the union of the blocks' columns (TSQR as in
 * {@link MapSideReducer}). Exactly orthogonal, no rank decision; the same blocks in the same order
 * give the same bits. Bytes: 16 MB of rows, or twice as many rows as columns if that is more.
 */
public final class BlockReducer {

  private static final long BUFFER_BYTES = 16L << 20;

  /**
   * Limit for the values of the blocks and of the buffer; beyond it a reduction takes too much
   * memory.
   */
  private static final long MOST_VALUES = 1L << 26;

  private final List<ContributionBlock> blocks;
  private final int parent;
  private final int rhsCount;

  /** Positions of the columns that occur in any block, ascending. */
  private final int[] columns;

  private final long rows;
  private final long values;
  private double[] residualSquares;

  /**
   * A reducer for the blocks of some children of a front. O(columns of the blocks).
   *
   * @param blocks ascending by front, at least one
   */
  public BlockReducer(SymbolicAnalysis analysis, int parent, List<ContributionBlock> blocks) {
    this.blocks = blocks;
    this.parent = parent;
    rhsCount = blocks.get(0).rhsCount();
    rows = blocks.stream().mapToLong(ContributionBlock::cm).sum();
    values = blocks.stream().mapToLong(b -> b.values().length).sum();
    columns =
        blocks.stream()
            .flatMapToInt(b -> Arrays.stream(positions(analysis, b)))
            .sorted()
            .distinct()
            .toArray();
    numbers = blocks.stream().map(b -> numbers(positions(analysis, b))).toArray(int[][]::new);
    residualSquares = new double[rhsCount];
  }

  /** By block: the places of its columns in {@code columns}. */
  private final int[][] numbers;

  private static int[] positions(SymbolicAnalysis a, ContributionBlock b) {
    int from = Math.toIntExact(a.data().tailStart()[b.front()]);
    return Arrays.copyOfRange(a.data().tailColumns(), from, from + b.cn());
  }

  private int[] numbers(int[] positions) {
    int[] number = new int[positions.length];
    int at = 0;
    for (int k = 0; k < positions.length; k++) {
      while (columns[at] != positions[k]) {
        at++;
      }
      number[k] = at;
    }
    return number;
  }

  /** Values of the blocks, right-hand sides not counted. */
  public long values() {
    return values;
  }

  /** The most values left by a reduction. */
  public long reducedValues() {
    long left = Math.min(rows, columns.length);
    return ContributionBlock.packedLength(left, columns.length);
  }

  /**
   * Whether a task has room for a reduction's arrays beside its fronts: a second copy of the blocks
   * (12 bytes per value) and two buffers. If not, the blocks are sent unreduced.
   */
  public boolean fits() {
    return fits(values, columns.length, rhsCount);
  }

  static boolean fits(long values, long columns, int rhsCount) {
    return values <= MOST_VALUES && (2 * columns + 1) * (columns + rhsCount) <= MOST_VALUES;
  }

  /** Approximate flops of the reduction. */
  public double flops() {
    return 2.0 * rows * columns.length * columns.length;
  }

  /** The blocks' rows as rows of the parent, unreduced. */
  public RowBlock stacked() {
    int count = Math.toIntExact(rows);
    var out = empty(count, Math.toIntExact(values));
    int row = 0;
    int at = 0;
    for (int b = 0; b < blocks.size(); b++) {
      ContributionBlock block = blocks.get(b);
      System.arraycopy(block.values(), 0, out.value(), at, block.values().length);
      System.arraycopy(block.rhs(), 0, out.rhs(), row * rhsCount, block.rhs().length);
      for (int i = 0; i < block.cm(); i++) {
        for (int k = i; k < block.cn(); k++) {
          out.position()[at++] = columns[numbers[b][k]];
        }
        out.rowStart()[++row] = at;
      }
    }
    return out;
  }

  private RowBlock empty(int count, int entries) {
    int[] owner = new int[count];
    Arrays.fill(owner, parent);
    return new RowBlock(
        owner,
        new int[count + 1],
        new int[entries],
        new double[entries],
        new double[Math.multiplyExact(count, rhsCount)],
        rhsCount);
  }

  /** The reduced rows: an upper trapezoid in the blocks' columns, without zeros and empty rows. */
  public RowBlock reduce() {
    int n = columns.length;
    int width = n + rhsCount;
    var tall =
        new TallReducer(
            BlasLoader.kernels(), n, rhsCount, TallReducer.capacity(n, rhsCount, BUFFER_BYTES));
    for (int b = 0; b < blocks.size(); b++) {
      stack(blocks.get(b), numbers[b], tall, n);
    }
    tall.reduce();
    int count = 0;
    int entries = 0;
    double[] r = tall.rows();
    double[] squares = tall.residualSquares().clone();
    boolean[] stays = new boolean[tall.held()];
    for (int i = 0; i < stays.length; i++) {
      int in = 0;
      for (int k = 0; k < n; k++) {
        in += r[i * width + k] != 0 ? 1 : 0;
      }
      stays[i] = in > 0;
      count += in > 0 ? 1 : 0;
      entries += in;
      for (int q = 0; q < rhsCount && in == 0; q++) {
        double x = r[i * width + n + q];
        squares[q] += x * x;
      }
    }
    residualSquares = squares;
    var out = empty(count, entries);
    int row = 0;
    int at = 0;
    for (int i = 0; i < stays.length; i++) {
      if (!stays[i]) {
        continue;
      }
      for (int k = 0; k < n; k++) {
        double x = r[i * width + k];
        if (x != 0) {
          out.position()[at] = columns[k];
          out.value()[at++] = x;
        }
      }
      System.arraycopy(r, i * width + n, out.rhs(), row * rhsCount, rhsCount);
      out.rowStart()[++row] = at;
    }
    return out;
  }

  private void stack(ContributionBlock b, int[] number, TallReducer tall, int n) {
    int from = 0;
    for (int i = 0; i < b.cm(); i++) {
      int at = tall.open(number[i]);
      double[] to = tall.rows();
      for (int k = i; k < b.cn(); k++) {
        to[at + number[k]] = b.values()[from++];
      }
      System.arraycopy(b.rhs(), i * rhsCount, to, at + n, rhsCount);
    }
  }

  /** Size rhsCount: squares of the right-hand sides of rows eliminated by the reduction. */
  public double[] residualSquares() {
    return residualSquares.clone();
  }
}
