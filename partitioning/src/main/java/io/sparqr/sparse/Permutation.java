/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.sparse;

import java.io.Serializable;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * A permutation of 0..n-1 as the column order P of AP: position k of the new order holds the
 * original index {@code original(k)}; {@code position(j)} is the inverse.
 */
public final class Permutation implements Serializable {

  private static final long serialVersionUID = 1;

  private final int[] original;

  /** Computed on first use: the driver of a cluster saves its 4 bytes per column. */
  @SuppressWarnings("serial")
  private transient volatile int @Nullable [] position;

  /**
   * Takes an order; the array is copied. O(n).
   *
   * @param original size n; original[k] is the original index at position k
   * @throws IllegalArgumentException if it is not a permutation
   */
  public Permutation(int[] original) {
    this.original = original.clone();
    var seen = new BitSet(original.length);
    for (int k = 0; k < original.length; k++) {
      int j = original[k];
      if (j < 0 || j >= original.length || seen.get(j)) {
        throw new IllegalArgumentException(
            "not a permutation of 0.." + (original.length - 1) + ": entry " + j + " at " + k);
      }
      seen.set(j);
    }
  }

  /** The identity of size n. */
  public static Permutation identity(int n) {
    int[] order = new int[n];
    for (int k = 0; k < n; k++) {
      order[k] = k;
    }
    return new Permutation(order);
  }

  /** The number of elements, n. */
  public int size() {
    return original.length;
  }

  /** Original index at a position of the new order. */
  public int original(int position) {
    return original[position];
  }

  /** Position in the new order of an original index. The first call is O(n); thread-safe. */
  public int position(int original) {
    int[] p = position;
    if (p == null) {
      synchronized (this) {
        p = position == null ? invert() : position;
        position = p;
      }
    }
    return p[original];
  }

  private int[] invert() {
    int[] inverse = new int[original.length];
    for (int k = 0; k < original.length; k++) {
      inverse[original[k]] = k;
    }
    return inverse;
  }

  /** A copy of the order: entry k is the original index at position k. */
  public int[] toArray() {
    return original.clone();
  }

  /** A copy of the inverse: entry j is the position of original index j. */
  public int[] inverseArray() {
    return invert();
  }
}
