/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;

/**
 * Transfers between heap and device: one stream in each direction, page-locked buffers in between.
 * Every call returns when its bytes have arrived; several threads keep both directions busy.
 * Thread-safe; the device's context must be current in the calling thread.
 */
final class Transfers implements AutoCloseable {

  /** Bytes that one thread fills or reads at a time. */
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

  /** Sends the filler's output to a slice. */
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
   * Fetches slices into one buffer, one after the other, once an event is reached.
   *
   * @param after the event; null: at once. Events should be reached in the order of the calls,
   *     since calls wait for each other
   * @param taker must not keep the buffer after it returns
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
