/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import io.sparqr.symbolic.TileBundles;
import io.sparqr.symbolic.TileModel;
import io.sparqr.symbolic.Tuning;

/**
 * Options of the schedule, chosen for a device. They are part of the plan: the same options give
 * the same lists and, on one device, the same bits.
 *
 * @param bundles largest number of row tiles in a bundle, by what a column tile is like; default 4
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
    TileBundles bundles,
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

  /** Rows and columns that one task assembles on a device. */
  private static final int DEVICE_PACK_ROWS = 8;

  private static final int DEVICE_PACK_COLUMNS = 1024;

  /** With bundles of one size, as {@link TileBundles#of}. */
  public SchedulerOptions(
      int bundle,
      boolean pipelining,
      int smallFrontDoubles,
      int smallFrontColumns,
      int applyTasks,
      int maxApplyTiles,
      int scatterEntries,
      int packRows,
      int packColumns) {
    this(
        TileBundles.of(bundle),
        pipelining,
        smallFrontDoubles,
        smallFrontColumns,
        applyTasks,
        maxApplyTiles,
        scatterEntries,
        packRows,
        packColumns);
  }

  /** Those of a tuning for a device. */
  public static SchedulerOptions of(Tuning tuning, int multiprocessors) {
    TileModel tiles = tuning.tiles();
    return new SchedulerOptions(
        tiles.bundles(),
        tuning.pipelining(),
        tiles.smallFrontDoubles(),
        tiles.smallFrontColumns(),
        tuning.applyTasks() * multiprocessors,
        tuning.applyTiles(),
        16384,
        DEVICE_PACK_ROWS,
        DEVICE_PACK_COLUMNS);
  }

  /** The defaults above. */
  public static SchedulerOptions defaults() {
    return new SchedulerOptions(4, true, 8192, 64, 264, 8, 16384, 32, 2048);
  }

  /** A copy with another bundle size. */
  public SchedulerOptions withBundle(int size) {
    return with(TileBundles.of(size));
  }

  /** A copy with other bundles. */
  public SchedulerOptions with(TileBundles others) {
    return new SchedulerOptions(
        others,
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
        bundles,
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
        bundles,
        pipelining,
        doubles,
        columns,
        applyTasks,
        maxApplyTiles,
        scatterEntries,
        packRows,
        packColumns);
  }

  /** The largest bundle anywhere, which chooses the kernel. */
  public int bundle() {
    return bundles.largest();
  }

  /** The part of these options that determines the flops done. */
  public TileModel tileModel() {
    return new TileModel(bundles, smallFrontDoubles, smallFrontColumns);
  }

  /**
   * {@link TileModel#bundle} of each column tile of a front.
   *
   * @param left ascending; leftmost column tile of each row tile
   * @return size pivotTiles
   */
  public int[] bundles(int[] left, int pivotTiles, int columnTiles) {
    TileModel model = tileModel();
    int[] largest = new int[pivotTiles];
    int entered = 0;
    for (int c = 0; c < pivotTiles; c++) {
      while (entered < left.length && Math.min(left[entered], entered) <= c) {
        entered++;
      }
      largest[c] = model.bundle(left.length, pivotTiles, columnTiles, c, entered);
    }
    return largest;
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
