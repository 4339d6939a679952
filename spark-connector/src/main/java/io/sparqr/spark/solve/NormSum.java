/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.solve;

/**
 * The 2-norm of values that come one after the other, without overflow or harmful underflow: plain
 * squares in the middle of the range, {@link Math#hypot}, which takes ten times as long, outside of
 * it. Not thread-safe.
 */
public final class NormSum {

  /** Squares in [LEAST, MOST] are exact to rounding, and 2^60 of them can be summed. */
  private static final double LEAST = 0x1p-900;

  private static final double MOST = 0x1p900;

  private double squares;
  private double others;

  /** Adds a value. */
  public void add(double v) {
    double s = v * v;
    if (s >= LEAST && s <= MOST) {
      squares += s;
    } else if (v != 0) {
      others = Math.hypot(others, v);
    }
  }

  /** The norm of the values so far. */
  public double norm() {
    double middle = Math.sqrt(squares);
    return others == 0 ? middle : Math.hypot(middle, others);
  }
}
