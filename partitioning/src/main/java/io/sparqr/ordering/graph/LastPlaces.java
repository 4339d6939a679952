/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.graph;

/**
 * The last place of each vertex in a list, used to merge duplicates: one array per thread, never
 * cleared. A place is valid only if it lies in the range being written and the list holds that
 * vertex there.
 */
final class LastPlaces {
  private static final ThreadLocal<int[]> OF_THREAD = ThreadLocal.withInitial(() -> new int[64]);

  private LastPlaces() {}

  /** This thread's array of at least n places, with arbitrary contents. */
  static int[] atLeast(int n) {
    int[] places = OF_THREAD.get();
    if (places.length < n) {
      places = new int[n];
      OF_THREAD.set(places);
    }
    return places;
  }
}
