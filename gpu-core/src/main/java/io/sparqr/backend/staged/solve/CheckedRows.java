/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.solve;

import io.sparqr.backend.staged.executor.KeptRows;
import io.sparqr.numeric.FrontFactor;
import io.sparqr.numeric.ResidentFactor;
import io.sparqr.numeric.RowMemory;
import io.sparqr.numeric.integrity.IntegrityFailure;
import java.util.List;
import java.util.Optional;

/** Rows of R left on an executor, each solve with them and each copy of them checked. */
final class CheckedRows implements ResidentFactor {

  private final KeptRows rows;
  private final FrontPlaces places;
  private final long bits;
  private final double bound;

  /**
   * Checks solves with some rows.
   *
   * @param places of the fronts in them
   * @param bits of the rows and right-hand sides, when the column sums of the same values were
   *     compared with those of the input
   */
  CheckedRows(KeptRows rows, FrontPlaces places, long bits) {
    this.rows = rows;
    this.places = places;
    this.bits = bits;
    this.bound = StageSolve.bound(rows.terms());
  }

  @Override
  public Optional<double[]> solve(double[] c, int width) {
    if (rows.outside() > 0) {
      throw new IllegalArgumentException("R'R x = c with a task that is not one of whole trees");
    }
    return checked(rows.solve(c, width));
  }

  @Override
  public Optional<double[]> forward(double[] c, int width) {
    return checked(rows.forward(c, width));
  }

  @Override
  public Optional<double[]> back(double[] given, int width) {
    return checked(rows.back(given, width));
  }

  @Override
  public Optional<double[]> solveStored(double[] outside) {
    return checked(rows.solveStored(outside));
  }

  private Optional<double[]> checked(Optional<KeptRows.Solved> found) {
    if (found.isEmpty()) {
      return Optional.empty();
    }
    if (found.get().bits() != bits) {
      throw new IntegrityFailure("R has changed where it was kept for later solves");
    }
    if (!(found.get().backwardError() <= bound)) {
      throw new IntegrityFailure(
          "a solve with R where it was kept has the backward error %.2e"
              .formatted(found.get().backwardError()));
    }
    return Optional.of(found.get().x());
  }

  @Override
  public Optional<List<FrontFactor>> fetch(RowMemory memory, int threads) {
    return places.fetch(rows, memory, threads, bits);
  }

  @Override
  public void claimed(Claim claim) {
    rows.claimed(claim);
  }

  @Override
  public long entries() {
    return places.entries();
  }

  @Override
  public long bytes() {
    return rows.bytes();
  }

  @Override
  public void close() {
    rows.close();
  }
}
