/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.cli;

import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.SymbolicAnalysis;

/**
 * What a symbolic analysis tells before any number is computed. O(fronts + entries).
 *
 * @param nnzR entries of R, singleton rows included, full rank assumed
 * @param depth fronts on the longest path from a leaf to a root
 * @param criticalFlops most work on a path from a leaf to a root
 * @param peakBytes most bytes of the front at work and the contribution blocks that wait, all in
 *     one task in postorder
 * @param largestFront number of the front with most entries, -1 if there is none
 * @param histogram fronts by number of columns
 */
record TreeStatistics(
    long nnzR,
    int depth,
    double criticalFlops,
    long peakBytes,
    int largestFront,
    Bucket[] histogram) {

  /**
   * Fronts of at most so many columns, and more than the bucket before has.
   *
   * @param columns upper bound of fn
   * @param fronts how many
   * @param flops their work
   */
  record Bucket(int columns, int fronts, double flops) {}

  private static final int[] BOUNDS = {8, 32, 128, 512, 2048, Integer.MAX_VALUE};

  static TreeStatistics of(SymbolicAnalysis s, SparsityPattern pattern) {
    int nf = s.fronts();
    long nnzR = singletonEntries(s, pattern);
    int[] depth = new int[nf];
    double[] path = new double[nf];
    int deepest = 0;
    double critical = 0;
    long stack = 0;
    long peak = 0;
    int largest = -1;
    double most = -1;
    int[] fronts = new int[BOUNDS.length];
    double[] flops = new double[BOUNDS.length];
    for (int f = 0; f < nf; f++) {
      long held = Math.min(s.fm(f), s.fp(f));
      nnzR += held * s.fn(f) - held * (held - 1) / 2;
      depth[f]++;
      path[f] += s.frontFlops(f);
      deepest = Math.max(deepest, depth[f]);
      critical = Math.max(critical, path[f]);
      int p = s.parent(f);
      if (p >= 0) {
        depth[p] = Math.max(depth[p], depth[f]);
        path[p] = Math.max(path[p], path[f]);
      }
      double entries = (double) s.fm(f) * s.fn(f);
      if (entries > most) {
        most = entries;
        largest = f;
      }
      peak = Math.max(peak, stack + 8 * s.fm(f) * s.fn(f));
      for (int k = 0; k < s.childCount(f); k++) {
        stack -= blockBytes(s, s.child(f, k));
      }
      stack += p >= 0 ? blockBytes(s, f) : 0;
      int bucket = 0;
      while (s.fn(f) > BOUNDS[bucket]) {
        bucket++;
      }
      fronts[bucket]++;
      flops[bucket] += s.frontFlops(f);
    }
    Bucket[] histogram = new Bucket[BOUNDS.length];
    for (int k = 0; k < BOUNDS.length; k++) {
      histogram[k] = new Bucket(BOUNDS[k], fronts[k], flops[k]);
    }
    return new TreeStatistics(nnzR, deepest, critical, peak, largest, histogram);
  }

  private static long blockBytes(SymbolicAnalysis s, int f) {
    return 8 * s.cm(f) * s.cn(f);
  }

  /** Entries of the rows whose least position is a singleton's. */
  private static long singletonEntries(SymbolicAnalysis s, SparsityPattern pattern) {
    if (s.singletons() == 0) {
      return 0;
    }
    long entries = 0;
    for (int r = 0; r < pattern.patterns(); r++) {
      int least = Integer.MAX_VALUE;
      for (long k = pattern.rowStart()[r]; k < pattern.rowStart()[r + 1]; k++) {
        least = Math.min(least, s.permutation().position(pattern.columnIndex()[(int) k]));
      }
      if (least < s.singletons()) {
        entries += pattern.rowStart()[r + 1] - pattern.rowStart()[r];
      }
    }
    return entries;
  }
}
