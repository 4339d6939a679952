/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.inference;

import io.sparqr.spark.model.SparseRow;
import java.util.ArrayList;
import java.util.List;

/** The number of vectors of n values on the driver at a time, and vectors with a single entry. */
final class Batches {

  /** Maximum number of vectors in a batch. */
  private static final int VECTORS = 64;

  /** Maximum number of vectors in a batch of which few values are wanted. */
  private static final int MANY = 1024;

  /** Maximum number of values in a batch, 64 MB. */
  private static final long VALUES = 8 << 20;

  private Batches() {}

  /** Vectors of n values in a batch: 64, or fewer to stay within 64 MB; at least 1. */
  static int width(int n) {
    return (int) Math.max(1, Math.min(VECTORS, VALUES / Math.max(1, n)));
  }

  /** Vectors in a batch of which some values are wanted: 1024, or fewer to stay within 32 MB. */
  static int block(int values) {
    return (int) Math.max(1, Math.min(MANY, VALUES / 2 / Math.max(1, values)));
  }

  /** Unit vectors of columns. */
  static List<SparseRow> units(int[] columns) {
    var list = new ArrayList<SparseRow>(columns.length);
    for (int j : columns) {
      list.add(new SparseRow(new int[] {j}, new double[] {1}, 0));
    }
    return list;
  }
}
