/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.metrics;

import io.sparqr.spark.device.Backends;
import java.util.Arrays;

/**
 * Samples the memory of this JVM while it is open: heap in use, garbage included, and bytes held on
 * devices. Keeps at most {@value #MOST} readings: at that number, every other one is dropped and
 * the interval doubles, so that a run of any length is covered evenly. A reading takes
 * microseconds.
 */
public final class MemorySampler implements AutoCloseable {

  /** Maximum number of readings kept. */
  public static final int MOST = 240;

  private static final long FIRST_PAUSE_MILLIS = 20;

  private final long[] at = new long[MOST];
  private final long[] heap = new long[MOST];
  private final long[] device = new long[MOST];
  private final Thread thread;
  private int count;
  private long pause = FIRST_PAUSE_MILLIS;
  private boolean closed;

  /** Starts sampling. */
  public MemorySampler() {
    thread = new Thread(this::run, "sparqr-memory");
    thread.setDaemon(true);
    thread.start();
  }

  private synchronized void run() {
    try {
      while (!closed) {
        look();
        wait(pause);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void look() {
    if (count == MOST) {
      for (int k = 0; k < MOST / 2; k++) {
        at[k] = at[2 * k];
        heap[k] = heap[2 * k];
        device[k] = device[2 * k];
      }
      count = MOST / 2;
      pause *= 2;
    }
    Runtime jvm = Runtime.getRuntime();
    at[count] = System.currentTimeMillis();
    heap[count] = jvm.totalMemory() - jvm.freeMemory();
    device[count++] = Backends.deviceBytesInUse();
  }

  /**
   * The readings so far.
   *
   * @return rows of milliseconds since 1970, bytes of heap, bytes on devices
   */
  public synchronized long[][] readings() {
    return new long[][] {
      Arrays.copyOf(at, count), Arrays.copyOf(heap, count), Arrays.copyOf(device, count)
    };
  }

  /** Takes a last reading and stops; idempotent. */
  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      look();
      notifyAll();
    }
  }
}
