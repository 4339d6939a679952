/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.RowBlock;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Rows and contribution blocks before they are factored: the probe for them ({@link NormsIn}), and
 * then their sums. The results do not depend on the number of threads. O(entries) each, with
 * buffers of {@value #CHUNK} entries per thread.
 */
public final class RowsIn {

  /** Small enough for a core's cache. */
  private static final int CHUNK = 1 << 13;

  private final TaskColumns columns;
  private final RowBlock rows;
  private final int @Nullable [] which;
  private final List<ContributionBlock> blocks;
  private final int threads;

  /**
   * Rows in the given columns.
   *
   * @param which numbers of the rows to include, unless all are
   * @param threads host threads to use
   */
  public RowsIn(
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

  /**
   * The probe for these rows.
   *
   * @param without numbers of columns to leave out
   */
  public ColumnProbe probe(BitSet without) {
    return new NormsIn(columns, rows, which, blocks, threads).probe(without);
  }

  /**
   * As above, without computing column norms, which are at most about 1 in the whole matrix; norms
   * of right-hand sides are computed. O(columns + rows), by several threads.
   */
  public ColumnProbe unitProbe(BitSet without) {
    return new NormsIn(columns, rows, which, blocks, threads).unitProbe(without);
  }

  /** The sums over all rows. */
  public ColumnSums sums(ColumnProbe probe) {
    var sums = new ColumnSums(columns.count() + rows.rhsCount());
    addTo(sums, probe);
    return sums;
  }

  /** Adds the sums over all rows. */
  public void addTo(ColumnSums sums, ColumnProbe probe) {
    int[] start = chunks();
    int longest = longest(start);
    OrderedChunks.run(start.length - 1, threads, () -> new Chunk(start, longest, probe, sums));
    OrderedChunks.run(blocks.size(), threads, () -> new Block(probe, sums));
  }

  /** First rows of the chunks, and their end. */
  private int[] chunks() {
    int[] start = new int[64];
    int chunks = 0;
    int entries = CHUNK;
    for (int k = 0; k < count(); k++) {
      if (entries >= CHUNK) {
        if (chunks + 1 == start.length) {
          start = Arrays.copyOf(start, 2 * chunks + 2);
        }
        start[chunks++] = k;
        entries = 0;
      }
      int i = row(k);
      entries += rows.rowStart()[i + 1] - rows.rowStart()[i] + 1;
    }
    start[chunks] = count();
    return Arrays.copyOf(start, chunks + 1);
  }

  /**
   * Rows of the longest chunk. Few for one front of many, whose buffers must not cost more than it.
   */
  private static int longest(int[] start) {
    int longest = 0;
    for (int c = 1; c < start.length; c++) {
      longest = Math.max(longest, start[c] - start[c - 1]);
    }
    return longest;
  }

  /**
   * Sums over a chunk of rows: entry by entry, in their order. Loops run over all of the chunk's
   * entries, because most rows are too short for a loop of their own.
   */
  private final class Chunk implements OrderedChunks.Worker {
    private final int[] start;
    private final ColumnProbe probe;
    private final ColumnSums sums;

    /** Columns and values, then scaled values, of the chunk's entries. */
    private int[] number;

    private double[] entry;

    /**
     * For the chunk's rows: ends of their entries, the probes of right-hand sides and of columns, a
     * right-hand side.
     */
    private final int[] end;

    private final double[] t;
    private final double[] both;
    private final double[] right;

    Chunk(int[] start, int longest, ColumnProbe probe, ColumnSums sums) {
      this.start = start;
      number = new int[Math.min(CHUNK, 4 * longest)];
      entry = new double[number.length];
      end = new int[longest];
      t = new double[longest];
      both = new double[longest];
      right = new double[longest];
      this.probe = probe;
      this.sums = sums;
    }

    @Override
    public void compute(int chunk) {
      int first = start[chunk];
      int count = start[chunk + 1] - first;
      if (which == null) {
        int from = rows.rowStart()[first];
        gather(from, rows.rowStart()[first + count] - from, 0);
        for (int r = 0; r < count; r++) {
          end[r] = rows.rowStart()[first + r + 1] - from;
        }
      } else {
        int used = 0;
        for (int r = 0; r < count; r++) {
          int i = which[first + r];
          int length = rows.rowStart()[i + 1] - rows.rowStart()[i];
          gather(rows.rowStart()[i], length, used);
          used += length;
          end[r] = used;
        }
      }
      scale(count);
      addRight(first, count);
    }

    private void gather(int from, int length, int at) {
      if (at + length > number.length) {
        number = Arrays.copyOf(number, 2 * (at + length));
        entry = Arrays.copyOf(entry, number.length);
      }
      columns.numbers(rows.position(), from, length, number, at);
      System.arraycopy(rows.value(), from, entry, at, length);
    }

    /** Scales the entries and sums the rows' probes. */
    private void scale(int count) {
      double[] scale = probe.scale();
      double[] u = probe.u();
      int r = 0;
      double sum = 0;
      int used = count == 0 ? 0 : end[count - 1];
      for (int e = 0; e < used; e++) {
        while (e == end[r]) {
          t[r++] = sum;
          sum = 0;
        }
        double v = entry[e];
        entry[e] = v * scale[number[e]];
        sum += v * u[number[e]];
      }
      for (; r < count; r++) {
        t[r] = sum;
        sum = 0;
      }
    }

    /** The columns' probes: the rows' own, and what the right-hand sides add. */
    private void addRight(int first, int count) {
      int rhs = rows.rhsCount();
      double[] scale = probe.scale();
      double part = probe.right();
      for (int k = 0; k < count; k++) {
        double sum = 0;
        int at = row(first + k) * rhs;
        for (int q = 0; q < rhs; q++) {
          sum += rows.rhs()[at + q] * scale[probe.columns() + q];
        }
        both[k] = t[k] + part * sum;
      }
    }

    @Override
    public void takeOver(int chunk) {
      int first = start[chunk];
      int count = start[chunk + 1] - first;
      int used = count == 0 ? 0 : end[count - 1];
      int r = 0;
      for (int e = 0; e < used; e++) {
        while (e == end[r]) {
          r++;
        }
        double w = entry[e];
        sums.add(number[e], w * w, w * both[r]);
      }
      int rhs = rows.rhsCount();
      for (int q = 0; q < rhs; q++) {
        int j = probe.columns() + q;
        for (int k = 0; k < count; k++) {
          right[k] = rows.rhs()[row(first + k) * rhs + q] * probe.scale()[j];
        }
        sums.addColumn(j, right, t, count);
      }
    }
  }

  /** Sums over a contribution block. */
  private final class Block implements OrderedChunks.Worker {
    private final FrontSums front;
    private final ColumnSums sums;

    Block(ColumnProbe probe, ColumnSums sums) {
      front = new FrontSums(probe);
      this.sums = sums;
    }

    @Override
    public void compute(int b) {
      front.block(columns, blocks.get(b));
    }

    @Override
    public void takeOver(int b) {
      front.addTo(sums);
    }
  }
}
