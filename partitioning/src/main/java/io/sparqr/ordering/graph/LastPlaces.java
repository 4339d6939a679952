/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.graph;

import io.sparqr.jvm.JvmPart;

/**
 * The last place of each vertex in a list, used to merge duplicates: one array per thread, never
 * cleared. A place is valid only if it lies in the range being written and the list holds that
 * vertex there.
 */
final class LastPlaces {
  private static final JvmPart<ThreadLocal<int[]>> PLACES =
      JvmPart.of("last places", () -> ThreadLocal.withInitial(() -> new int[64]));

  private LastPlaces() {}

  /** This thread's array of at least n places, with arbitrary contents. */
  static int[] atLeast(int n) {
    ThreadLocal<int[]> ofThread = PLACES.get();
    int[] places = ofThread.get();
    if (places.length < n) {
      places = new int[n];
      ofThread.set(places);
    }
    return places;
  }
}
