/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.rows;

import java.util.Arrays;

/** Sorts (int key, double value) pairs in two parallel arrays. */
public final class SortedPairs {

  private static final int INSERTION = 32;

  private SortedPairs() {}

  /** Sorts the first count pairs by key, ascending. The sort is stable. */
  public static void sort(int[] key, double[] value, int count) {
    if (count <= INSERTION) {
      for (int i = 1; i < count; i++) {
        int k = key[i];
        double v = value[i];
        int j = i - 1;
        for (; j >= 0 && key[j] > k; j--) {
          key[j + 1] = key[j];
          value[j + 1] = value[j];
        }
        key[j + 1] = k;
        value[j + 1] = v;
      }
      return;
    }
    long[] order = new long[count];
    for (int i = 0; i < count; i++) {
      order[i] = (long) key[i] << 32 | i;
    }
    Arrays.sort(order);
    double[] moved = new double[count];
    for (int i = 0; i < count; i++) {
      key[i] = (int) (order[i] >>> 32);
      moved[i] = value[(int) order[i]];
    }
    System.arraycopy(moved, 0, value, 0, count);
  }
}
