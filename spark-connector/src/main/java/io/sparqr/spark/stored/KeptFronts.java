/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.stored;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoSerializable;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import io.sparqr.error.NumericalIntegrityException;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.storage.LateRows;
import io.sparqr.numeric.storage.RowStore;
import io.sparqr.spark.wire.Frame;
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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.apache.spark.util.KnownSizeEstimation;

/**
 * Rows of R of some consecutive fronts, kept on an executor as the factorization produced them,
 * without a copy or a frame, or left where it made them, until they are read. They are written, to
 * disk or to another executor, as {@link FactorChunk} frames, and read back as such. Like frames,
 * the rows have a checksum, which readers verify.
 *
 * <p>If the rows are outside the heap, this is a holder of their {@link RowStore}. Spark closes it
 * when it drops the stored partition, which it does not do while a task reads that; a reader also
 * holds the rows itself ({@link Reading}).
 */
public final class KeptFronts
    implements Externalizable, KryoSerializable, KnownSizeEstimation, AutoCloseable {

  private static final long serialVersionUID = 1;

  /** Target for the bytes of rows kept together, exceeded only by a single large front. */
  private static final long GROUP_BYTES = 32L << 20;

  /** Bytes of a front in addition to its values: headers of its objects. */
  private static final long FRONT_BYTES = 176;

  /** Number of frames encoded at a time during writing, which takes place outside the task, too. */
  private static final int WRITERS = 2;

  /** Length of the frame that stands for rows that are lost. */
  private static final int LOST = -1;

  /** Null if the content was read as frames, or is not here yet. */
  private List<FrontFactor> fronts;

  /** Rows that are fetched when they are needed; null: they are here. */
  private LateRows late;

  /** Bytes on the heap of rows that are fetched later. */
  private long lateBytes;

  /** Whether the rows were lost before this was written. */
  private boolean writtenLost;

  /** Holds the rows until this is closed; null if they are in the heap. */
  private RowStore store;

  private final AtomicBoolean closed = new AtomicBoolean();

  private List<byte[]> frames;
  private int rhsCount;

  /** An empty object, for deserialization. */
  public KeptFronts() {
    this.frames = List.of();
  }

  private KeptFronts(List<FrontFactor> fronts, int rhsCount, RowStore store) {
    this.fronts = fronts;
    this.rhsCount = rhsCount;
    this.store = store;
    if (store != null) {
      store.hold();
    }
  }

  /**
   * Keeps the rows of a task's fronts. Computes missing checksums: O(values).
   *
   * @param fronts in the task's order
   * @param threads threads that compute checksums
   * @param store has the rows outside the heap, and is held until all that is returned is closed;
   *     null: they are in the heap
   */
  public static List<KeptFronts> of(
      List<FrontFactor> fronts, int rhsCount, int threads, RowStore store) {
    return grouped(sealed(fronts, threads), rhsCount, store);
  }

  /**
   * As above, for a single use at once, while the caller holds the rows: without checksums where
   * there are none. O(fronts).
   */
  public static List<KeptFronts> forUse(List<FrontFactor> fronts, int rhsCount) {
    return grouped(fronts.toArray(FrontFactor[]::new), rhsCount, null);
  }

  /**
   * Rows that are still where they were made.
   *
   * @param fronts number of fronts
   * @param pivots all of them
   * @param store where the rows are put when they are needed, held until this is closed
   */
  public static KeptFronts of(LateRows late, int fronts, long pivots, int rhs, RowStore store) {
    var kept = new KeptFronts(null, rhs, store);
    kept.late = late;
    kept.lateBytes = FRONT_BYTES * fronts + (Double.BYTES * rhs + Integer.BYTES) * pivots;
    return kept;
  }

  /**
   * Whether an element of a level's stored content can be read; rows that are still where they were
   * made are fetched. If not, the task must be done again: its rows are lost.
   */
  public static boolean isHere(Object element) {
    return !(element instanceof KeptFronts k) || k.fetched();
  }

  private synchronized boolean fetched() {
    if (late != null && fronts == null) {
      fronts = late.rows().orElse(null);
    }
    return !writtenLost && (late == null || fronts != null);
  }

  private void requireHere() {
    if (!fetched()) {
      throw new IllegalStateException(
          "rows of R are lost" + (late == null ? "" : ": " + late.lost()));
    }
  }

  private static FrontFactor[] sealed(List<FrontFactor> fronts, int threads) {
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
    return sealed;
  }

  private static List<KeptFronts> grouped(FrontFactor[] sealed, int rhsCount, RowStore store) {
    var groups = new ArrayList<KeptFronts>();
    var group = new ArrayList<FrontFactor>();
    long bytes = 0;
    for (FrontFactor f : sealed) {
      if (f.rank() == 0) {
        continue;
      }
      long own = bytes(f);
      if (bytes + own > GROUP_BYTES && !group.isEmpty()) {
        groups.add(new KeptFronts(List.copyOf(group), rhsCount, store));
        group.clear();
        bytes = 0;
      }
      group.add(f);
      bytes += own;
    }
    if (!group.isEmpty()) {
      groups.add(new KeptFronts(List.copyOf(group), rhsCount, store));
    }
    return groups;
  }

  private static long bytes(FrontFactor f) {
    return Double.BYTES * ((long) f.values().capacity() + f.rhs().length)
        + Integer.BYTES * (long) f.rank();
  }

  /**
   * The frames in the stored content of a level: existing frames, and rows that are encoded on
   * demand.
   *
   * @param kept frames and {@link KeptFronts}
   * @param wanted the kinds of frames; others are not encoded
   */
  public static Iterator<byte[]> frames(Iterator<Object> kept, Predicate<Frame.Kind> wanted) {
    return new Iterator<>() {
      private final Reading reading = new Reading();
      private Iterator<byte[]> some = Collections.emptyIterator();

      @Override
      public boolean hasNext() {
        while (!some.hasNext()) {
          reading.close();
          if (!kept.hasNext()) {
            return false;
          }
          Object next = kept.next();
          if (next instanceof byte[] frame) {
            some =
                wanted.test(Frame.kind(frame))
                    ? List.of(frame).iterator()
                    : Collections.emptyIterator();
          } else if (wanted.test(Frame.Kind.FACTOR)) {
            some = ((KeptFronts) next).frames(reading);
          }
        }
        return true;
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
   * The rows of R in the stored content of a level, all of them opened and verified.
   *
   * @param kept frames of any kind, and {@link KeptFronts}
   * @param threads threads that verify
   * @param reading holds the rows as long as they are used
   * @throws io.sparqr.error.WireFormatException if a frame is damaged
   * @throws NumericalIntegrityException if a row has changed
   */
  public static List<FrontRows> rows(Iterator<Object> kept, int threads, Reading reading) {
    return rows(kept, threads, reading, true);
  }

  /**
   * As above, for a reader that checks what it reads ({@link FrontRows#unchecked}): a pass over R
   * less.
   *
   * @param verify false: only frames and structure are checked now
   */
  public static List<FrontRows> rows(
      Iterator<Object> kept, int threads, Reading reading, boolean verify) {
    var parts = new ArrayList<Object>();
    while (kept.hasNext()) {
      Object next = kept.next();
      if (next instanceof KeptFronts k) {
        k.heldBy(reading);
        k.requireHere();
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
                    : new StoredFront((FrontFactor) parts.get(k), verify);
          }
        });
    var rows = new ArrayList<FrontRows>();
    for (Object o : opened) {
      if (o instanceof FactorChunk chunk) {
        for (int s = 0; s < chunk.segments(); s++) {
          rows.add(chunk.segment(s));
        }
      } else {
        rows.add((StoredFront) o);
      }
    }
    return rows;
  }

  private void heldBy(Reading reading) {
    if (store != null) {
      reading.add(store);
    }
  }

  /** The rows as frames, encoded on demand while the reading holds them. */
  private Iterator<byte[]> frames(Reading reading) {
    heldBy(reading);
    requireHere();
    return fronts == null
        ? frames.iterator()
        : FactorChunk.encode(new ArrayDeque<>(fronts), rhsCount, WRITERS);
  }

  /** Releases rows outside the heap; idempotent. */
  @Override
  public void close() {
    if (store != null && closed.compareAndSet(false, true)) {
      if (late != null) {
        late.close();
      }
      store.close();
    }
  }

  /** Bytes on the heap. */
  @Override
  public long estimatedSize() {
    if (late != null) {
      return lateBytes;
    }
    long bytes = 0;
    if (fronts == null) {
      for (byte[] frame : frames) {
        bytes += frame.length;
      }
      return bytes;
    }
    for (FrontFactor f : fronts) {
      long values = store == null ? 0 : Double.BYTES * (long) f.values().capacity();
      bytes += FRONT_BYTES + bytes(f) - values;
    }
    return bytes;
  }

  @Override
  public void writeExternal(ObjectOutput out) throws IOException {
    if (!fetched()) {
      out.writeInt(LOST);
      return;
    }
    try (var reading = new Reading()) {
      Iterator<byte[]> all = frames(reading);
      while (all.hasNext()) {
        byte[] frame = all.next();
        out.writeInt(frame.length);
        out.write(frame);
      }
    }
    out.writeInt(0);
  }

  @Override
  public void readExternal(ObjectInput in) throws IOException {
    fronts = null;
    frames = new ArrayList<>();
    for (int length = in.readInt(); length != 0; length = in.readInt()) {
      if (length == LOST) {
        writtenLost = true;
        return;
      }
      byte[] frame = new byte[length];
      in.readFully(frame);
      frames.add(frame);
    }
  }

  @Override
  public void write(Kryo kryo, Output out) {
    if (!fetched()) {
      out.writeInt(LOST);
      return;
    }
    try (var reading = new Reading()) {
      Iterator<byte[]> all = frames(reading);
      while (all.hasNext()) {
        byte[] frame = all.next();
        out.writeInt(frame.length);
        out.writeBytes(frame);
      }
    }
    out.writeInt(0);
  }

  @Override
  public void read(Kryo kryo, Input in) {
    fronts = null;
    frames = new ArrayList<>();
    for (int length = in.readInt(); length != 0; length = in.readInt()) {
      if (length == LOST) {
        writtenLost = true;
        return;
      }
      frames.add(in.readBytes(length));
    }
  }
}
