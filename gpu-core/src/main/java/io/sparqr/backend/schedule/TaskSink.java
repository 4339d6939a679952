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
   * Apply tasks of an operation: column tiles [from, to) in {@code parts} parts, at least one.
   * Where they begin at {@link FrontSchedule#applyFrom}, the first is an APPLY_NEAR, since its
   * columns may be factorized in the next round; the others are APPLY.
   */
  void apply(FrontSchedule s, int op, int front, int readBase, int from, int to, int parts);

  /**
   * Sets whether the following tasks concern other devices ({@link TaskLayout#FLAG_DEVICES}): off
   * at first, and always off in a list for one device.
   */
  default void marked(boolean on) {}

  /**
   * Tells of PULL tasks that count for the front of {@link #begin} in its local round, whichever
   * round they are in.
   */
  default void copied(int chain, int bulk) {}

  /**
   * A PULL in the current round of {@link #begin}, which counts where {@link #copied} says.
   *
   * @param waits whether it waits for what the device itself does for the front
   */
  void pull(Task.Pull pull, boolean waits);

  /** An ANNOUNCE of the front of {@link #begin}. */
  void announce();

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
