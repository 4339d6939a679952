/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.numeric.BitChecksum;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.numeric.integrity.GivenValues;
import java.nio.DoubleBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * A stage's values, straight from the problem's rows and the blocks. What is read is summed up as
 * it is read ({@link BitChecksum}), piece by piece while it is in the caches: the executor has to
 * have the same.
 */
final class StageValues implements RoundExecutor.StageInput {

  /** Values that are copied, then summed up, at a time. */
  private static final int PIECE = 1 << 12;

  /** Values that are copied one by one: a row of a sparse matrix. */
  private static final int SHORT = 48;

  private final RowsByFront rows;
  private final int[] fronts;
  private final List<ContributionBlock> blocks;
  private final GivenValues given;
  private final LongAdder bits = new LongAdder();

  /** By front of the stage: fronts that are written in parts. */
  private final Map<Integer, Parts> inParts = new ConcurrentHashMap<>();

  /** What is known of a front that is written in parts. */
  private static final class Parts {
    final AtomicInteger left;
    final LongAdder bits = new LongAdder();

    Parts(int count) {
      left = new AtomicInteger(count);
    }
  }

  /**
   * Values of a stage.
   *
   * @param fronts of the stage, by number of the analysis
   * @param blocks that go in
   * @param given hears of each front's rows; null: nobody does
   */
  StageValues(RowsByFront rows, int[] fronts, List<ContributionBlock> blocks, GivenValues given) {
    this.rows = rows;
    this.fronts = fronts;
    this.blocks = blocks;
    this.given = given;
  }

  RowsByFront rows() {
    return rows;
  }

  int[] fronts() {
    return fronts;
  }

  /** The sum of the mixed bits of all that was read. */
  long bits() {
    return bits.sum();
  }

  @Override
  public void writeS(int from, int to, DoubleBuffer target) {
    for (int f = from; f < to; f++) {
      long sum = writeRuns(fronts[f], false, target) + writeRuns(fronts[f], true, target);
      if (given != null) {
        given.use(rows.place(fronts[f]), sum);
      }
      bits.add(sum);
    }
  }

  @Override
  public List<Part> parts(int f, int doubles) {
    RowBlock r = rows.rows();
    int front = fronts[f];
    int n = rows.count(front);
    var parts = new ArrayList<Part>();
    long offset = 0;
    int from = 0;
    while (from < n) {
      int to = atLeast(front, from, offset + doubles);
      long end = rows.valuesBefore(front, to);
      parts.add(new Part(f, from, to, false, offset, (int) (end - offset)));
      offset = end;
      from = to;
    }
    int rhs = r.rhsCount();
    int step = Math.max(1, doubles / Math.max(1, rhs));
    for (int k = 0; k < n && rhs > 0; k += step) {
      int count = Math.min(step, n - k);
      parts.add(new Part(f, k, k + count, true, offset, count * rhs));
      offset += (long) count * rhs;
    }
    inParts.put(f, new Parts(parts.size()));
    return parts;
  }

  /** The least number of a front's rows beyond {@code from} that have so many values; else all. */
  private int atLeast(int front, int from, long values) {
    int low = from + 1;
    int high = rows.count(front);
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (rows.valuesBefore(front, middle) >= values) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  @Override
  public void writePart(Part p, DoubleBuffer target) {
    Parts all = inParts.get(p.front());
    all.bits.add(writeRuns(fronts[p.front()], p.from(), p.to(), p.right(), target));
    if (all.left.decrementAndGet() == 0) {
      long sum = all.bits.sum();
      if (given != null) {
        given.use(rows.place(fronts[p.front()]), sum);
      }
      bits.add(sum);
    }
  }

  /** Entries or right-hand sides of all of a front's rows. */
  private long writeRuns(int front, boolean right, DoubleBuffer target) {
    return writeRuns(front, 0, rows.count(front), right, target);
  }

  /** Of the front's rows [k, n); rows that follow each other at once. */
  private long writeRuns(int front, int begin, int n, boolean right, DoubleBuffer target) {
    RowBlock r = rows.rows();
    int rhs = r.rhsCount();
    long sum = 0;
    int k = begin;
    while (k < n) {
      int first = rows.row(front, k);
      int count = Math.min(rows.run(front, k), n - k);
      int end = first + count;
      k += count;
      sum +=
          right
              ? write(r.rhs(), first * rhs, end * rhs, target)
              : write(r.value(), r.rowStart()[first], r.rowStart()[end], target);
    }
    return sum;
  }

  private static long write(double[] x, int from, int to, DoubleBuffer target) {
    long sum = 0;
    if (to - from <= SHORT) {
      for (int k = from; k < to; k++) {
        target.put(x[k]);
        sum += BitChecksum.mixed(x[k]);
      }
      return sum;
    }
    int at = from;
    while (at < to) {
      int count = Math.min(PIECE, to - at);
      target.put(x, at, count);
      sum += BitChecksum.sum(x, at, at + count);
      at += count;
    }
    return sum;
  }

  @Override
  public void writeBlock(int b, DoubleBuffer target) {
    double[] values = blocks.get(b).values();
    double[] rhs = blocks.get(b).rhs();
    bits.add(write(values, 0, values.length, target) + write(rhs, 0, rhs.length, target));
  }
}
