/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inverse;

import java.io.Serializable;

/**
 * A front of which a descent keeps (R'R)^-1, on some of its columns.
 *
 * @param front its number
 * @param columns positions, ascending
 */
public record KeptFront(int front, int[] columns) implements Serializable {

  /** Most values of a frame, 8 MB, unless a column has more. */
  private static final int VALUES = 1 << 20;

  /** Most columns of a frame. */
  private static final int STRIP = 128;

  /** Columns of a frame. */
  int strip() {
    return Math.max(1, Math.min(STRIP, VALUES / columns.length));
  }
}
