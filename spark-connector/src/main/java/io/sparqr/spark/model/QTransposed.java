/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.model;

/**
 * Q'y for some vectors y of the rows: what belongs to the rows of R, and the norm of the rest.
 *
 * @param values by vector, each of size rank: entry i belongs to row i of R, in the order of {@code
 *     collectR()}
 * @param rest size vectors: the norm of the other m - rank components of Q'y, which is the distance
 *     of y from the column space of A
 */
public record QTransposed(double[][] values, double[] rest) {

  /** The size only, because there may be many values. */
  @Override
  public String toString() {
    return "QTransposed[%,d x %,d]"
        .formatted(values.length == 0 ? 0 : values[0].length, values.length);
  }
}
