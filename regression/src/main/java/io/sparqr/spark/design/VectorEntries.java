/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.design;

import org.jspecify.annotations.Nullable;

/** The entries of the last vector read; the next one overwrites the arrays. */
final class VectorEntries {

  private static final int[] NO_INDEX = {};

  private int size;
  private int count;
  private int @Nullable [] index = NO_INDEX;
  private double[] value = {};

  /** Sets the entries; dense without indices. Arrays are shared. */
  void set(int length, int @Nullable [] at, double[] values) {
    size = length;
    count = values.length;
    index = at;
    value = values;
  }

  int size() {
    return size;
  }

  int count() {
    return count;
  }

  int index(int k) {
    return index == null ? k : index[k];
  }

  double value(int k) {
    return value[k];
  }
}
