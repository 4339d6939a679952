/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.numeric.ColumnNorms;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.RowBlock;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The norms of the columns and right-hand sides of rows and contribution blocks, and the probe
 * derived from them. The results do not depend on the number of threads.
 */
final class NormsIn {

  /** Columns per chunk when multipliers are computed. */
  private static final int COLUMNS = 1 << 13;

  /** A further thread pays for at least this many numbers. */
  private static final int PER_THREAD = 1 << 19;

  /** Rows per chunk for right-hand sides. */
  private static final int RIGHT_ROWS = 1 << 17;

  /** Sums of squares in this range have lost nothing significant to underflow or overflow. */
  private static final double LEAST_SQUARES = 0x1p-900;

  private static final double LARGEST_SQUARES = 0x1p900;

  private final TaskColumns columns;
  private final RowBlock rows;
  private final int @Nullable [] which;
  private final List<ContributionBlock> blocks;
  private final int threads;

  /** Parameters as in {@link RowsIn}. */
  NormsIn(
      TaskColumns columns,
      RowBlock rows,
      int @Nullable [] which,
      List<ContributionBlock> blocks,
      int threads) {
    this.columns = columns;
    this.rows = rows;
    this.which = which;
    this.blocks = blocks;
    this.threads = threads;
  }

  private int count() {
    return which == null ? rows.rows() : which.length;
  }

  private int row(int k) {
    return which == null ? k : which[k];
  }

  /** See {@link RowsIn#probe}. */
  ColumnProbe probe(BitSet without) {
    int n = columns.count();
    int rhs = rows.rhsCount();
    double[] squares = new double[n + rhs];
    addSquares(squares);
    boolean plain = true;
    for (double s : squares) {
      plain &= inRange(s);
    }
    ColumnNorms exact = plain ? null : norms();
    double[] scale = new double[n + rhs];
    for (int j = 0; j < n + rhs; j++) {
      double norm = exact == null ? Math.sqrt(squares[j]) : exact.norm(j);
      scale[j] = ColumnProbe.scale(j < n ? columns.position(j) : -1 - (j - n), norm);
    }
    return ColumnProbe.of(n, scale, without);
  }

  /** See {@link RowsIn#unitProbe}. */
  ColumnProbe unitProbe(BitSet without) {
    int n = columns.count();
    int rhs = rows.rhsCount();
    double[] scale = new double[n + rhs];
    OrderedChunks.run((n + COLUMNS - 1) / COLUMNS, worth(n), () -> new UnitScales(scale));
    double[] squares = new double[rhs];
    int chunks = (count() + RIGHT_ROWS - 1) / RIGHT_ROWS;
    OrderedChunks.run(chunks, worth(count()), () -> new RightSquares(squares));
    for (ContributionBlock b : blocks) {
      for (int k = 0; k < b.rhs().length; k++) {
        squares[k % rhs] += b.rhs()[k] * b.rhs()[k];
      }
    }
    boolean plain = Arrays.stream(squares).allMatch(NormsIn::inRange);
    double[] norm = plain ? null : rightNorms();
    for (int q = 0; q < rhs; q++) {
      scale[n + q] = ColumnProbe.scale(-1 - q, norm == null ? Math.sqrt(squares[q]) : norm[q]);
    }
    return ColumnProbe.of(n, scale, without);
  }

  /**
   * The number of threads worth using for this many numbers: threads wait for each other, and other
   * tasks need the cores.
   */
  private int worth(int numbers) {
    return Math.min(threads, 1 + numbers / PER_THREAD);
  }

  private static boolean inRange(double squares) {
    return squares >= LEAST_SQUARES && squares <= LARGEST_SQUARES;
  }

  /** Norms of the right-hand sides, for any magnitude. */
  private double[] rightNorms() {
    int rhs = rows.rhsCount();
    var norms = new ColumnNorms(rhs);
    for (int k = 0; k < count(); k++) {
      for (int q = 0; q < rhs; q++) {
        norms.add(q, rows.rhs()[row(k) * rhs + q]);
      }
    }
    for (ContributionBlock b : blocks) {
      for (int k = 0; k < b.rhs().length; k++) {
        norms.add(k % rhs, b.rhs()[k]);
      }
    }
    double[] all = new double[rhs];
    Arrays.setAll(all, norms::norm);
    return all;
  }

