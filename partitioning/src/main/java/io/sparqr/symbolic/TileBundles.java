/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import java.io.Serializable;

/**
 * The largest number of row tiles in a bundle, by what a column tile of a front is like. One kernel
 * runs all bundles of a launch, so that they may differ within a front.
 *
 * @param tall of fronts that are at least eight times as high as wide: large ones save rounds
 * @param narrow of fronts of up to eight pivot column tiles: large ones save tasks
 * @param much where many tiles are left to apply to: large ones save flops
 * @param others elsewhere: the time of a task on the critical chain decides
 */
public record TileBundles(int tall, int narrow, int much, int others) implements Serializable {

  /** Smallest bundle: one row tile has nothing to be annihilated with. */
  public static final int LEAST = 2;

  /** Largest bundle that the kernels have room for. */
  public static final int MOST = 8;

  /** What a bundle has at most where the time of a task decides, unless it is tuned. */
  private static final int SHORT = 4;

  /** Checks the ranges. */
  public TileBundles {
    require(tall);
    require(narrow);
    require(much);
    require(others);
  }

  private static void require(int bundle) {
    if (bundle < LEAST || bundle > MOST) {
      throw new IllegalArgumentException(
          "bundle size %d is not in %d .. %d".formatted(bundle, LEAST, MOST));
    }
  }

  /**
   * Of one size, but of at most 4 row tiles where the time of a task decides (measured on an H200).
   */
  public static TileBundles of(int size) {
    return new TileBundles(size, size, size, Math.min(size, SHORT));
  }

  /** The largest of them, which chooses the kernel. */
  public int largest() {
    return Math.max(Math.max(tall, narrow), Math.max(much, others));
  }
}
