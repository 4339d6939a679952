/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

/**
 * Which fronts are tried by their Gram matrix, where that is allowed.
 *
 * @param columns at least so many
 * @param gain reflectors cost at least so many times as much
 */
record GramRule(int columns, double gain) {

  /**
   * Smaller fronts are over before a measurement pays; a smaller gain is lost if one is refused.
   */
  static final GramRule DEFAULT = new GramRule(96, 4);
}
