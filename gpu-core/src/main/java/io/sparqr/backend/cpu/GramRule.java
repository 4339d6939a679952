/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.symbolic.GramWork;

/**
 * Which fronts are tried by their Gram matrix, where that is allowed.
 *
 * @param columns at least so many
 * @param gain reflectors cost at least so many times as much
 */
record GramRule(int columns, double gain) {

  /** As the analysis supposes. */
  static final GramRule DEFAULT = new GramRule(GramWork.LEAST_COLUMNS, GramWork.GAIN);
}
