/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import java.io.Serializable;

/**
 * The rules by which a device cuts fronts into tiles, on which its flops depend. The scheduler uses
 * them, so that {@link TileFlops} predicts its work.
 *
 * @param bundles largest number of row tiles in a bundle
 * @param smallFrontDoubles a front of at most this many entries (rows x padded columns) is not
 *     tiled
 * @param smallFrontColumns provided that it has at most this many columns, without right-hand sides
 */
public record TileModel(TileBundles bundles, int smallFrontDoubles, int smallFrontColumns)
    implements Serializable {

  /** Rows and columns of a tile. */
  public static final int TILE = 32;

  /** With this many tiles left to apply to, large bundles are worth their longer Factorize. */
  private static final long WORTH_TILES = 96 * 96;

  /** So many times as high as wide is tall, and so many pivot column tiles are narrow. */
  private static final int EXTREME = 8;

  /** Checks the ranges. */
  public TileModel {
    if (smallFrontDoubles < 0 || smallFrontColumns < 0) {
      throw new IllegalArgumentException("limits of small fronts must not be negative");
    }
  }

  /** With bundles of one size, as {@link TileBundles#of}. */
  public TileModel(int bundle, int smallFrontDoubles, int smallFrontColumns) {
    this(TileBundles.of(bundle), smallFrontDoubles, smallFrontColumns);
  }

  /** The defaults of a CUDA device: bundles of 8, small fronts of 64 KB and 64 columns. */
  public static TileModel device() {
    return new TileModel(8, 8192, 64);
  }

  /** A copy with other bundles. */
  public TileModel with(TileBundles others) {
    return new TileModel(others, smallFrontDoubles, smallFrontColumns);
  }

  /** A copy with other limits of small fronts. */
  public TileModel withSmallFronts(int doubles, int columns) {
    return new TileModel(bundles, doubles, columns);
  }

  /** Number of tiles for this many rows or columns. */
  public static long tiles(long count) {
    return (count + TILE - 1) / TILE;
  }

  /**
   * The largest bundle in a column tile of a front of this many row, pivot column and column tiles,
   * by the classes of {@link TileBundles}.
   *
   * @param entered row tiles whose leftmost column tile is at most {@code column}
   */
  public int bundle(long rowTiles, long pivotTiles, long columnTiles, int column, long entered) {
    if (rowTiles >= EXTREME * pivotTiles) {
      return bundles.tall();
    }
    if (pivotTiles <= EXTREME) {
      return bundles.narrow();
    }
    // Row tiles and column tiles are below 2^27.
    boolean much = (entered - column) * (columnTiles - column) >= WORTH_TILES;
    return much ? bundles.much() : bundles.others();
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
