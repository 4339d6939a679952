/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

/**
 * Receives the tasks of a stage from {@link TaskEmitter}: one implementation counts them, the other
 * writes records. Each call is one task, except {@link #apply}.
 */
interface TaskSink {

  /** Starts the tasks of front f in its local round; -1: its assembly. */
  void begin(int front, int local);

  /** A FACTORIZE or APPLY_FACTORIZE of an operation; slot bases depend on front and round. */
  void factorize(FrontSchedule s, int op, int front, int readBase, int writeBase);

  /**
   * The Apply tasks of an operation: the column tiles from {@link FrontSchedule#applyFrom} on in
   * {@code parts} parts, at least one. The first is an APPLY_NEAR, since its columns may be
   * factorized in the next round, the others are APPLY.
   */
  void apply(FrontSchedule s, int op, int front, int readBase, int parts);

  /** A PACK_ASSEMBLE (of a front) or ASSEMBLE_BLOCK (of a block's descriptor). */
  void pack(int kind, int from, int parent, int rowFrom, int rowTo, int columnFrom, int columnTo);

  /** One ASSEMBLE_S. */
  void scatter(int front, long from, long to);

  /** A SMALL_FRONT; one with SMALL_PACK_ASSEMBLE counts as assembly of its parent. */
  void small(int flags, int front, int parent, int slot, int rows, long out, long outRhs);

  /** A DROP, which counts as assembly of its parent, if any. */
  void drop(int front, int parent, int slot, int vtFrom, int most, int rows, long out, long outRhs);

  /** A PACK_ROWS or RESIDUAL. */
  void out(int kind, int flags, int front, int slot, int rowFrom, int rowTo, long out, long outRhs);
}
