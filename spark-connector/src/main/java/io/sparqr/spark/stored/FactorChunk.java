/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.stored;

import io.sparqr.numeric.BitChecksum;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.spark.wire.Frame;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

/**
 * Rows of R and of Q'b in the form stored on an executor: whole rows of consecutive fronts, at most
 * about 32 MB per chunk (a front may span several chunks). Frame fields: a = segments, b = index of
 * the chunk among those encoded together, c = rows, d = right-hand sides. Body, one segment after
 * the other:
 *
 * <pre>
 * int    front, fn, rows
 * int    livePivot[rows]
 * double row 0 (fn - livePivot[0] values), row 1, ...
 * double rhs[rows * d]
 * </pre>
 *
 * Solves read the rows in place, without unpacking a front.
 */
public final class FactorChunk {

  private static final long CHUNK_BYTES = 32L << 20;

  private final ByteBuffer buffer;
  private final int rhsCount;
  private final int[] segmentAt;

  private FactorChunk(ByteBuffer buffer) {
    this.buffer = buffer;
    this.rhsCount = Frame.field(buffer, 3);
    int segments = Frame.field(buffer, 0);
    Frame.require(segments >= 0 && rhsCount >= 0, "sizes of a chunk of R");
    Frame.need(buffer, 12L * segments);
    this.segmentAt = new int[segments];
    long rows = 0;
    for (int s = 0; s < segments; s++) {
      segmentAt[s] = buffer.position();
      rows += skipSegment();
    }
    Frame.end(buffer);
    Frame.require(rows == Frame.field(buffer, 2), "number of rows");
  }

  /**
   * Checks the segment at the buffer's position and moves behind it; returns its number of rows.
   */
  private int skipSegment() {
    Frame.need(buffer, 12);
    int at = buffer.position();
    int fn = buffer.getInt(at + 4);
    int rows = buffer.getInt(at + 8);
    Frame.require(rows > 0, "rows of a segment");
    Frame.need(buffer, 12 + 4L * rows);
    long values = 0;
    int last = -1;
    for (int i = 0; i < rows; i++) {
      int live = buffer.getInt(at + 12 + 4 * i);
      Frame.require(live > last && live < fn, "pivots");
      last = live;
      values += fn - live;
    }
    // Checked separately, because eight times the product of any rows and rhsCount may overflow.
    Frame.need(buffer, 8 * values);
    Frame.need(buffer, (long) rows * rhsCount);
    long bytes = 12 + 4L * rows + 8 * (values + (long) rows * rhsCount);
    Frame.need(buffer, bytes);
    buffer.position((int) (at + bytes));
    return rows;
  }

  /** Checks a frame and finds its segments. */
  public static FactorChunk open(byte[] bytes) {
    return new FactorChunk(Frame.open(bytes, Frame.Kind.FACTOR));
  }

  /** Number of segments. */
  public int segments() {
    return segmentAt.length;
  }

  /** Right-hand sides carried along. */
  public int rhsCount() {
    return rhsCount;
  }

  /** Segment s; a cheap view. */
  public Segment segment(int s) {
    int at = segmentAt[s];
    int rows = buffer.getInt(at + 8);
    int[] live = new int[rows];
    buffer.slice(at + 12, 4 * rows).order(buffer.order()).asIntBuffer().get(live);
    return new Segment(buffer.getInt(at), buffer.getInt(at + 4), live, at + 12 + 4 * rows);
  }

  /** Some consecutive rows of R of one front. */
  public final class Segment implements FactorSegment {
    private final int front;
    private final int fn;
    private final int[] livePivot;
    private final int valuesAt;
    private final int[] rowAt;
    private final long valueCount;

    private Segment(int front, int fn, int[] livePivot, int valuesAt) {
      this.front = front;
      this.fn = fn;
      this.livePivot = livePivot;
      this.valuesAt = valuesAt;
      this.rowAt = new int[livePivot.length];
      long count = 0;
      for (int i = 0; i < livePivot.length; i++) {
        rowAt[i] = (int) (valuesAt + 8 * count);
        count += fn - livePivot[i];
      }
      this.valueCount = count;
    }

    @Override
    public int front() {
      return front;
    }

    @Override
    public int fn() {
      return fn;
    }

    @Override
    public int rows() {
      return livePivot.length;
    }

    @Override
    public int livePivot(int i) {
      return livePivot[i];
    }

    @Override
    public void row(int i, double[] into) {
      int count = fn - livePivot[i];
      buffer
          .slice(rowAt[i], 8 * count)
          .order(buffer.order())
          .asDoubleBuffer()
          .get(into, livePivot[i], count);
    }

    @Override
    public void row(int i, int from, int to, double[] into) {
      buffer
          .slice(rowAt[i] + 8 * (from - livePivot[i]), 8 * (to - from))
          .order(buffer.order())
          .asDoubleBuffer()
          .get(into, 0, to - from);
    }

    @Override
    public double rhs(int i, int k) {
      return buffer.getDouble((int) (valuesAt + 8 * (valueCount + (long) i * rhsCount + k)));
    }
  }

