/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import io.sparqr.symbolic.SymbolicAnalysis;

/** Cuts an assembly tree into subtree tasks. */
public final class TreePartitioner {

  private TreePartitioner() {}

  /** Cuts the tree for the resources. */
  public static TreePartition partition(
      SymbolicAnalysis analysis, ResourceModel resources, PartitionOptions options) {
    throw new UnsupportedOperationException("in the making");
  }
}
