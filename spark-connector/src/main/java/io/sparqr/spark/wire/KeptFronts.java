/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.wire;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoSerializable;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import io.sparqr.error.NumericalIntegrityException;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.threads.Parallel;
import java.io.Externalizable;
import java.io.IOException;
import java.io.ObjectInput;
import java.io.ObjectOutput;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Predicate;
import org.apache.spark.util.KnownSizeEstimation;

/**
 * Rows of R of some consecutive fronts, kept on an executor as the factorization left them: no
 * copy, and no frame. Whoever writes it, to disk or to another executor, writes {@link FactorChunk}
 * frames, and what is read is those. Rows have a checksum as frames do, which readers check.
 */
public final class KeptFronts implements Externalizable, KryoSerializable, KnownSizeEstimation {

  private static final long serialVersionUID = 1;

  /** Bytes of rows that are kept together, unless a front alone has more. */
  private static final long GROUP_BYTES = 32L << 20;

  /** Of a front beside its values: its objects' headers. */
  private static final long FRONT_BYTES = 120;

  /** Frames that are made at a time when this is written: it is not the task alone that asks. */
  private static final int WRITERS = 2;

  /** Null where what is kept came as frames. */
  private List<FrontFactor> fronts;

  private List<byte[]> frames;
  private int rhsCount;

  /** For what reads it; empty. */
  public KeptFronts() {
    this.frames = List.of();
  }

  private KeptFronts(List<FrontFactor> fronts, int rhsCount) {
    this.fronts = fronts;
    this.rhsCount = rhsCount;
  }

  /**
   * Keeps the rows of a task's fronts. Those without a checksum get one: O(values).
   *
   * @param fronts in the task's order
   * @param threads that take the checksums
   */
  public static List<KeptFronts> of(List<FrontFactor> fronts, int rhsCount, int threads) {
    var sealed = new FrontFactor[fronts.size()];
    Parallel.loop(
        sealed.length,
        1,
        threads,
        (from, to, thread) -> {
          for (int k = from; k < to; k++) {
            FrontFactor f = fronts.get(k);
            sealed[k] = f.bits() == 0 ? f.sealed() : f;
          }
        });
    var groups = new ArrayList<KeptFronts>();
    var group = new ArrayList<FrontFactor>();
    long bytes = 0;
    for (FrontFactor f : sealed) {
      if (f.rank() == 0) {
        continue;
      }
      long own = bytes(f);
      if (bytes + own > GROUP_BYTES && !group.isEmpty()) {
        groups.add(new KeptFronts(List.copyOf(group), rhsCount));
        group.clear();
        bytes = 0;
      }
      group.add(f);
      bytes += own;
    }
    if (!group.isEmpty()) {
      groups.add(new KeptFronts(List.copyOf(group), rhsCount));
    }
    return groups;
  }

  private static long bytes(FrontFactor f) {
    return Double.BYTES * ((long) f.values().length + f.rhs().length)
        + Integer.BYTES * (long) f.rank();
  }

