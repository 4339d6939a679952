/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend;

/** How fronts may be factored. */
public enum FrontMethod {
  /**
   * Trees of fronts of which reflectors take several times as long by their Gram matrix, where the
   * result, measured against the rows, has a backward error of the size that reflectors leave; by
   * reflectors all the others. The report counts both. On CPUs; devices use reflectors.
   */
  AUTO,
  /** By reflectors, all of them. */
  HOUSEHOLDER
}
