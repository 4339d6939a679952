/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.staged.executor.RoundExecutor.RowPieces;
import io.sparqr.backend.staged.executor.RoundExecutor.RowSink;
import io.sparqr.backend.staged.layout.StageProgram;
import java.nio.DoubleBuffer;

/** Delivers every second front's rows in pieces, the last piece first, as a device may do. */
final class RowDelivery {

  /** Doubles of a piece of a front's rows. */
  private static final int PIECE = 100;

  private RowDelivery() {}

  /** Delivers the rows of front f from a stage's output buffer. */
  static void of(StageProgram p, double[] out, int f, RowSink sink) {
    DoubleBuffer rows = DoubleBuffer.wrap(out).slice((int) p.outStart(f), p.outLength(f));
    if (f % 2 == 0) {
      sink.accept(f, rows);
      return;
    }
    int pieces = (rows.capacity() + PIECE - 1) / PIECE;
    RowPieces to = sink.begin(f, rows.capacity());
    for (int k = pieces - 1; k >= 0; k--) {
      to.put(k * PIECE, rows.slice(k * PIECE, Math.min(PIECE, rows.capacity() - k * PIECE)));
    }
    to.end();
  }
}
