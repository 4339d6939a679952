/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda.transfer;

import io.sparqr.backend.cuda.driver.CudaDriver;
import io.sparqr.backend.cuda.driver.CudaEvent;
import io.sparqr.backend.cuda.driver.CudaStream;
import io.sparqr.backend.cuda.driver.DeviceBuffer;
import io.sparqr.backend.cuda.driver.PinnedBuffer;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Transfers between heap and device: one stream in each direction, page-locked buffers in between.
 * Every call returns when its bytes have arrived, unless they go through a {@link Queue}; several
 * threads keep both directions busy. Thread-safe; the device's context must be current in the
 * calling thread.
 */
public final class Transfers implements AutoCloseable {

  /** Bytes that one thread fills or reads at a time. */
  public static final int PIECE_BYTES = 4 << 20;

  /** Bytes [offset, offset + bytes) of a buffer on the device. */
  public record Slice(DeviceBuffer buffer, long offset, int bytes) {}

  /** Sends of a queue that may be under way: enough to keep the device's copy engine busy. */
  private static final int MOST_UNDER_WAY = 8;

  private final PinnedPool pinned;
  private final CudaStream up;
  private final CudaStream down;
  private volatile @Nullable CopyTimes times;

  public Transfers(CudaDriver driver, PinnedPool pinned) {
    this.pinned = pinned;
    up = new CudaStream(driver);
    down = new CudaStream(driver);
  }

  /** Measures all copies from now on; null: none. */
  public void measured(@Nullable CopyTimes by) {
    times = by;
  }

  private void copy(CudaStream stream, long bytes, Runnable copy) {
    CopyTimes by = times;
    if (by == null) {
      copy.run();
    } else {
      by.around(stream, bytes, copy);
    }
  }

  private void upload(Slice to, PinnedBuffer buffer) {
    copy(up, to.bytes, () -> up.upload(to.buffer.at(to.offset), buffer, 0, to.bytes));
    buffer.event().record(up);
  }

  /** Sends the filler's output to a slice. */
  public void send(Slice to, Consumer<ByteBuffer> filler) {
    PinnedBuffer buffer = pinned.acquire(to.bytes);
    try {
      filler.accept(buffer.view(0, to.bytes));
      upload(to, buffer);
      buffer.event().synchronize();
    } finally {
      pinned.release(buffer);
    }
  }

  /** Begins sends that do not wait for their bytes' arrival. */
  Queue queue() {
    return new Queue();
  }

  /**
   * Sends in the order of their calls, while the callers fill the next buffers. Thread-safe;
   * close() waits for the arrival of all.
   */
  final class Queue implements AutoCloseable {

    /** Buffers not yet known to have arrived, in order. */
    private final ArrayDeque<PinnedBuffer> underWay = new ArrayDeque<>();

    private Queue() {}

    /** Sends the filler's output to a slice; returns when the copy is enqueued. */
    void send(Slice to, Consumer<ByteBuffer> filler) {
      PinnedBuffer buffer = pinned.acquire(to.bytes);
      PinnedBuffer oldest;
      try {
        filler.accept(buffer.view(0, to.bytes));
        oldest = enqueue(to, buffer);
      } catch (RuntimeException | Error e) {
        pinned.release(buffer);
        throw e;
      }
      if (oldest != null) {
        arrived(oldest);
      }
    }

    /** Returns a buffer to wait for, or null. */
    private synchronized @Nullable PinnedBuffer enqueue(Slice to, PinnedBuffer buffer) {
      upload(to, buffer);
      underWay.add(buffer);
      return underWay.size() > MOST_UNDER_WAY ? underWay.poll() : null;
    }

    private void arrived(PinnedBuffer buffer) {
      try {
        buffer.event().synchronize();
      } finally {
        pinned.release(buffer);
      }
    }

    /** Makes later work of a stream wait for all bytes enqueued so far. */
    synchronized void beforeLaterWorkOf(CudaStream stream) {
      if (!underWay.isEmpty()) {
        stream.await(underWay.getLast().event());
      }
    }

    @Override
    public synchronized void close() {
      while (!underWay.isEmpty()) {
        arrived(underWay.poll());
      }
    }
  }

  /**
   * Fetches slices into one buffer, one after the other, once an event is reached.
   *
   * @param after the event; without one, at once. Events should be reached in the order of the
   *     calls, since calls wait for each other
   * @param taker must not keep the buffer after it returns
   */
  public void fetch(@Nullable CudaEvent after, List<Slice> from, Consumer<ByteBuffer> taker) {
    int bytes = from.stream().mapToInt(Slice::bytes).reduce(0, Math::addExact);
    PinnedBuffer buffer = pinned.acquire(bytes);
    try {
      synchronized (down) {
        if (after != null) {
          down.await(after);
        }
        copy(down, bytes, () -> download(from, buffer));
        buffer.event().record(down);
      }
      buffer.event().synchronize();
      taker.accept(buffer.view(0, bytes));
    } finally {
      pinned.release(buffer);
    }
  }

  private void download(List<Slice> from, PinnedBuffer buffer) {
    int at = 0;
    for (Slice s : from) {
      down.download(buffer, at, s.buffer.at(s.offset), s.bytes);
      at += s.bytes;
    }
  }

  @Override
  public void close() {
    up.close();
    down.close();
  }
}
