/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import java.io.Serializable;

/**
 * How a device's work is cut, as far as measurements on the device at hand can tell better than
 * {@link #constants}. The bits of R depend on it, so that a plan has it and tasks take it from
 * there.
 *
 * @param tiles bundles and the limits of small fronts
 * @param pipelining whether a task that applies a bundle factorizes what is left of it at once
 * @param applyTasks Apply tasks of a round for each multiprocessor, 1 .. 64
 * @param applyTiles most column tiles of one Apply task, 1 .. 64
 * @param chunkDoubles doubles of the rows that go under the triangle of a tall matrix at a time,
 *     the arity of its tree on a device, 2^16 .. 2^27
 */
public record Tuning(
    TileModel tiles, boolean pipelining, int applyTasks, int applyTiles, int chunkDoubles)
    implements Serializable {

  /** Of Apply's two numbers. */
  private static final int MOST_APPLY = 64;

  /** Columns of a small front at most, for which a kernel has room. */
  public static final int MOST_SMALL_COLUMNS = 256;

  /** Beyond that a front is no small one for any block of threads: 512 KB. */
  public static final int MOST_SMALL_DOUBLES = 1 << 16;

  private static final int LEAST_CHUNK = 1 << 16;

  private static final int MOST_CHUNK = 1 << 27;

  /** Checks the ranges. */
  public Tuning {
    require("Apply tasks", applyTasks, 1, MOST_APPLY);
    require("Apply tiles", applyTiles, 1, MOST_APPLY);
    require("columns of small fronts", tiles.smallFrontColumns(), 0, MOST_SMALL_COLUMNS);
    require("entries of small fronts", tiles.smallFrontDoubles(), 0, MOST_SMALL_DOUBLES);
    require("doubles of a chunk", chunkDoubles, LEAST_CHUNK, MOST_CHUNK);
  }

  private static void require(String what, int value, int least, int most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "%s: %d is not in %d .. %d".formatted(what, value, least, most));
    }
  }

  /** What is used without a tuning: found on an H100 and an H200. */
  public static Tuning constants() {
    return new Tuning(TileModel.device(), true, 4, 8, 1 << 22);
  }

  /** A copy with other bundles. */
  public Tuning with(TileBundles bundles) {
    return new Tuning(tiles.with(bundles), pipelining, applyTasks, applyTiles, chunkDoubles);
  }

  /** A copy with other limits of small fronts. */
  public Tuning withSmallFronts(int doubles, int columns) {
    TileModel model = tiles.withSmallFronts(doubles, columns);
    return new Tuning(model, pipelining, applyTasks, applyTiles, chunkDoubles);
  }

  /** A copy with or without pipelining. */
  public Tuning withPipelining(boolean on) {
    return new Tuning(tiles, on, applyTasks, applyTiles, chunkDoubles);
  }

  /** A copy with another number and width of Apply tasks. */
  public Tuning withApply(int tasks, int width) {
    return new Tuning(tiles, pipelining, tasks, width, chunkDoubles);
  }

  /** A copy with other chunks of tall matrices. */
  public Tuning withChunk(int doubles) {
    return new Tuning(tiles, pipelining, applyTasks, applyTiles, doubles);
  }
}
