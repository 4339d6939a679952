/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

/**
 * A copy of values between two devices, which one of them makes once the needs are met. Both ends
 * have the same front, in places of their own; what is copied lies at the same rows and columns.
 *
 * <p>Three words of a front on a device count finished work: chain and bulk as on one device, and
 * the bundles made: marked FACTORIZE and APPLY_FACTORIZE tasks ({@link TaskLayout}). The last is
 * apart because a copy counts as a chain task where it arrives, and two devices that wait for all
 * of each other's chain tasks would wait for ever.
 *
 * @param front number within the stage
 * @param from device that has the values
 * @param to device that gets them
 * @param part which values
 * @param source counts of the front on the device {@code from} that have to be reached
 * @param target counts of the front on the device {@code to} that have to be reached
 * @param chain whether it counts as a chain task of the front on {@code to}, else as a bulk task
 */
public record DeviceCopy(
    int front, int from, int to, Part part, Need source, Need target, boolean chain) {

  /** What is copied. */
  public sealed interface Part {}

  /**
   * A factorized bundle: the VT slot, and column tile {@code column} of these row tiles, all of the
   * bundle but its first.
   */
  public record Bundle(int column, int[] rowTiles, int slot) implements Part {}

  /**
   * Rows [rowFrom, rowTo) of a shared front, in the column tiles from {@code firstTile} on that
   * {@code from} owns, and the larger state of the front on the two devices.
   */
  public record Tiles(int rowFrom, int rowTo, int firstTile) implements Part {}

  /**
   * Rows and columns of a contribution block, which starts at row and column fp, and the front's
   * state. Only entries with column at least row are used.
   */
  public record Block(int rowFrom, int rowTo, int columnFrom, int columnTo) implements Part {}

  /** Counts to be reached; unsigned. */
  public record Need(int chain, int bulk, int made) {

    static final Need NOTHING = new Need(0, 0, 0);

    /** Whether they are. */
    public boolean met(int chainDone, int bulkDone, int madeDone) {
      return Integer.compareUnsigned(chainDone, chain) >= 0
          && Integer.compareUnsigned(bulkDone, bulk) >= 0
          && Integer.compareUnsigned(madeDone, made) >= 0;
    }
  }
}
