/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.stored;

import io.sparqr.numeric.storage.RowStore;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;

/**
 * Rows of R outside the heap that are being read: they are not freed before the reading is closed,
 * whatever happens to the partition that they come from. Within a Spark task it is closed at the
 * end of the task at the latest. Idempotent.
 */
public final class Reading implements AutoCloseable {

  private final List<RowStore> held = new ArrayList<>();

  /** Reads rows of R; closed at the end of Spark's task, if there is one. */
  public Reading() {
    TaskContext context = TaskContext.get();
    if (context != null) {
      context.addTaskCompletionListener((TaskCompletionListener) ended -> close());
    }
  }

  /**
   * Holds rows.
   *
   * @throws IllegalStateException if they are freed
   */
  public synchronized void add(RowStore rows) {
    if (!held.contains(rows)) {
      rows.hold();
      held.add(rows);
    }
  }

  @Override
  public synchronized void close() {
    held.forEach(RowStore::close);
    held.clear();
  }
}
