/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.dissection;

/**
 * A small fast generator (Marsaglia 2003, xorshift64*) for the tie-breaking of the dissection.
 * Seeds come from a subgraph's place in the recursion, so that the order does not depend on
 * threads.
 */
final class DissectionRandom {
  private long state;

  DissectionRandom(long seed) {
    state = mix(seed);
    if (state == 0) {
      state = 0x9E3779B97F4A7C15L;
    }
  }

  /**
   * The seed of child number {@code index} of a node with the given seed (SplitMix64's finalizer).
   */
  static long mix(long seed, int index) {
    return mix(seed + (index + 1) * 0x9E3779B97F4A7C15L);
  }

  private static long mix(long z) {
    long y = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    y = (y ^ (y >>> 27)) * 0x94D049BB133111EBL;
    return y ^ (y >>> 31);
  }

  /** Uniform in [0, bound), bound positive. */
  int next(int bound) {
    return (int) (((nextLong() >>> 32) * bound) >>> 32);
  }

  /** 64 random bits, also used as a seed. */
  long nextLong() {
    state ^= state >>> 12;
    state ^= state << 25;
    state ^= state >>> 27;
    return state * 0x2545F4914F6CDD1DL;
  }

  /** Fills order[from .. from + n) with a random permutation of 0..n-1. */
  void permutation(int[] order, int from, int n) {
    for (int k = 0; k < n; k++) {
      int j = next(k + 1);
      order[from + k] = order[from + j];
      order[from + j] = k;
    }
  }
}
