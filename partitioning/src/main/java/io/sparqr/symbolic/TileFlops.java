/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.threads.Parallel;
import java.util.Arrays;

/**
 * Flops executed by a device for a front cut into tiles, padding and zeros of the tiles included:
 * the pipelined bucket scheduler (Yeralan, Davis and Ranka, section 3.1) simulated on counts alone.
 *
 * <p>A bundle of b row tiles factorized in column tile c of C (right-hand sides included) does
 *
 * <pre>
 *   32^3 ( 3 b + (4 b + 2) (C - c - 1) )
 * </pre>
 *
 * flops: Factorize with T, and Apply to every column tile on the right. It leaves one row tile in c
 * and moves b - 1 to c + 1, so the cost of column c follows from the number of its bundles. That
 * number depends on when row tiles meet but not on their identity: a count of idle tiles per column
 * and a list of bundles in flight suffice. A small front is not tiled and takes dense Householder
 * steps on all rows below the pivot.
 *
 * <p>Exact at full rank for fronts of up to 2^23 tiles. For larger ones every bundle of a column is
 * assumed full, ceil((rows - 1) / (B - 1)) of them: a lower bound, at most 3% off at that size.
 *
 * <p>Cost: O(bundles + rounds x column tiles) per front.
 */
public final class TileFlops {

  /** Fronts of up to this many tiles (rows x pivot columns) are counted bundle by bundle. */
  static final long MOST_TILES = 1L << 23;

  /** Fronts that a thread counts at a time. */
  private static final int GRAIN = 256;

  private static final double CUBE = (double) TileModel.TILE * TileModel.TILE * TileModel.TILE;

  private final TileModel model;
  private final int rhs;

  // For the current front and each column tile: idle row tiles and those not yet annihilated.
  private long[] idle = new long[8];
  private long[] remaining = new long[8];

  /** Largest bundle of each column tile. */
  private int[] bundle = new int[8];

  // Bundles of the last round and of this one, in order of creation.
  private int[] column = new int[64];
  private int[] size = new int[64];
  private int[] nextColumn = new int[64];
  private int[] nextSize = new int[64];
  private int made;

  private int pivotTiles;
  private int columnTiles;
  private double units;

  private TileFlops(TileModel model, int rhs) {
    this.model = model;
    this.rhs = rhs;
  }

  /**
   * Flops of every front of an analysis at full rank, size nf. Costs about as much as the analysis'
   * staircases.
   *
   * @param rhs right-hand sides carried along
   */
  public static double[] of(SymbolicAnalysis analysis, TileModel model, int rhs) {
    return of(analysis, model, rhs, 0, analysis.fronts());
  }

  /**
   * As above with the tiles of a device without a tuning, by all processors; kept by the analysis,
   * because every solve of it reports a bound.
   *
   * @return not to be changed
   */
  public static double[] ofDevice(SymbolicAnalysis analysis, int rhs) {
    return ofDevice(analysis, rhs, TileModel.device());
  }

  /** As above with the tiles of a device. */
  public static double[] ofDevice(SymbolicAnalysis analysis, int rhs, TileModel model) {
    return analysis.tileFlops(
        rhs,
        model,
        sides -> {
          double[] flops = new double[analysis.fronts()];
          Parallel.loop(
              flops.length,
              GRAIN,
              Runtime.getRuntime().availableProcessors(),
              (from, to, thread) -> {
                double[] some = of(analysis, model, sides, from, to);
                System.arraycopy(some, 0, flops, from, some.length);
              });
          return flops;
        });
  }

  /** As above, of the fronts from .. to - 1. */
  public static double[] of(SymbolicAnalysis analysis, TileModel model, int rhs, int from, int to) {
    var count = new TileFlops(model, rhs);
    double[] flops = new double[to - from];
    for (int f = from; f < to; f++) {
      long fm = analysis.fm(f);
      int fn = analysis.fn(f);
      flops[f - from] =
          model.small(fm, fn, rhs)
              ? small(fm, fn, rhs)
              : count.tiled(Staircase.of(analysis, f), fm, fn);
    }
    return flops;
  }

  /**
   * Flops of one front.
   *
   * @param stair size fn; rows whose leftmost column is at most k
   * @param fm rows
   */
  public static double of(long[] stair, long fm, int fn, TileModel model, int rhs) {
    return model.small(fm, fn, rhs)
        ? small(fm, fn, rhs)
        : new TileFlops(model, rhs).tiled(stair, fm, fn);
  }

