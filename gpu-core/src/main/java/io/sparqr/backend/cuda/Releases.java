/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;

/**
 * Frees the device memory of finished tasks on threads of their own: for gigabytes the driver takes
 * 10 ms, for which a task's result need not wait. Who needs to know what is free, or has too
 * little, calls {@link #settle} first. Thread-safe.
 */
final class Releases {

  private final Deque<CompletableFuture<Void>> pending = new ArrayDeque<>();

  /**
   * Begins to free memory that nothing uses any more. If that fails, the next call of the device's
   * next user fails as well, or the memory is missing in what is free.
   */
  void begin(CudaDevice device, Runnable free) {
    var done = new CompletableFuture<Void>();
    synchronized (this) {
      pending.add(done);
    }
    var thread =
        new Thread(
            () -> {
              try {
                device.bind();
                free.run();
              } catch (RuntimeException e) {
                LiveResources.suppressed();
              } finally {
                done.complete(null);
              }
            },
            "sparqr-cuda-free");
    thread.setDaemon(true);
    thread.start();
  }

  /** Waits until all that has begun is free; returns whether there was any. */
  boolean settle() {
    boolean any = false;
    while (true) {
      CompletableFuture<Void> first;
      synchronized (this) {
        first = pending.peek();
      }
      if (first == null) {
        return any;
      }
      any = true;
      first.join();
      synchronized (this) {
        pending.remove(first);
      }
    }
  }
}
