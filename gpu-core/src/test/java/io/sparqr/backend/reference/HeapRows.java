/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import io.sparqr.backend.staged.executor.KeptRows;
import io.sparqr.backend.staged.solve.SolveLists;
import io.sparqr.numeric.Probe;
import io.sparqr.numeric.ResidentFactor;
import java.nio.DoubleBuffer;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.IntUnaryOperator;

/** A copy of a stage's packed rows on the heap, which stands for a device's memory. */
final class HeapRows implements KeptRows {

  /** Doubles in a piece: few, so that pieces begin and end within rows. */
  private static final int PIECE = 1000;

  private final IntUnaryOperator choice;
  private ResidentFactor.Claim claim = ResidentFactor.Claim.NONE;
  // Not private: tests look at the lists and change the values.
  final SolveLists lists;
  double[] out;

  /** Solves in list order, or in the order of {@code choice}. */
  HeapRows(SolveLists lists, double[] out, IntUnaryOperator choice) {
    this.lists = lists;
    this.out = out;
    this.choice = choice;
  }

  private Optional<Solved> solved(int rhs, Function<PackedSolve, Solved> solve) {
    return areThere()
        ? Optional.of(solve.apply(new PackedSolve(lists, out, rhs, choice)))
        : Optional.empty();
  }

  @Override
  public synchronized Optional<Solved> solve(double[] c, int rhs) {
    return solved(rhs, s -> s.normal(c));
  }

  @Override
  public synchronized Optional<Solved> forward(double[] c, int rhs) {
    return solved(rhs, s -> s.forward(c));
  }

  @Override
  public synchronized Optional<Solved> back(double[] given, int rhs) {
    return solved(rhs, s -> s.back(given));
  }

  @Override
  public synchronized Optional<Solved> solveStored(double[] outside) {
    return lists.storedRhs() == 0
        ? Optional.empty()
        : solved(lists.storedRhs() + Probe.COUNT, s -> s.stored(outside));
  }

  @Override
  public synchronized OptionalLong bits() {
    return areThere()
        ? OptionalLong.of(new PackedSolve(lists, out, 1, choice).bits())
        : OptionalLong.empty();
  }

  @Override
  public synchronized boolean read(int threads, Piece into) {
    for (int from = 0; from < out.length; from += PIECE) {
      int length = Math.min(PIECE, out.length - from);
      into.take(from, DoubleBuffer.wrap(out, from, length).slice());
    }
    return areThere();
  }

  @Override
  public synchronized void claimed(ResidentFactor.Claim by) {
    claim = by;
  }

  /** As if their memory was needed. */
  void giveWay() {
    if (claim.stands()) {
      claim.take();
    }
    close();
  }

  @Override
  public synchronized boolean areThere() {
    return out.length > 0 || lists.outDoubles() == 0;
  }

  @Override
  public synchronized long bytes() {
    return (long) Double.BYTES * out.length;
  }

  @Override
  public int outside() {
    return lists.columns().outside();
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
