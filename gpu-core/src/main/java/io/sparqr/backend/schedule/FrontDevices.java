/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import java.util.Arrays;

/**
 * The devices of each front of a stage: one, which runs all of the front's tasks, or a range of
 * them, which share its column tiles block-cyclically. The first of them is the front's home: it
 * packs the rows, sums the residual and drops dead columns. Immutable.
 */
public final class FrontDevices {

  /**
   * Column tiles that a device owns together, where nothing else is said: as many as one Apply task
   * takes with the V that it has loaded, and few enough that the last columns are shared too.
   */
  public static final int WIDTH = 4;

  private final int devices;
  private final int[] first;
  private final int[] count;
  private final int width;

  /**
   * A map of a stage's fronts.
   *
   * @param devices number of devices
   * @param first size fronts; home of each front
   * @param count size fronts; its devices are first .. first + count - 1; 1 for fronts that are not
   *     tiled
   * @param width neighbouring column tiles that a device of a shared front owns together
   * @throws IllegalArgumentException if a front has a device that does not exist, or none
   */
  public FrontDevices(int devices, int[] first, int[] count, int width) {
    if (width < 1) {
      throw new IllegalArgumentException("a device must own column tiles, not " + width);
    }
    for (int f = 0; f < first.length; f++) {
      if (first[f] < 0 || count[f] < 1 || count[f] > devices - first[f]) {
        throw new IllegalArgumentException(
            "front %d: devices %d .. %d of %d"
                .formatted(f, first[f], first[f] + count[f] - 1, devices));
      }
    }
    this.devices = devices;
    this.first = first.clone();
    this.count = Arrays.copyOf(count, first.length);
    this.width = width;
  }

  /** Number of devices. */
  public int devices() {
    return devices;
  }

  /** Number of fronts. */
  public int fronts() {
    return first.length;
  }

  /** The device that packs the rows of front f. */
  public int home(int f) {
    return first[f];
  }

  /** Number of devices of front f. */
  public int count(int f) {
    return count[f];
  }

  /** Whether front f has several devices. */
  public boolean shared(int f) {
    return count[f] > 1;
  }

  /** Whether the front's entries, or its own column tiles, are on the device. */
  public boolean on(int f, int device) {
    return device >= first[f] && device < first[f] + count[f];
  }

  /** The device that owns a column tile of front f. */
  public int owner(int f, int columnTile) {
    return first[f] + columnTile / width % count[f];
  }

  /** Who owns which column tile of front f. */
  DevicePart.Owners owners(int f) {
    return new DevicePart.Owners(first[f], count[f], width);
  }

  /**
   * The first column tile from {@code from} on that the device owns, of a front that has it; {@code
   * end} if there is none below.
   */
  public int next(int f, int device, int from, int end) {
    int block = from / width;
    int ahead = Math.floorMod(device - first[f] - block, count[f]);
    return ahead == 0 ? Math.min(from, end) : (int) Math.min(end, (block + (long) ahead) * width);
  }

  /** The end of the device's column tiles that begin with its tile {@code from}. */
  public int runEnd(int f, int from, int end) {
    return count[f] == 1 ? end : Math.min(end, (from / width + 1) * width);
  }

  /** Whether the block of front f, whose parent is p, stays on the one device that both have. */
  boolean together(int f, int p) {
    return count[f] == 1 && count[p] == 1 && first[f] == first[p];
  }
}
