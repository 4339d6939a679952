/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.staged.KeptRows;
import io.sparqr.backend.staged.SolveLists;
import java.util.Optional;
import java.util.function.IntUnaryOperator;

/** A copy of a stage's packed rows on the heap, which stands for a device's memory. */
final class HeapRows implements KeptRows {

  private final IntUnaryOperator choice;
  // Not private: tests look at the lists and change the values.
  final SolveLists lists;
  double[] out;

  /** Solves in list order, or in the order of {@code choice}. */
  HeapRows(SolveLists lists, double[] out, IntUnaryOperator choice) {
    this.lists = lists;
    this.out = out;
    this.choice = choice;
  }

  @Override
  public synchronized Optional<Solved> solve(double[] c, int rhs) {
    return out.length == 0 && lists.outDoubles() > 0
        ? Optional.empty()
        : Optional.of(new PackedSolve(lists, out, rhs, choice).normal(c));
  }

  @Override
  public synchronized Optional<Solved> solveStored() {
    return lists.storedRhs() == 0 || out.length == 0
        ? Optional.empty()
        : Optional.of(PackedSolve.checked(lists, out));
  }

  @Override
  public synchronized long bytes() {
    return (long) Double.BYTES * out.length;
  }

  @Override
  public int terms() {
    return lists.terms();
  }

  @Override
  public synchronized void close() {
    out = new double[0];
  }
}
