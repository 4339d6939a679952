/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import io.sparqr.backend.cuda.resident.MatrixSums.Sums;
import io.sparqr.backend.cuda.resident.TallGram;
import io.sparqr.backend.cuda.resident.TallGram.Measure;
import io.sparqr.backend.cuda.resident.TallGram.Preconditioner;
import io.sparqr.error.InsufficientMemoryException;
import org.jspecify.annotations.Nullable;

/**
 * R of a dense front whose Q is not wanted by {@link TallGram}, if that is measured to be as good
 * as by the front's lists, by which it is made otherwise.
 */
final class TallFactor implements AutoCloseable {

  /** So many rows a column make it pay. */
  private static final int ROWS_A_COLUMN = 16;

  /**
   * So many rows times squares of columns: below it nine launches take longer than the rounds (an
   * H200, benchmarks/history/2026-11-30-h200-tall-gram.txt).
   */
  private static final double LEAST_WORK = 5e7;

  /** Squares of columns in this range have products of pivots that neither overflow nor vanish. */
  private static final double LEAST_SQUARE = 0x1p-240;

  private static final double MOST_SQUARE = 0x1p240;

  private final DenseFront front;
  private @Nullable TallGram gram;
  private double refusedMillis;
  private boolean accepted;
  private String refused = "";
  private double leastWork = LEAST_WORK;

  TallFactor(DenseFront front) {
    this.front = front;
  }

  /** From now on matrices for which it does not pay, too. */
  void takeSmallToo() {
    leastWork = 0;
  }

  /** Whether matrices of this shape can be factored so. */
  static boolean takes(DeviceLane lane, int rows, int columns) {
    return columns <= TallGram.MOST_COLUMNS
        && rows / columns >= ROWS_A_COLUMN
        && TallGram.runsOn(lane.device());
  }

  /** Milliseconds of runs that were refused since the last matrix. */
  double refusedMillis() {
    return refusedMillis;
  }

  /** Whether the last R was taken. */
  boolean isAccepted() {
    return accepted;
  }

  /** Why the last R was not taken; empty if it was, or was not tried because it does not pay. */
  String refused() {
    return refused;
  }

  /**
   * R of the rows that are there, n x n, row-major; null if it is to be made by lists.
   *
   * @param sent their sums
   */
  double @Nullable [] factor(Sums sent) {
    refusedMillis = 0;
    accepted = false;
    refused = "";
    double columns = front.columns();
    if (front.rows() * columns * columns < leastWork) {
      return null;
    }
    double[] r = null;
    if (isInRange(sent)) {
      r = tried(sent);
    } else {
      refused = "norms of columns are far apart, or one is zero";
    }
    accepted = r != null;
    return r;
  }

  private static boolean isInRange(Sums sent) {
    for (double square : sent.sums().square()) {
      if (!(square >= LEAST_SQUARE && square <= MOST_SQUARE)) {
        return false;
      }
    }
    return true;
  }

  private double @Nullable [] tried(Sums sent) {
    TallGram its;
    try {
      its = gram();
    } catch (InsufficientMemoryException e) {
      refused = "no memory for its parts";
      return null;
    }
    Measure measure = run(its, Preconditioner.SAMPLE);
    if (!measure.isAccepted() && !measure.grown() && its.samples()) {
      // the sample is not like the rest
      measure = run(its, Preconditioner.ALL);
    }
    if (!measure.isAccepted()) {
      refused = measure.grown() ? "rounding errors would grow" : "columns are nearly dependent";
      return null;
    }
    double[] r = front.collect();
    if (!front.hasSums(r, sent)) {
      refused = "R has not the sums of the matrix";
      return null;
    }
    return r;
  }

  private Measure run(TallGram its, Preconditioner from) {
    front.timed(
        () ->
            its.enqueue(
                from, front.arena().address(), front.descriptor().ld(), front.packedR().address()));
    Measure measure = its.measure();
    if (!measure.isAccepted()) {
      refusedMillis += front.kernelMillis();
    }
    return measure;
  }

  private TallGram gram() {
    TallGram known = gram;
    if (known == null) {
      DeviceLane lane = front.lane();
      known =
          new TallGram(
              lane.device(),
              lane.session().pinned(),
              lane.compute(),
              front.rows(),
              front.columns());
      gram = known;
    }
    return known;
  }

  @Override
  public void close() {
    if (gram != null) {
      gram.close();
    }
  }
}
