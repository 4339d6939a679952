/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import java.nio.ByteBuffer;

/** Writes a list of PACK_ROWS that need nothing: rows of finished fronts for the output buffer. */
public final class RowTasks {

  private final TaskWriter writer;

  /** Writes from the target's start on; little-endian. */
  public RowTasks(ByteBuffer target) {
    writer = new TaskWriter(target, null);
  }

  /**
   * Adds a task: rows [from, to) of a finished front.
   *
   * @param out where their values go in the output buffer
   * @param outRhs where their right-hand sides go
   */
  public void add(int front, int from, int to, long out, long outRhs) {
    writer.out(TaskLayout.PACK_ROWS, 0, front, 0, from, to, out, outRhs);
  }
}
