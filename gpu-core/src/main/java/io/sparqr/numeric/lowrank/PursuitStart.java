/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.numeric.lowrank;

import java.io.Serializable;

/** What blocks need for their first S and Y. Not a record, because Kryo cannot read records. */
public final class PursuitStart implements Serializable {

  private static final long serialVersionUID = 1;

  final PursuitMethod method;

  /** A power of two: all but M itself is of this times M, whose norm is from 1 to 2 then. */
  final double scale;

  /** 1 / ||scale M||_F. */
  final double unit;

  final double lambda;

  /** Of the first iteration. */
  final double mu;

  /** Y is this times M scaled. */
  final double multiplier;

  PursuitStart(
      PursuitMethod method,
      double scale,
      double unit,
      double lambda,
      double mu,
      double multiplier) {
    this.method = method;
    this.scale = scale;
    this.unit = unit;
    this.lambda = lambda;
    this.mu = mu;
    this.multiplier = multiplier;
  }

  /** How it is done. */
  public PursuitMethod method() {
    return method;
  }

  /** A power of two: all but M itself is of this times M. */
  public double scale() {
    return scale;
  }

  /** 1 / ||scale M||_F. */
  public double unit() {
    return unit;
  }

  /** The weight of the sparse part. */
  public double lambda() {
    return lambda;
  }

  /** The penalty of the first iteration. */
  public double mu() {
    return mu;
  }

  /** Y is this times M scaled, for inexact Lagrangians. */
  public double multiplier() {
    return multiplier;
  }
}
