/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.threads;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Work on another thread, or where its result is asked for if it has not begun. Thread-safe. */
public final class Later<T> {
  private final Supplier<T> work;
  private @Nullable CompletableFuture<T> result;

  public Later(Supplier<T> work) {
    this.work = work;
  }

  /** Begins; idempotent. */
  public synchronized void begin() {
    if (result == null) {
      result = CompletableFuture.supplyAsync(work);
    }
  }

  public synchronized boolean begun() {
    return result != null;
  }

  private synchronized @Nullable CompletableFuture<T> begunOrClaimed(CompletableFuture<T> own) {
    CompletableFuture<T> begun = result;
    result = begun == null ? own : begun;
    return begun;
  }

  /** Waits for the result; an exception of the work is thrown as it is. */
  public T get() {
    var own = new CompletableFuture<T>();
    CompletableFuture<T> begun = begunOrClaimed(own);
    if (begun == null) {
      try {
        own.complete(work.get());
      } catch (RuntimeException | Error e) {
        own.completeExceptionally(e);
      }
      begun = own;
    }
    try {
      return begun.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      if (e.getCause() instanceof Error cause) {
        throw cause;
      }
      throw e;
    }
  }
}
