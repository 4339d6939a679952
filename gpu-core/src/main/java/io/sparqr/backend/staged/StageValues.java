/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged;

import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.numeric.BitChecksum;
import io.sparqr.numeric.ContributionBlock;
import io.sparqr.numeric.RowBlock;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.numeric.integrity.GivenValues;
import java.nio.DoubleBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * A stage's values, read directly from the problem's rows and the blocks. Their checksum ({@link
 * BitChecksum}) is computed during the read, piece by piece while values are in the caches; the
 * executor's must be the same.
 */
final class StageValues implements RoundExecutor.StageInput {

  /** Values copied and summed at a time. */
  private static final int PIECE = 1 << 12;

  /** Values collected before they are written: a row of a sparse matrix. */
  private static final int SHORT = 48;

  private final RowsByFront rows;
  private final int[] fronts;
  private final List<ContributionBlock> blocks;
  private final @Nullable GivenValues given;
  private final LongAdder bits = new LongAdder();

  /** By front of the stage: the fronts written in parts. */
  private final Map<Integer, Parts> inParts = new ConcurrentHashMap<>();

  /** The state of a front written in parts. */
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
   * @param blocks the input blocks
   * @param given records the use of each front's rows, if it is recorded
   */
  StageValues(
      RowsByFront rows, int[] fronts, List<ContributionBlock> blocks, @Nullable GivenValues given) {
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

  /** The sum of the mixed bits of all values read. */
  long bits() {
    return bits.sum();
  }

  @Override
  public void writeS(int from, int to, DoubleBuffer target) {
    var writer = new Writer(target);
    for (int f = from; f < to; f++) {
      int n = rows.count(fronts[f]);
      writeRuns(fronts[f], 0, n, false, writer);
      writeRuns(fronts[f], 0, n, true, writer);
      long sum = writer.end();
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

  /** The fewest rows of a front after {@code from} that have this many values, or all of them. */
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
    Parts all = Objects.requireNonNull(inParts.get(p.front()));
    var writer = new Writer(target);
    writeRuns(fronts[p.front()], p.from(), p.to(), p.right(), writer);
    all.bits.add(writer.end());
    if (all.left.decrementAndGet() == 0) {
      long sum = all.bits.sum();
      if (given != null) {
        given.use(rows.place(fronts[p.front()]), sum);
      }
      bits.add(sum);
    }
  }

  /** Writes entries or right-hand sides of the front's rows [k, n); adjacent rows in one run. */
  private void writeRuns(int front, int begin, int n, boolean right, Writer to) {
    RowBlock r = rows.rows();
    int rhs = r.rhsCount();
    int k = begin;
    while (k < n) {
      int first = rows.row(front, k);
      int count = Math.min(rows.run(front, k), n - k);
      int end = first + count;
      k += count;
      if (right) {
        to.write(r.rhs(), first * rhs, end * rhs);
      } else {
        to.write(r.value(), r.rowStart()[first], r.rowStart()[end]);
      }
    }
  }

  @Override
  public void writeBlock(int b, long from, long to, DoubleBuffer target) {
    var writer = new Writer(target);
    double[] values = blocks.get(b).values();
    double[] rhs = blocks.get(b).rhs();
    int n = values.length;
    writer.write(values, (int) Math.min(from, n), (int) Math.min(to, n));
    writer.write(rhs, (int) Math.max(from - n, 0), (int) Math.max(to - n, 0));
    bits.add(writer.end());
  }

  /** Writes values and computes their checksum; short runs are collected into pieces. */
  private static final class Writer {
    private final DoubleBuffer target;
    private final double[] collected = new double[PIECE];
    private int used;
    private long sum;

    Writer(DoubleBuffer target) {
      this.target = target;
    }

    void write(double[] x, int from, int to) {
      if (to - from > SHORT) {
        flush();
        writeLong(x, from, to);
        return;
      }
      if (used + to - from > PIECE) {
        flush();
      }
      for (int k = from; k < to; k++) {
        collected[used++] = x[k];
      }
    }

    private void writeLong(double[] x, int from, int to) {
      for (int at = from; at < to; at += PIECE) {
        int end = Math.min(to, at + PIECE);
        target.put(x, at, end - at);
        sum += BitChecksum.sum(x, at, end);
      }
    }

    private void flush() {
      target.put(collected, 0, used);
      sum += BitChecksum.sum(collected, 0, used);
      used = 0;
    }

    /** Flushes; returns the checksum since the last call. */
    long end() {
      flush();
      long all = sum;
      sum = 0;
      return all;
    }
  }
}
