/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.integrity;

/**
 * A result that is not an orthogonal transformation of its input, or data that changed in memory.
 * Internal: the runner of tasks repeats them, and a permanent failure is a {@link
 * io.sparqr.error.NumericalIntegrityException}.
 */
public final class IntegrityFailure extends RuntimeException {

  private static final long serialVersionUID = 1;

  private final int position;
  private final double departure;
  private final double bound;

  /**
   * A failed comparison.
   *
   * @param what the compared quantity, as a noun
   * @param position of the column in the analysis; -1 - q for right-hand side q
   * @param departure relative; NaN where something was not finite
   * @param bound the bound exceeded
   */
  public IntegrityFailure(String what, int position, double departure, double bound) {
    super(
        "%s of %s departs by %.2e, %.2e is allowed"
            .formatted(
                what,
                position >= 0 ? "position " + position : "right-hand side " + (-1 - position),
                departure,
                bound));
    this.position = position;
    this.departure = departure;
    this.bound = bound;
  }

  /** Values that have changed; the column is unknown. */
  public IntegrityFailure(String what) {
    super(what);
    position = -1;
    departure = Double.NaN;
    bound = 0;
  }

  /**
   * A task that no executor knows.
   *
   * @param place in the stage's list, from 0
   * @param kind the number of its kind
   */
  public static IntegrityFailure ofTask(long place, int kind) {
    return new IntegrityFailure(
        "task %d of a stage's list is of kind %d, which does not exist".formatted(place, kind));
  }

  /** Position of the column in the analysis; -1 - q for right-hand side q. */
  public int position() {
    return position;
  }

  /** Relative departure; NaN where something was not finite. */
  public double departure() {
    return departure;
  }

  /** The bound exceeded. */
  public double bound() {
    return bound;
  }
}
