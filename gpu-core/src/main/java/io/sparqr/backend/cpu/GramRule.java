/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.symbolic.GramTree;

/** Which fronts of a task are tried by the Gram matrix of their tree, where that is allowed. */
interface GramRule {

  /** Where reflectors cost several times as much. */
  GramRule DEFAULT = GramTree::isGram;

  /** Whether this front is tried. */
  boolean takes(GramTree tree, int index);
}
