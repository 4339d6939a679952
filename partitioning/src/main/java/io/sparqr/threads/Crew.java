/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.threads;

import java.util.function.IntConsumer;

/** Threads that may help with independent pieces of one dense factorization. */
public interface Crew {

  /** The calling thread alone. */
  Crew ALONE =
      (count, task) -> {
        for (int i = 0; i < count; i++) {
          task.accept(i);
        }
      };

  /**
   * Runs task(0) .. task(count - 1), started in that order by free threads, and returns when all
   * are done. The caller sees all writes of the tasks. A task may run a single further one, which
   * its own thread does: where there is something to stop for, it stops there.
   */
  void run(int count, IntConsumer task);
}
