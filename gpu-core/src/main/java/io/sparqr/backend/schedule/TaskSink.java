/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

/**
 * Takes the tasks of a stage as {@link TaskEmitter} decides them: one counts, the other writes
 * records. Each call is one task, but {@link #apply}.
 */
interface TaskSink {

  /** The following tasks are what front f does in its local round; -1: what fills it. */
  void begin(int front, int local);

  /** A FACTORIZE or APPLY_FACTORIZE of an operation; slot bases are those of front and round. */
  void factorize(FrontSchedule s, int op, int front, int readBase, int writeBase);

  /**
   * The Apply tasks of an operation: the column tiles from {@link FrontSchedule#applyFrom} on in
   * {@code parts} parts, at least one. The first is an APPLY_NEAR, since what it updates may be
   * factorized in the next round, the others are APPLY.
   */
  void apply(FrontSchedule s, int op, int front, int readBase, int parts);

  /** A PACK_ASSEMBLE (of a front) or ASSEMBLE_BLOCK (of a block's descriptor). */
  void pack(int kind, int from, int parent, int rowFrom, int rowTo, int columnFrom, int columnTo);

  /** An ASSEMBLE_S. */
  void scatter(int front, long from, long to);

  /** A SMALL_FRONT; one with SMALL_PACK_ASSEMBLE fills its parent. */
  void small(int flags, int front, int parent, int slot, int rows, long out, long outRhs);

  /** A DROP; it fills its parent, if it has one. */
  void drop(int front, int parent, int slot, int vtFrom, int rows, long out, long outRhs);

  /** A PACK_ROWS or RESIDUAL. */
  void out(int kind, int flags, int front, int slot, int rowFrom, int rowTo, long out, long outRhs);
}
