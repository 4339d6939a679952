/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.executor;

import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.numeric.ResidentFactor;
import java.nio.DoubleBuffer;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The packed rows of R of a stage, left on an executor beyond its life. Thread-safe: one solve at a
 * time.
 */
public interface KeptRows extends AutoCloseable {

  /**
   * Solves R'R x = c, for rows without columns outside the task; empty if the rows are gone:
   * closed, or their memory was needed.
   *
   * @param c by number of the stage's columns, rhs values each
   */
  Optional<Solved> solve(double[] c, int rhs);

  /**
   * Solves R'y = c; empty if the rows are gone.
   *
   * @param c at the pivots, rhs values each
   * @return y at the pivots, then what is to be added to c at the columns outside
   */
  Optional<Solved> forward(double[] c, int rhs);

  /**
   * Solves R x = c; empty if the rows are gone.
   *
   * @param given c at the pivots, then x at the columns outside, rhs values each
   * @return x at the pivots
   */
  Optional<Solved> back(double[] given, int rhs);

  /**
   * Solves R x = c with the right-hand sides stored with the rows; empty if the rows are gone or
   * have none.
   *
   * @param outside x at the columns outside the task, as many values each as there are right-hand
   *     sides
   */
  Optional<Solved> solveStored(double[] outside);

  /**
   * The sum of the mixed bits of the rows and of the right-hand sides stored with them, as they are
   * there now; empty if the rows are gone. A pass over the rows.
   */
  OptionalLong bits();

  /**
   * Copies all of the rows, in the layout of {@link StageProgram#outStart}; false if they are gone.
   *
   * @param threads host threads
   */
  boolean read(int threads, Piece into);

  /** Receives a piece of the rows. */
  @FunctionalInterface
  interface Piece {

    /**
     * Takes the doubles from number {@code from} on; called from several threads, once for each
     * part of the rows. The buffer must not be used after the return.
     */
    void take(long from, DoubleBuffer values);
  }

  /** Sets who has no other copy of the rows ({@link ResidentFactor#claimed}). */
  void claimed(ResidentFactor.Claim claim);

  /** Whether the rows are still there. */
  boolean areThere();

  /** Bytes of the executor's memory that the rows take now, with what solves need. */
  long bytes();

  /** Number of columns outside the task. */
  int outside();

  /** The largest number of terms of an equation. */
  int terms();

  /** Frees the rows; waits for a solve under way. Idempotent. */
  @Override
  void close();

  /**
   * A solution.
   *
   * @param x by number of the stage's columns
   * @param backwardError the largest componentwise backward error of the equations solved: R'y = c
   *     and R x = y, or one of the two; huge if a value is not finite
   * @param bits sum of the mixed bits of the rows and of the right-hand sides stored with them
   */
  record Solved(double[] x, double backwardError, long bits) {}
}
