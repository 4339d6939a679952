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
import io.sparqr.spark.internals.SelfSized;
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
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

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
    implements TaskOutput, Externalizable, KryoSerializable, SelfSized, AutoCloseable {

  private static final long serialVersionUID = 1;

  /** Target for the bytes of rows kept together, exceeded only by a single large front. */
  private static final long GROUP_BYTES = 32L << 20;

  /** Bytes of a front in addition to its values: headers of its objects. */
  private static final long FRONT_BYTES = 176;

  /** Number of frames encoded at a time during writing, which takes place outside the task, too. */
  private static final int WRITERS = 2;

  /** Length of the frame that stands for rows that are lost. */
  private static final int LOST = -1;

  private transient Place place;

  /** Holds the rows until this is closed, if they are outside the heap. */
  private final transient @Nullable RowStore store;

  private final transient int rhsCount;
  private final transient AtomicBoolean closed = new AtomicBoolean();

  /** An empty object, for deserialization. */
  public KeptFronts() {
    this(new AsFrames(List.of()), 0, null);
  }

  private KeptFronts(Place place, int rhsCount, @Nullable RowStore store) {
    this.place = place;
    this.rhsCount = rhsCount;
    this.store = store;
    if (store != null) {
      store.hold();
    }
  }

  /** Where the rows are. */
  private sealed interface Place permits Rows, Elsewhere, Lost {

    /** The rows, fetched if they are not here yet; empty if they are lost. */
    Optional<Rows> rows();

    /** Bytes on the heap, the values of the rows only if these are there. */
    long heapBytes(boolean values);
  }

  /** Rows that are here. */
  private sealed interface Rows extends Place permits AsMade, AsFrames {

    @Override
    default Optional<Rows> rows() {
      return Optional.of(this);
    }

    /** The rows as frames, encoded on demand. */
    Iterator<byte[]> frames(int rhsCount);

    /** Opens the rows part by part, in order: each part when it is asked for, on any thread. */
    Stream<Supplier<List<FactorSegment>>> parts(boolean verify);
  }

  /** Rows as the factorization made them. */
  private record AsMade(List<FrontFactor> fronts) implements Rows {
    @Override
    public Iterator<byte[]> frames(int rhsCount) {
      return FactorChunk.encode(new ArrayDeque<>(fronts), rhsCount, WRITERS);
    }

    @Override
    public Stream<Supplier<List<FactorSegment>>> parts(boolean verify) {
      return fronts.stream().map(f -> () -> List.of(new StoredFront(f, verify)));
    }

    @Override
    public long heapBytes(boolean values) {
      long bytes = 0;
      for (FrontFactor f : fronts) {
        long outside = values ? 0 : Double.BYTES * (long) f.values().capacity();
        bytes += FRONT_BYTES + bytes(f) - outside;
      }
      return bytes;
    }
  }

  /** Rows that were read as frames. */
  private record AsFrames(List<byte[]> frames) implements Rows {
    @Override
    public Iterator<byte[]> frames(int rhsCount) {
      return frames.iterator();
    }

    @Override
    public Stream<Supplier<List<FactorSegment>>> parts(boolean verify) {
      return frames.stream().map(f -> () -> segments(f));
    }

    @Override
    public long heapBytes(boolean values) {
      return frames.stream().mapToLong(f -> f.length).sum();
    }
  }

  /**
   * Rows that are fetched when they are needed.
   *
   * @param heapBytes of the rows once they are fetched
   */
  private record Elsewhere(LateRows late, long heapBytes) implements Place {
    @Override
    public Optional<Rows> rows() {
      return late.rows().map(AsMade::new);
    }

    @Override
    public long heapBytes(boolean values) {
      return heapBytes;
    }
  }

  /** Rows that were lost before this was written. */
  private record Lost() implements Place {
    @Override
    public Optional<Rows> rows() {
      return Optional.empty();
    }

    @Override
    public long heapBytes(boolean values) {
      return 0;
    }
  }

  /**
   * Keeps the rows of a task's fronts. Computes missing checksums: O(values).
   *
   * @param fronts in the task's order
   * @param threads threads that compute checksums
   * @param store has the rows, if they are outside the heap, and is held until all that is returned
   *     is closed
   */
  public static List<KeptFronts> of(
      List<FrontFactor> fronts, int rhsCount, int threads, @Nullable RowStore store) {
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
  public static KeptFronts of(
      LateRows late, int fronts, long pivots, int rhs, @Nullable RowStore store) {
    long bytes = FRONT_BYTES * fronts + (Double.BYTES * rhs + Integer.BYTES) * pivots;
    return new KeptFronts(new Elsewhere(late, bytes), rhs, store);
  }

  /**
   * Whether an element of a level's stored content can be read; rows that are still where they were
   * made are fetched. If not, the task must be done again: its rows are lost.
   */
  public static boolean isHere(TaskOutput element) {
    return !(element instanceof KeptFronts k) || k.place.rows().isPresent();
  }

  /** The rows, which are not freed before the reading is closed. */
  private Rows rows(Reading reading) {
    if (store != null) {
      reading.add(store);
    }
    return place
        .rows()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "rows of R are lost"
                        + (place instanceof Elsewhere e ? ": " + e.late.lost() : "")));
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

  private static List<KeptFronts> grouped(
      FrontFactor[] sealed, int rhsCount, @Nullable RowStore store) {
    var groups = new ArrayList<KeptFronts>();
    var group = new ArrayList<FrontFactor>();
    long bytes = 0;
    for (FrontFactor f : sealed) {
      if (f.rank() == 0) {
        continue;
      }
      long own = bytes(f);
      if (bytes + own > GROUP_BYTES && !group.isEmpty()) {
        groups.add(new KeptFronts(new AsMade(List.copyOf(group)), rhsCount, store));
        group.clear();
        bytes = 0;
      }
      group.add(f);
      bytes += own;
    }
    if (!group.isEmpty()) {
      groups.add(new KeptFronts(new AsMade(List.copyOf(group)), rhsCount, store));
    }
    return groups;
  }

  private static long bytes(FrontFactor f) {
    return Double.BYTES * ((long) f.values().capacity() + f.rhs().length)
        + Integer.BYTES * (long) f.rank();
  }

  /**
   * The frames in what a task has left: existing frames, and rows that are encoded on demand.
   *
   * @param kept what a task has left
   * @param wanted the kinds of frames; others are not encoded
   */
  public static Iterator<byte[]> frames(Iterator<TaskOutput> kept, Predicate<Frame.Kind> wanted) {
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
          TaskOutput next = kept.next();
          if (next instanceof Framed framed) {
            some =
                wanted.test(Frame.kind(framed.frame()))
                    ? List.of(framed.frame()).iterator()
                    : Collections.emptyIterator();
          } else if (next instanceof KeptFronts k && wanted.test(Frame.Kind.FACTOR)) {
            some = k.frames(reading);
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
   * @param kept what a task has left
   * @param threads threads that verify
   * @param reading holds the rows as long as they are used
   * @throws io.sparqr.error.WireFormatException if a frame is damaged
   * @throws NumericalIntegrityException if a row has changed
   */
  public static List<FactorSegment> rows(Iterator<TaskOutput> kept, int threads, Reading reading) {
    return rows(kept, threads, reading, true);
  }

  /**
   * The same for a reader that checks what it reads ({@link FactorSegment#unchecked}): a pass over
   * R less.
   *
   * @param verify false: only frames and structure are checked now
   */
  public static List<FactorSegment> rows(
      Iterator<TaskOutput> kept, int threads, Reading reading, boolean verify) {
    var parts = new ArrayList<Supplier<List<FactorSegment>>>();
    while (kept.hasNext()) {
      TaskOutput next = kept.next();
      if (next instanceof KeptFronts k) {
        k.rows(reading).parts(verify).forEach(parts::add);
      } else if (next instanceof FactorFrame f) {
        parts.add(() -> segments(f.frame()));
      }
    }
    var opened = new ArrayList<List<FactorSegment>>(Collections.nCopies(parts.size(), null));
    Parallel.loop(
        parts.size(),
        1,
        threads,
        (from, to, thread) -> {
          for (int k = from; k < to; k++) {
            opened.set(k, parts.get(k).get());
          }
        });
    var rows = new ArrayList<FactorSegment>();
    opened.forEach(rows::addAll);
    return rows;
  }

  private static List<FactorSegment> segments(byte[] frame) {
    FactorChunk chunk = FactorChunk.open(frame);
    var segments = new ArrayList<FactorSegment>(chunk.segments());
    for (int s = 0; s < chunk.segments(); s++) {
      segments.add(chunk.segment(s));
    }
    return segments;
  }

  /** The rows as frames, encoded on demand while the reading holds them. */
  private Iterator<byte[]> frames(Reading reading) {
    return rows(reading).frames(rhsCount);
  }

  /** Releases rows outside the heap; idempotent. */
  @Override
  public void close() {
    if (store != null && closed.compareAndSet(false, true)) {
      if (place instanceof Elsewhere e) {
        e.late.close();
      }
      store.close();
    }
  }

  /** Bytes on the heap. */
  @Override
  public long estimatedSize() {
    return place.heapBytes(store == null);
  }

  @Override
  public void writeExternal(ObjectOutput out) throws IOException {
    if (!isHere(this)) {
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
    var frames = new ArrayList<byte[]>();
    for (int length = in.readInt(); length != 0; length = in.readInt()) {
      if (length == LOST) {
        place = new Lost();
        return;
      }
      byte[] frame = new byte[length];
      in.readFully(frame);
      frames.add(frame);
    }
    place = new AsFrames(frames);
  }

  @Override
  public void write(Kryo kryo, Output out) {
    if (!isHere(this)) {
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
    var frames = new ArrayList<byte[]>();
    for (int length = in.readInt(); length != 0; length = in.readInt()) {
      if (length == LOST) {
        place = new Lost();
        return;
      }
      frames.add(in.readBytes(length));
    }
    place = new AsFrames(frames);
  }
}
