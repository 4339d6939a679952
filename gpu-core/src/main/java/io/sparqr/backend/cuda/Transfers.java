/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;

/**
 * The bus between heap and device: a stream each way, page-locked buffers in between. Every call
 * returns when its bytes have arrived; several threads keep both directions busy. Thread-safe; the
 * device's context must be current in the calling thread.
 */
final class Transfers implements AutoCloseable {

  /** Bytes that one thread prepares or takes at a time. */
  static final int PIECE_BYTES = 4 << 20;

  /** Bytes [offset, offset + bytes) of a buffer on the device. */
  record Slice(DeviceBuffer buffer, long offset, int bytes) {}

  private final CudaDriver driver;
  private final PinnedPool pinned;
  private final CudaStream up;
  private final CudaStream down;

  Transfers(CudaDriver driver, PinnedPool pinned) {
    this.driver = driver;
    this.pinned = pinned;
    up = new CudaStream(driver);
    down = new CudaStream(driver);
  }

  /** Sends what the filler writes to a slice. */
  void send(Slice to, Consumer<ByteBuffer> filler) {
    PinnedBuffer buffer = pinned.acquire(to.bytes);
    try (var done = new CudaEvent(driver, false)) {
      filler.accept(buffer.view(0, to.bytes));
      up.upload(to.buffer.at(to.offset), buffer, 0, to.bytes);
      done.record(up);
      done.synchronize();
    } finally {
      pinned.release(buffer);
    }
  }

  /**
   * Fetches slices once an event is reached, one behind the other in one buffer.
   *
   * @param after the event; null: at once. Events are reached in the order of the calls, or calls
   *     wait for each other
   * @param taker the buffer is not its own after it returns
   */
  void fetch(CudaEvent after, List<Slice> from, Consumer<ByteBuffer> taker) {
    int bytes = from.stream().mapToInt(Slice::bytes).reduce(0, Math::addExact);
    PinnedBuffer buffer = pinned.acquire(bytes);
    try (var done = new CudaEvent(driver, false)) {
      synchronized (down) {
        if (after != null) {
          down.await(after);
        }
        int at = 0;
        for (Slice s : from) {
          down.download(buffer, at, s.buffer.at(s.offset), s.bytes);
          at += s.bytes;
        }
        done.record(down);
      }
      done.synchronize();
      taker.accept(buffer.view(0, bytes));
    } finally {
      pinned.release(buffer);
    }
  }

  @Override
  public void close() {
    up.close();
    down.close();
  }
}
