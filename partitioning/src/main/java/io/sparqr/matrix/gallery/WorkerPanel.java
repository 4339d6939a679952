/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.matrix.gallery;

import io.sparqr.sparse.CsrMatrix;
import java.io.Serializable;
import java.util.Arrays;

/**
 * A panel of workers and firms, the design of two-way fixed effects (Abowd, Kramarz, Margolis
 * 1999): one row per worker and year, with a one in the column of the worker and a one in that of
 * the firm. A worker starts at a random firm; each later year he moves with probability {@value
 * #MOVERS} to one of the {@value #REACH} nearest firms on either side of a ring, his local labour
 * market. Its rank is the number of columns less one for every group of firms that no mover
 * connects.
 *
 * <p>A worker's rows depend on his number and the seed alone, so that any part of the matrix can be
 * generated where it is needed.
 *
 * @param workers columns 0 .. workers-1
 * @param firms columns workers .. workers+firms-1
 * @param years rows per worker
 * @param seed selects another panel of the same sizes
 */
public record WorkerPanel(int workers, int firms, int years, long seed) implements Serializable {

  /** The fraction of the workers who move in a year. */
  static final double MOVERS = 0.15;

  /** The farthest move, in firms. */
  static final int REACH = 16;

  private static final long WORKER = 0x9e3779b97f4a7c15L;

  /** The number of columns, n: workers and firms. */
  public int columns() {
    return Combinatorial.size((long) workers + firms, "columns");
  }

  /** The number of rows, m: a year of a worker each. */
  public long rows() {
    return (long) workers * years;
  }

  /**
   * The firms of a worker.
   *
   * @param firmOfYear size years: receives the firms, 0 .. firms-1
   */
  public void firms(int worker, int[] firmOfYear) {
    var random = new GalleryRandom(seed + (worker + 1) * WORKER);
    int firm = (int) (random.uniform() * firms);
    firmOfYear[0] = firm;
    for (int year = 1; year < years; year++) {
      if (random.uniform() < MOVERS) {
        int step = (int) (random.uniform() * 2 * REACH) - REACH;
        firm = Math.floorMod(firm + (step < 0 ? step : step + 1), firms);
      }
      firmOfYear[year] = firm;
    }
  }

  /** The whole matrix, by worker and year. O(m). */
  CsrMatrix matrix() {
    int m = Combinatorial.size(rows(), "rows");
    Combinatorial.size(2 * rows(), "entries");
    int n = columns();
    int[] start = new int[m + 1];
    int[] index = new int[2 * m];
    double[] value = new double[2 * m];
    Arrays.fill(value, 1);
    int[] firm = new int[years];
    for (int w = 0; w < workers; w++) {
      firms(w, firm);
      for (int year = 0; year < years; year++) {
        int row = w * years + year;
        index[2 * row] = w;
        index[2 * row + 1] = workers + firm[year];
        start[row + 1] = 2 * row + 2;
      }
    }
    return new CsrMatrix(m, n, start, index, value);
  }
}
