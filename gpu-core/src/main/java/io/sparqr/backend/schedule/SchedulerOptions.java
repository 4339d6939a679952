/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import io.sparqr.symbolic.TileModel;

/**
 * Options of the schedule, chosen for a device. They are part of the plan: the same options give
 * the same lists and, on one device, the same bits.
 *
 * @param bundle largest number of row tiles in a bundle, 2 .. 8; default 4
 * @param pipelining Apply/Factorize tasks and bundle growth (SQR section 3.1); default true
 * @param smallFrontDoubles one thread block factors a whole front of at most this many entries
 *     (rows x padded columns); 0: none; default 8192 (64 KB)
 * @param smallFrontColumns and of at most this many columns, without right-hand sides; default 64
 * @param applyTasks number of Apply tasks per round that keeps the device busy; default 264
 * @param maxApplyTiles most column tiles of one Apply task; default 8
 * @param scatterEntries most S entries of one AssembleS task; default 16384
 * @param packRows most contribution rows of one PackAssemble or AssembleBlock task; default 32
 * @param packColumns most columns of one PackAssemble or AssembleBlock task; default 2048
 */
public record SchedulerOptions(
    int bundle,
    boolean pipelining,
    int smallFrontDoubles,
    int smallFrontColumns,
    int applyTasks,
    int maxApplyTiles,
    int scatterEntries,
    int packRows,
    int packColumns) {

  /** Checks the ranges. */
  public SchedulerOptions {
    if (bundle < 2 || bundle > TaskLayout.MAX_BUNDLE) {
      throw new IllegalArgumentException("bundle size " + bundle + " is not in 2 .. 8");
    }
    if (smallFrontDoubles < 0 || smallFrontColumns < 0) {
      throw new IllegalArgumentException("limits of small fronts must not be negative");
    }
    if (smallFrontColumns > TaskLayout.MAX_SMALL_COLUMNS) {
      throw new IllegalArgumentException(
          "small fronts of %d columns; at most %d"
              .formatted(smallFrontColumns, TaskLayout.MAX_SMALL_COLUMNS));
    }
    if (applyTasks < 1 || maxApplyTiles < 1 || scatterEntries < 1) {
      throw new IllegalArgumentException("task sizes must be positive");
    }
    if (packRows < 1 || packColumns < 1) {
      throw new IllegalArgumentException("task sizes must be positive");
    }
  }

  /** The defaults above. */
  public static SchedulerOptions defaults() {
    return new SchedulerOptions(4, true, 8192, 64, 264, 8, 16384, 32, 2048);
  }

  /** A copy with another bundle size. */
  public SchedulerOptions withBundle(int size) {
    return new SchedulerOptions(
        size,
        pipelining,
        smallFrontDoubles,
        smallFrontColumns,
        applyTasks,
        maxApplyTiles,
        scatterEntries,
        packRows,
        packColumns);
  }

  /** A copy with or without pipelining. */
  public SchedulerOptions withPipelining(boolean on) {
    return new SchedulerOptions(
        bundle,
        on,
        smallFrontDoubles,
        smallFrontColumns,
        applyTasks,
        maxApplyTiles,
        scatterEntries,
        packRows,
        packColumns);
  }

  /** A copy with other limits of small fronts; 0, 0: every front is tiled. */
  public SchedulerOptions withSmallFronts(int doubles, int columns) {
    return new SchedulerOptions(
        bundle,
        pipelining,
        doubles,
        columns,
        applyTasks,
        maxApplyTiles,
        scatterEntries,
        packRows,
        packColumns);
  }

  /** The part of these options that determines the flops done. */
  public TileModel tileModel() {
    return new TileModel(bundle, smallFrontDoubles, smallFrontColumns);
  }

  /**
   * {@link TileModel#bundle} of each column tile of a front.
   *
   * @param left ascending; leftmost column tile of each row tile
   * @return size pivotTiles
   */
  public int[] bundles(int[] left, int pivotTiles, int columnTiles) {
    TileModel model = tileModel();
    int[] bundles = new int[pivotTiles];
    int entered = 0;
    for (int c = 0; c < pivotTiles; c++) {
      while (entered < left.length && Math.min(left[entered], entered) <= c) {
        entered++;
      }
      bundles[c] = model.bundle(left.length, pivotTiles, columnTiles, c, entered);
    }
    return bundles;
  }

  /** Whether a front of fm x (fn + rhs) is a small one. */
  public boolean small(int fm, int fn, int rhs) {
    return tileModel().small(fm, fn, rhs);
  }

  /** Leading dimension of a small front: columns padded to a multiple of 4. */
  public static int smallLd(int fn, int rhs) {
    return TileModel.smallLd(fn, rhs);
  }
}
