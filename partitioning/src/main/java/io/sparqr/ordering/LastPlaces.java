/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

/**
 * Where a vertex was last written in a list, to merge doubles: one array a thread that is never
 * cleared, whatever it is used for. A place counts only if it lies in the range being written and
 * holds that vertex.
 */
final class LastPlaces {
  private static final ThreadLocal<int[]> OF_THREAD = ThreadLocal.withInitial(() -> new int[64]);

  private LastPlaces() {}

  /** This thread's array, of n places at least, with anything in it. */
  static int[] atLeast(int n) {
    int[] places = OF_THREAD.get();
    if (places.length < n) {
      places = new int[n];
      OF_THREAD.set(places);
    }
    return places;
  }
}
