/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import org.apache.spark.util.AccumulatorV2;

/**
 * What the checks of combined rows saw: the largest departure that was accepted, and how many
 * batches were sent as they were instead. A task that runs again counts again.
 */
public final class CombineChecks extends AccumulatorV2<Double, String> {

  private static final long serialVersionUID = 1;

  private double departure;
  private long redone;

  /** A batch was combined. */
  void accepted(double seen) {
    departure = Math.max(departure, seen);
  }

  /** A batch was not. */
  void sentAsTheyWere() {
    redone++;
  }

  public double departure() {
    return departure;
  }

  public long redone() {
    return redone;
  }

  @Override
  public boolean isZero() {
    return departure == 0 && redone == 0;
  }

  @Override
  public CombineChecks copy() {
    var other = new CombineChecks();
    other.merge(this);
    return other;
  }

  @Override
  public void reset() {
    departure = 0;
    redone = 0;
  }

  @Override
  public void add(Double seen) {
    accepted(seen);
  }

  @Override
  public void merge(AccumulatorV2<Double, String> other) {
    var o = (CombineChecks) other;
    departure = Math.max(departure, o.departure);
    redone += o.redone;
  }

  /** For Spark's pages. */
  @Override
  public String value() {
    return "departure %.1e, %d batch(es) not combined".formatted(departure, redone);
  }
}
