/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend;

/** How fronts may be factored. */
public enum FrontMethod {
  /** By reflectors, all of them. */
  HOUSEHOLDER,
  /**
   * A front whose rows are many and sparse by its Gram matrix, where that costs a fraction and the
   * result, measured against the rows, has a backward error of the size that reflectors leave; by
   * reflectors all the others. The report counts both. On CPUs; devices use reflectors.
   */
  AUTO
}
