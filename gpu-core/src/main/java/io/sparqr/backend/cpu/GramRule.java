/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import io.sparqr.symbolic.GramTree;

/** Which fronts of a task are tried by the Gram matrix of their tree, where that is allowed. */
interface GramRule {

  /** Where reflectors cost several times as much. */
  GramRule DEFAULT = GramTree::isGram;

  /** Bytes of an array that a heap in use may not have in one piece. */
  long RESERVED = 256L << 20;

  /** Whether this front is tried. */
  boolean takes(GramTree tree, int index);

  /** Whether the square of a root takes so many bytes that it is made before all else. */
  default boolean reserves(long bytes) {
    return bytes >= RESERVED;
  }
}
