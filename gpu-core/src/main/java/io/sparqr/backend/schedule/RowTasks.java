/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import java.nio.ByteBuffer;

/**
 * Writes a list of PACK_ROWS tasks without dependencies: rows of finished fronts for the output
 * buffer.
 */
public final class RowTasks {

  private final TaskWriter writer;

  /** Writes from the target's start on; little-endian. */
  public RowTasks(ByteBuffer target) {
    writer = new TaskWriter(target, null);
  }

  /**
   * Adds a task: rows [from, to) of a finished front.
   *
   * @param out place of their values in the output buffer
   * @param outRhs place of their right-hand sides
   */
  public void add(int front, int from, int to, long out, long outRhs) {
    writer.out(TaskLayout.PACK_ROWS, 0, front, 0, from, to, out, outRhs);
  }
}
