/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

/** Tells the tasks of each front in each round, always the same ones. Thread-safe. */
interface Emitter {

  /** Emits all tasks of front f in round r. */
  void emit(int r, int f, TaskSink sink);
}
