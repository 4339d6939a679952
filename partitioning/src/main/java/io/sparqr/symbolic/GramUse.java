/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import java.io.Serializable;

/**
 * Trees of fronts that a backend may factor by their Gram matrix ({@link GramTree}).
 *
 * @param bytes that a tree may take; 0: there are none
 * @param leastFlops of all fronts by reflectors; a factorization of fewer is by reflectors: it is
 *     over soon, and a tree that is refused takes half as long again
 */
public record GramUse(long bytes, double leastFlops) implements Serializable {

  /** None. */
  public static final GramUse NONE = new GramUse(0, 0);

  /** Whether there may be some in a factorization of so many flops by reflectors. */
  boolean pays(double flops) {
    return bytes > 0 && flops >= leastFlops;
  }
}
