/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign.regression;

/**
 * A number that an answer should have.
 *
 * @param value NaN: not a number, or nothing, is right
 * @param tolerance how far from it an answer may be
 * @param other another right value; NaN if there is none
 * @param orNothing whether NaN or nothing is right, too
 */
record Figure(double value, double tolerance, double other, boolean orNothing) {

  /** Anything will do. */
  static final Figure ANY = new Figure(Double.NaN, Double.POSITIVE_INFINITY, Double.NaN, true);

  /** Only NaN or nothing. */
  static final Figure NOTHING = new Figure(Double.NaN, 0, Double.NaN, true);

  static Figure of(double value, double tolerance) {
    return new Figure(value, tolerance, Double.NaN, Double.isNaN(value));
  }

  static Figure exactly(double value) {
    return of(value, 0);
  }

  Figure or(double another) {
    return new Figure(value, tolerance, another, orNothing);
  }

  Figure orNaN() {
    return new Figure(value, tolerance, other, true);
  }

  /** With four digits. */
  Figure rounded() {
    return any() ? this : new Figure(value, tolerance + 6e-4 * Math.abs(value), other, orNothing);
  }

  boolean any() {
    return tolerance == Double.POSITIVE_INFINITY;
  }

  /** Whether a number, NaN for nothing, is right. */
  boolean allows(double found) {
    if (any()) {
      return true;
    }
    if (Double.isNaN(found)) {
      return orNothing;
    }
    return Math.abs(found - value) <= tolerance || Math.abs(found - other) <= tolerance;
  }

  @Override
  public String toString() {
    String also = Double.isNaN(other) ? "" : " or " + other;
    String none = orNothing && !Double.isNaN(value) ? " or nothing" : "";
    return value + also + none + " (+- %.1e)".formatted(tolerance);
  }
}
