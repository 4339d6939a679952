/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

/**
 * The rules by which a device cuts fronts into tiles, on which its flops depend. The scheduler uses
 * them, so that {@link TileFlops} predicts its work.
 *
 * @param bundle largest number of row tiles in a bundle, 2 .. 8
 * @param smallFrontDoubles a front of at most this many entries (rows x padded columns) is not
 *     tiled
 * @param smallFrontColumns provided that it has at most this many columns, without right-hand sides
 */
public record TileModel(int bundle, int smallFrontDoubles, int smallFrontColumns) {

  /** Rows and columns of a tile. */
  public static final int TILE = 32;

  /** With this many tiles left to apply to, large bundles are worth their longer Factorize. */
  private static final long WORTH_TILES = 96 * 96;

  /** Checks the ranges. */
  public TileModel {
    if (bundle < 2 || smallFrontDoubles < 0 || smallFrontColumns < 0) {
      throw new IllegalArgumentException("tile model out of range");
    }
  }

  /** The defaults of a CUDA device: bundles of 8, small fronts of 64 KB and 64 columns. */
  public static TileModel device() {
    return new TileModel(8, 8192, 64);
  }

  /** Number of tiles for this many rows or columns. */
  public static long tiles(long count) {
    return (count + TILE - 1) / TILE;
  }

  /**
   * The largest bundle in a column tile of a front of this many row, pivot column and column tiles.
   * Large bundles save rounds on tall fronts, flops where many tiles remain to apply to, and tasks
   * on small fronts; elsewhere the time of a task on the critical chain counts, and bundles of 4
   * are faster (measured on an H200).
   *
   * @param entered row tiles whose leftmost column tile is at most {@code column}
   */
  public int bundle(long rowTiles, long pivotTiles, long columnTiles, int column, long entered) {
    boolean everywhere = pivotTiles <= 8 || rowTiles >= 8 * pivotTiles;
    // Row tiles and column tiles are below 2^27.
    boolean much = (entered - column) * (columnTiles - column) >= WORTH_TILES;
    return everywhere || much ? bundle : Math.min(bundle, 4);
  }

  /** Whether a front of fm x (fn + rhs) is a small one. */
  public boolean small(long fm, int fn, int rhs) {
    return fn <= smallFrontColumns
        && FrontMemory.multiply(fm, smallLd(fn, rhs)) <= smallFrontDoubles;
  }

  /** Leading dimension of a small front: columns padded to a multiple of 4. */
  public static int smallLd(int fn, int rhs) {
    return (fn + rhs + 3) & ~3;
  }
}