  /**
   * Encodes the factors of a task's fronts as chunks, on demand and a few at a time. A front is
   * released after its last chunk, so that R need not be in memory twice. If a front has a
   * checksum, the values in its chunks must match it; otherwise requesting the last of them throws
   * a NumericalIntegrityException.
   *
   * @param factors in order; drained
   * @param threads number of chunks encoded at a time, at least 1
   */
  public static Iterator<byte[]> encode(Queue<FrontFactor> factors, int rhsCount, int threads) {
    return encode(factors, rhsCount, threads, CHUNK_BYTES);
  }

  public static Iterator<byte[]> encode(
      Queue<FrontFactor> factors, int rhsCount, int threads, long chunkBytes) {
    return new Encoder(factors, rhsCount, threads, chunkBytes);
  }

  /**
   * Rows of a front.
   *
   * @param bits accumulates the mixed bits of all the front's parts
   */
  private record Part(
      FrontFactor factor, int from, int to, long valueFrom, long valueTo, LongAdder bits) {

    /** Adds the bits of the rows' values and right-hand sides, while these are in the caches. */
    void sum() {
      int rhs = factor.rhsCount();
      bits.add(BitChecksum.sum(factor.values(), (int) valueFrom, (int) valueTo));
      bits.add(BitChecksum.sum(factor.rhs(), from * rhs, to * rhs));
    }

    boolean endsFront() {
      return to == factor.rank();
    }
  }

  private static final class Encoder implements Iterator<byte[]> {
    private final Queue<FrontFactor> factors;
    private final int rhsCount;
    private final int threads;
    private final long limit;
    private final Queue<byte[]> ready = new ArrayDeque<>();
    private int chunks;

    /** The first row of {@code factors.peek()} not yet in a part, and the start of its values. */
    private int row;

    private long value;

    /** The bits of the parts of {@code factors.peek()}. */
    private LongAdder bits = new LongAdder();

    Encoder(Queue<FrontFactor> factors, int rhsCount, int threads, long limit) {
      this.factors = factors;
      this.rhsCount = rhsCount;
      this.threads = threads;
      this.limit = limit;
      skipEmpty();
    }

    @Override
    public boolean hasNext() {
      return !ready.isEmpty() || !factors.isEmpty();
    }

    @Override
    public byte[] next() {
      if (ready.isEmpty()) {
        int first = chunks;
        List<List<Part>> some = new ArrayList<>();
        while (some.size() < threads && !factors.isEmpty()) {
          some.add(nextParts());
        }
        chunks += some.size();
        IntStream.range(0, some.size())
            .parallel()
            .mapToObj(k -> frame(some.get(k), first + k))
            .toList()
            .forEach(ready::add);
        some.forEach(Encoder::requireSame);
      }
      return ready.remove();
    }

    /**
     * Checks fronts whose last part is among these, because then all their parts have been summed.
     */
    private static void requireSame(List<Part> parts) {
      for (Part p : parts) {
        if (p.endsFront()) {
          p.factor.requireSame(p.bits.sum());
        }
      }
    }

    /** The rows of the next chunk. */
    private List<Part> nextParts() {
      List<Part> parts = new ArrayList<>();
      long bytes = 0;
      while (!factors.isEmpty()) {
        bytes = addRows(parts, bytes);
        if (row < factors.peek().rank()) {
          break;
        }
        factors.remove();
        row = 0;
        value = 0;
        bits = new LongAdder();
        skipEmpty();
      }
      return parts;
    }

    /** Skips fronts without rows of R, for which nothing is written. */
    private void skipEmpty() {
      while (!factors.isEmpty() && factors.peek().rank() == 0) {
        factors.remove();
      }
    }

    /**
     * Adds as many rows of the next front as fit in the chunk, at least one; returns the chunk's
     * bytes.
     */
    private long addRows(List<Part> parts, long before) {
      FrontFactor f = factors.peek();
      if (row == 0) {
        f.requireRows();
      }
      int from = row;
      long valueFrom = value;
      long bytes = before + 12;
      while (row < f.rank()) {
        int count = f.fn() - f.livePivot()[row];
        long rowBytes = 4 + 8L * (count + rhsCount);
        if (bytes + rowBytes > limit && (row > from || !parts.isEmpty())) {
          break;
        }
        bytes += rowBytes;
        value += count;
        row++;
      }
      if (row > from) {
        parts.add(new Part(f, from, row, valueFrom, value, bits));
      }
      return bytes;
    }

    private byte[] frame(List<Part> parts, int number) {
      long size = 0;
      int rows = 0;
      for (Part p : parts) {
        int r = p.to - p.from;
        rows += r;
        size += 12 + 4L * r + 8 * (p.valueTo - p.valueFrom + (long) r * rhsCount);
      }
      ByteBuffer b = Frame.allocate(Frame.Kind.FACTOR, parts.size(), number, rows, rhsCount, size);
      for (Part p : parts) {
        int r = p.to - p.from;
        b.putInt(p.factor.front()).putInt(p.factor.fn()).putInt(r);
        Frame.putInts(b, p.factor.livePivot(), p.from, r);
        int values = (int) (p.valueTo - p.valueFrom);
        Frame.putDoubles(b, p.factor.values(), (int) p.valueFrom, values);
        Frame.putDoubles(b, p.factor.rhs(), p.from * rhsCount, r * rhsCount);
        if (p.factor.bits() != 0) {
          p.sum();
        }
      }
      return Frame.seal(b);
    }
  }
}