  /** Squares of right-hand sides. */
  private final class RightSquares implements OrderedChunks.Worker {
    private final double[] squares;
    private final double[] part = new double[rows.rhsCount()];

    RightSquares(double[] squares) {
      this.squares = squares;
    }

    @Override
    public void compute(int chunk) {
      Arrays.fill(part, 0);
      int rhs = part.length;
      int end = Math.min(count(), (chunk + 1) * RIGHT_ROWS);
      for (int k = chunk * RIGHT_ROWS; k < end; k++) {
        int at = row(k) * rhs;
        for (int q = 0; q < rhs; q++) {
          part[q] += rows.rhs()[at + q] * rows.rhs()[at + q];
        }
      }
    }

    @Override
    public void takeOver(int chunk) {
      for (int q = 0; q < part.length; q++) {
        squares[q] += part[q];
      }
    }
  }

  /** Scales of columns of norm 1. */
  private final class UnitScales implements OrderedChunks.Worker {
    private final double[] scale;
    private final int[] position = new int[COLUMNS];

    UnitScales(double[] scale) {
      this.scale = scale;
    }

    @Override
    public void compute(int chunk) {
      int from = chunk * COLUMNS;
      int end = Math.min(columns.count(), from + COLUMNS);
      columns.positions(from, end, position);
      for (int j = from; j < end; j++) {
        scale[j] = 0.5 * ColumnProbe.hash(position[j - from]);
      }
    }

    @Override
    public void takeOver(int chunk) {
      // Every chunk writes to its own places.
    }
  }

  private void addSquares(double[] squares) {
    int n = columns.count();
    int rhs = rows.rhsCount();
    for (int k = 0; k < count(); k++) {
      int i = row(k);
      for (int e = rows.rowStart()[i]; e < rows.rowStart()[i + 1]; e++) {
        double v = rows.value()[e];
        squares[columns.number(rows.position()[e])] += v * v;
      }
      for (int q = 0; q < rhs; q++) {
        double b = rows.rhs()[i * rhs + q];
        squares[n + q] += b * b;
      }
    }
    for (ContributionBlock b : blocks) {
      addSquares(b, squares);
    }
  }

  private void addSquares(ContributionBlock b, double[] squares) {
    int[] number = new int[b.cn()];
    columns.tailNumbers(b.front(), number, 0);
    double[] local = new double[b.cn()];
    int at = 0;
    for (int i = 0; i < b.cm(); i++) {
      for (int j = i; j < b.cn(); j++) {
        double v = b.values()[at + j - i];
        local[j] += v * v;
      }
      at += b.cn() - i;
    }
    for (int j = 0; j < b.cn(); j++) {
      squares[number[j]] += local[j];
    }
    for (int k = 0; k < b.rhs().length; k++) {
      squares[columns.count() + k % b.rhsCount()] += b.rhs()[k] * b.rhs()[k];
    }
  }

  /** Norms of the columns, then of the right-hand sides, for any magnitude. */
  private ColumnNorms norms() {
    int n = columns.count();
    int rhs = rows.rhsCount();
    var norms = new ColumnNorms(n + rhs);
    for (int k = 0; k < count(); k++) {
      int i = row(k);
      for (int e = rows.rowStart()[i]; e < rows.rowStart()[i + 1]; e++) {
        norms.add(columns.number(rows.position()[e]), rows.value()[e]);
      }
      for (int q = 0; q < rhs; q++) {
        norms.add(n + q, rows.rhs()[i * rhs + q]);
      }
    }
    for (ContributionBlock b : blocks) {
      int[] number = new int[b.cn()];
      columns.tailNumbers(b.front(), number, 0);
      int at = 0;
      for (int i = 0; i < b.cm(); i++) {
        for (int j = i; j < b.cn(); j++) {
          norms.add(number[j], b.values()[at++]);
        }
      }
      for (int k = 0; k < b.rhs().length; k++) {
        norms.add(n + k % b.rhsCount(), b.rhs()[k]);
      }
    }
    return norms;
  }
}