  /**
   * Frames among what a level keeps: byte[] frames, and rows that have none until they are asked
   * for.
   *
   * @param kept frames and {@link KeptFronts}
   * @param wanted which kinds; the others are not made
   */
  public static Iterator<byte[]> frames(Iterator<Object> kept, Predicate<Frame.Kind> wanted) {
    return new Iterator<>() {
      private Iterator<byte[]> some = Collections.emptyIterator();

      @Override
      public boolean hasNext() {
        while (!some.hasNext() && kept.hasNext()) {
          Object next = kept.next();
          if (next instanceof byte[] frame) {
            some =
                wanted.test(Frame.kind(frame))
                    ? List.of(frame).iterator()
                    : Collections.emptyIterator();
          } else if (wanted.test(Frame.Kind.FACTOR)) {
            some = ((KeptFronts) next).frames();
          }
        }
        return some.hasNext();
      }

      @Override
      public byte[] next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        return some.next();
      }
    };
  }

  /**
   * Rows of R among what a level keeps, all of them opened and found to be what was kept.
   *
   * @param kept frames of any kind, and {@link KeptFronts}
   * @param threads that look at it
   * @throws io.sparqr.error.WireFormatException if a frame is damaged
   * @throws NumericalIntegrityException if a row is not what it was
   */
  public static List<FrontRows> rows(Iterator<Object> kept, int threads) {
    var parts = new ArrayList<Object>();
    while (kept.hasNext()) {
      Object next = kept.next();
      if (next instanceof KeptFronts k) {
        parts.addAll(k.fronts == null ? k.frames : k.fronts);
      } else if (Frame.kind((byte[]) next) == Frame.Kind.FACTOR) {
        parts.add(next);
      }
    }
    var opened = new Object[parts.size()];
    Parallel.loop(
        opened.length,
        1,
        threads,
        (from, to, thread) -> {
          for (int k = from; k < to; k++) {
            opened[k] =
                parts.get(k) instanceof byte[] frame
                    ? FactorChunk.open(frame)
                    : new Arrays(checked((FrontFactor) parts.get(k)));
          }
        });
    var rows = new ArrayList<FrontRows>();
    for (Object o : opened) {
      if (o instanceof FactorChunk chunk) {
        for (int s = 0; s < chunk.segments(); s++) {
          rows.add(chunk.segment(s));
        }
      } else {
        rows.add((Arrays) o);
      }
    }
    return rows;
  }

  private static FrontFactor checked(FrontFactor f) {
    f.requireSame(f.sum());
    int last = -1;
    for (int live : f.livePivot()) {
      if (live <= last || live >= f.fn()) {
        throw NumericalIntegrityException.changedInMemory(f.front());
      }
      last = live;
    }
    return f;
  }

  /** As frames, made as they are asked for. */
  public Iterator<byte[]> frames() {
    return fronts == null
        ? frames.iterator()
        : FactorChunk.encode(new ArrayDeque<>(fronts), rhsCount, WRITERS);
  }

  /** Bytes in the heap. */
  @Override
  public long estimatedSize() {
    long bytes = 0;
    if (fronts == null) {
      for (byte[] frame : frames) {
        bytes += frame.length;
      }
      return bytes;
    }
    for (FrontFactor f : fronts) {
      bytes += FRONT_BYTES + bytes(f);
    }
    return bytes;
  }

  @Override
  public void writeExternal(ObjectOutput out) throws IOException {
    Iterator<byte[]> all = frames();
    while (all.hasNext()) {
      byte[] frame = all.next();
      out.writeInt(frame.length);
      out.write(frame);
    }
    out.writeInt(0);
  }

  @Override
  public void readExternal(ObjectInput in) throws IOException {
    fronts = null;
    frames = new ArrayList<>();
    for (int length = in.readInt(); length != 0; length = in.readInt()) {
      byte[] frame = new byte[length];
      in.readFully(frame);
      frames.add(frame);
    }
  }

  @Override
  public void write(Kryo kryo, Output out) {
    Iterator<byte[]> all = frames();
    while (all.hasNext()) {
      byte[] frame = all.next();
      out.writeInt(frame.length);
      out.writeBytes(frame);
    }
    out.writeInt(0);
  }

  @Override
  public void read(Kryo kryo, Input in) {
    fronts = null;
    frames = new ArrayList<>();
    for (int length = in.readInt(); length != 0; length = in.readInt()) {
      frames.add(in.readBytes(length));
    }
  }

  /** The rows of a front in its arrays. */
  private static final class Arrays implements FrontRows {
    private final FrontFactor f;
    private final int[] live;
    private final double[] values;

    /** Of row i, where its column 0 would be. */
    private final int[] at;

    Arrays(FrontFactor f) {
      this.f = f;
      live = f.livePivot();
      values = f.values();
      at = new int[live.length];
      int next = 0;
      for (int i = 0; i < live.length; i++) {
        at[i] = next - live[i];
        next += f.fn() - live[i];
      }
    }

    @Override
    public int front() {
      return f.front();
    }

    @Override
    public int fn() {
      return f.fn();
    }

    @Override
    public int rows() {
      return live.length;
    }

    @Override
    public int livePivot(int i) {
      return live[i];
    }

    @Override
    public void row(int i, double[] into) {
      System.arraycopy(values, at[i] + live[i], into, live[i], f.fn() - live[i]);
    }

    @Override
    public void row(int i, int from, int to, double[] into) {
      System.arraycopy(values, at[i] + from, into, 0, to - from);
    }

    @Override
    public double rhs(int i, int k) {
      return f.rhs()[i * f.rhsCount() + k];
    }
  }
}
