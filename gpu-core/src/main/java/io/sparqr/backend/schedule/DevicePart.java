/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

/**
 * What a device takes from another one ({@link Task.Pull}). Both have the same front, in places of
 * their own; what is taken lies at the same rows and columns.
 *
 * <p>Three words of a front on a device count finished work: chain and bulk as on one device, and
 * announcements, which alone are read by other devices: of bundles made (marked FACTORIZE and
 * APPLY_FACTORIZE tasks, {@link TaskLayout}), and then one of all that the device does for the
 * front before its final tiles or its block are taken ({@link Task.Announce}). Bundles have a word
 * apart from the chain because a bundle taken counts as a chain task where it arrives, and two
 * devices that wait for all of each other's chain tasks would wait for ever.
 */
public sealed interface DevicePart {

  /**
   * A factorized bundle: the VT slot, and column tile {@code column} of these row tiles, all of the
   * bundle but its first.
   */
  record Bundle(int column, int[] rowTiles, int slot) implements DevicePart {}

  /**
   * Rows [rowFrom, rowTo) of a shared front, in the column tiles from {@code firstTile} on that the
   * sender owns, and the larger state of the front on the two devices.
   */
  record Tiles(int rowFrom, int rowTo, int firstTile, Owners owners) implements DevicePart {}

  /**
   * Rows and columns of a contribution block, which starts at row and column fp, and the front's
   * state. Only entries with column at least row are used.
   */
  record Block(int rowFrom, int rowTo, int columnFrom, int columnTo) implements DevicePart {}

  /**
   * The owners of a front's column tiles.
   *
   * @param home first device of the front
   * @param count number of its devices
   * @param width neighbouring column tiles with the same owner
   */
  record Owners(int home, int count, int width) {

    /** The device that owns a column tile. */
    public int of(int columnTile) {
      return home + columnTile / width % count;
    }
  }
}
