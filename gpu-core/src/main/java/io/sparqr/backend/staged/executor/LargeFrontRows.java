/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.executor;

import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.backend.staged.executor.RoundExecutor.RowPieces;
import io.sparqr.backend.staged.executor.RoundExecutor.RowSink;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The packed rows of a large front on their way to a sink, piece by piece, each as soon as its rows
 * are complete. Whether the front is sound is known only at its end: what has come before is final
 * if it is, comes again if dead columns were dropped, and is given up otherwise. Thread-safe.
 */
public final class LargeFrontRows {

  private final RowSink sink;
  private final int front;
  private final int length;
  private final AtomicInteger left;
  private @Nullable RowPieces rows;

  /**
   * Without any piece yet.
   *
   * @param length of the front's slice of the output buffer
   */
  public LargeFrontRows(RowSink sink, int front, int length, int pieces) {
    this.sink = sink;
    this.front = front;
    this.length = length;
    left = new AtomicInteger(pieces);
  }

  /** The front's index in the stage. */
  public int front() {
    return front;
  }

  /** Where the pieces go. */
  public synchronized RowPieces rows() {
    RowPieces begun = rows == null ? sink.begin(front, length) : rows;
    rows = begun;
    return begun;
  }

  /** Counts a piece that has been put; true if it was the last one. */
  public boolean isLast() {
    return left.decrementAndGet() == 0;
  }

  /**
   * Ends the front, after its last piece.
   *
   * @param state the front's, from after its last round
   * @param all puts all pieces once more
   */
  public void end(int state, Consumer<RowPieces> all) {
    RowPieces to = rows();
    if (!TaskLayout.isDone(state)) {
      to.giveUp();
      return;
    }
    if (state != TaskLayout.STATE_SOUND) {
      to.again();
      all.accept(to);
    }
    to.end();
  }
}
