/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.storage;

import io.sparqr.error.DiskFullException;
import io.sparqr.error.FatalCudaException;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.ResidentFactor;
import io.sparqr.numeric.integrity.IntegrityFailure;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The rows of R of a task that has left them where they were made ({@link
 * io.sparqr.numeric.Residence#alone}): fetched into a {@link RowStore} once they are needed on the
 * host, or before they give way there. They may be lost instead, with their device or because the
 * host has no room; then the task must be done again. Thread-safe.
 */
public final class LateRows implements AutoCloseable {

  private final ResidentFactor source;
  private final RowStore store;
  private final int threads;
  private @Nullable List<FrontFactor> rows;
  private @Nullable String lost;
  private boolean closed;

  /**
   * Rows not yet fetched.
   *
   * @param source has them; not closed here
   * @param store where they are put, held by those who need them
   * @param threads host threads for the copy
   */
  public LateRows(ResidentFactor source, RowStore store, int threads) {
    this.source = source;
    this.store = store;
    this.threads = threads;
    source.claimed(new Needed());
  }

  /**
   * The rows of all fronts, in the task's order; empty if they are lost. The first call copies
   * them: O(entries).
   */
  public synchronized Optional<List<FrontFactor>> rows() {
    if (rows == null && lost == null) {
      fetch();
    }
    return Optional.ofNullable(rows);
  }

  private void fetch() {
    try {
      store.hold();
    } catch (IllegalStateException freed) {
      lost = freed.getMessage();
      return;
    }
    try {
      rows = source.fetch(store, threads).orElse(null);
      lost = rows == null ? "they are no longer where they were made" : null;
    } catch (IntegrityFailure
        | DiskFullException
        | InsufficientMemoryException
        | FatalCudaException
        | UncheckedIOException e) {
      lost = e.getMessage();
    } finally {
      store.close();
    }
  }

  /** R is needed where it is until the rows are fetched. */
  private final class Needed implements ResidentFactor.Claim {
    @Override
    public boolean stands() {
      synchronized (LateRows.this) {
        return !closed && rows == null && lost == null;
      }
    }

    @Override
    public void take() {
      synchronized (LateRows.this) {
        if (!closed) {
          rows();
        }
      }
    }
  }

  /** Why the rows are lost; empty if they are not. */
  public synchronized String lost() {
    return lost == null ? "" : lost;
  }

  /** No more rows are fetched than have been asked for; idempotent. */
  @Override
  public synchronized void close() {
    closed = true;
  }
}
