/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.lowrank;

import java.io.Serializable;

/**
 * Sums over entries that a partition finds beside its R, added in the order of the partitions. Not
 * a record, because Kryo cannot read records.
 */
public final class PursuitTally implements Serializable {

  private static final long serialVersionUID = 1;

  /** Of nothing. */
  public static final PursuitTally NONE = new PursuitTally(0, 0, 0, 0, 0, 0);

  /** Of (M - L - S) / ||M||_F, squared. */
  final double residual;

  /** Of what S has changed by, for the next iteration, squared. */
  final double change;

  /** Of S, not zero. */
  final long nonzeros;

  /** The largest absolute value, of M or Y. */
  final double maximum;

  /** Of absolute values, of M or S. */
  final double absolute;

  /** Of products of M and Y. */
  final double inner;

  /** Of an iteration. */
  public static PursuitTally of(double residual, double change, long nonzeros) {
    return new PursuitTally(residual, change, nonzeros, 0, 0, 0);
  }

  PursuitTally(
      double residual,
      double change,
      long nonzeros,
      double maximum,
      double absolute,
      double inner) {
    this.residual = residual;
    this.change = change;
    this.nonzeros = nonzeros;
    this.maximum = maximum;
    this.absolute = absolute;
    this.inner = inner;
  }

  /** Of both. */
  public PursuitTally plus(PursuitTally other) {
    return new PursuitTally(
        residual + other.residual,
        change + other.change,
        nonzeros + other.nonzeros,
        Math.max(maximum, other.maximum),
        absolute + other.absolute,
        inner + other.inner);
  }
}