  /**
   * Flops of a small front: step k takes 3 (fm - k) for the reflector and 4 (fm - k) for each
   * further column.
   */
  public static double small(long fm, int fn, int rhs) {
    double flops = 0;
    for (long k = 0; k < Math.min(fm, fn); k++) {
      flops += (fm - k) * (3 + 4.0 * (fn + rhs - k - 1));
    }
    return flops;
  }

  private double tiled(long[] stair, long fm, int fn) {
    if (fm == 0) {
      return 0;
    }
    long rowTiles = TileModel.tiles(fm);
    pivotTiles = (int) Math.min(rowTiles, TileModel.tiles(fn));
    columnTiles = (int) TileModel.tiles((long) fn + rhs);
    units = 0;
    enter(stair, rowTiles, fn);
    if (FrontMemory.multiply(rowTiles, pivotTiles) > MOST_TILES) {
      fullBundles();
    } else {
      rounds();
    }
    return CUBE * units;
  }

  /** A row tile enters where its first row begins, but row tile i no later than column tile i. */
  private void enter(long[] stair, long rowTiles, int fn) {
    if (idle.length < pivotTiles) {
      idle = new long[2 * pivotTiles];
      remaining = new long[2 * pivotTiles];
      bundle = new int[2 * pivotTiles];
    }
    long before = 0;
    long passed = 0;
    for (int c = 0; c < pivotTiles; c++) {
      long begun = TileModel.tiles(stair[Math.min(fn, (c + 1) * TileModel.TILE) - 1]);
      long entered = Math.max(begun, Math.min(rowTiles, c + 1L));
      idle[c] = entered - before;
      bundle[c] = model.bundle(rowTiles, pivotTiles, columnTiles, c, entered);
      remaining[c] = passed + idle[c];
      passed = remaining[c] - 1;
      before = entered;
    }
  }

  private void fullBundles() {
    for (int c = 0; c < pivotTiles; c++) {
      long tiles = remaining[c];
      long bundles = Math.max(1, (tiles - 1 + bundle[c] - 2) / (bundle[c] - 1));
      add(c, tiles - 1 + bundles, bundles);
    }
  }

  /** Adds bundles with this many row tiles in total in column tile c. */
  private void add(int c, double tiles, double bundles) {
    units += 3 * tiles + (4 * tiles + 2 * bundles) * (columnTiles - c - 1);
  }

  /** Simulates the rounds; the sweep over the columns is that of the scheduler. */
  private void rounds() {
    int flying = 0;
    int lo = 0;
    do {
      made = 0;
      // The first row tiles of the last round's bundles are idle again, except for final ones.
      for (int k = 0; k < flying; k++) {
        int c = column[k] - 1;
        if (remaining[c] > 1) {
          idle[c]++;
        } else {
          remaining[c] = 0;
        }
      }
      while (lo < pivotTiles && remaining[lo] == 0) {
        lo++;
      }
      sweep(lo, flying);
      int[] swap = column;
      column = nextColumn;
      nextColumn = swap;
      swap = size;
      size = nextSize;
      nextSize = swap;
      flying = made;
    } while (flying > 0);
  }

  private void sweep(int lo, int flying) {
    int k = 0;
    for (int c = lo; c < pivotTiles; c++) {
      long back = 0;
      while (k < flying && column[k] <= c) {
        if (size[k] > 1) {
          back += advance(c, size[k] - 1);
        }
        k++;
      }
      while (idle[c] > 1 || idle[c] == 1 && remaining[c] == 1) {
        int b = (int) Math.min(bundle[c], idle[c]);
        idle[c] -= b;
        factorize(c, b);
      }
      // A row tile that advances alone is idle from the next round on.
      idle[c] += back;
    }
  }

  /** Moves the rest of a bundle on, enlarged by idle row tiles; returns how many stay idle. */
  private int advance(int c, int rest) {
    int b = (int) Math.max(rest, Math.min(bundle[c], rest + idle[c]));
    if (b > 1 || remaining[c] == 1) {
      idle[c] -= b - rest;
      factorize(c, b);
      return 0;
    }
    return 1;
  }

  private void factorize(int c, int b) {
    remaining[c] -= b - 1;
    add(c, b, 1);
    if (made == nextColumn.length) {
      nextColumn = Arrays.copyOf(nextColumn, 2 * made);
      nextSize = Arrays.copyOf(nextSize, 2 * made);
    }
    nextColumn[made] = c + 1;
    nextSize[made++] = b;
  }
}
