/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.sparse.SparsityPattern;

/** Pattern in, {@link SymbolicAnalysis} out: singletons, order, tree, counts, fronts. */
public final class SymbolicAnalyzer {

  private SymbolicAnalyzer() {}

  /** Analyzes a pattern. Near-linear in its entries, the ordering aside. */
  public static SymbolicAnalysis analyze(SparsityPattern pattern, SymbolicOptions options) {
    throw new UnsupportedOperationException("in the making");
  }
}
