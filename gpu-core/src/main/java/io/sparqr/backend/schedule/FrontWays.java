/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import java.util.Arrays;
import java.util.function.IntBinaryOperator;

/**
 * The way of each front's rows and block when a stage has several devices. Local rounds of a front
 * with L rounds of factorization:
 *
 * <pre>
 *                              one device, parent there   one device, parent elsewhere   shared
 *   S, blocks from outside              -1                          -1                     -1
 *   factorization                    0 .. L - 1                  0 .. L - 1            0 .. L - 1
 *   final tiles to the home                                                                 L
 *   rows of R to the output          as they are made            as they are made         L + 1
 *   DROP                                 L                           L                    L + 1
 *   block to the parent's devices                                   L + 1                 L + 2
 *   pack assembly there              as it is made                  L + 2                 L + 3
 * </pre>
 *
 * <p>A front is <em>crossing</em> if it has a parent and not the same single device as that. Then
 * each device of the parent assembles the columns that it owns there.
 */
final class FrontWays {

  /** Rows of one copy of a block or of final tiles. */
  static final int ROWS = 8 * TaskLayout.TILE;

  final StageFronts stage;
  final FrontDevices devices;

  /** size fronts. */
  private final boolean[] crossing;

  /** By front and device of its parent: the block's columns owned there, as ranges; null: none. */
  private final int[][][] runs;

  /**
   * Finds the ways.
   *
   * @param columnOf column of the parent for a front and a column of its block
   */
  FrontWays(StageFronts stage, FrontDevices devices, IntBinaryOperator columnOf) {
    if (devices.fronts() != stage.fronts) {
      throw new IllegalArgumentException(
          devices.fronts() + " fronts have devices, the stage has " + stage.fronts);
    }
    this.stage = stage;
    this.devices = devices;
    crossing = new boolean[stage.fronts];
    runs = new int[stage.fronts][][];
    for (int f = 0; f < stage.fronts; f++) {
      if (devices.shared(f) && stage.rounds[f] == null) {
        throw new IllegalArgumentException(
            "front " + f + " has no tiles for several devices to share");
      }
      int p = stage.parent[f];
      crossing[f] = p >= 0 && !devices.together(f, p);
      if (crossing[f]) {
        runs[f] = new int[devices.count(p)][];
        for (int k = 0; k < runs[f].length; k++) {
          runs[f][k] = runs(f, p, devices.home(p) + k, columnOf);
        }
      }
    }
  }

  /** Columns of a block ascend in the parent too, so a run of its tiles is a range. */
  private int[] runs(int f, int p, int device, IntBinaryOperator columnOf) {
    int width = stage.cm[f] == 0 ? 0 : stage.fn[f] - stage.fp[f] + stage.rhs;
    int[] list = new int[8];
    int n = 0;
    boolean inside = false;
    for (int j = 0; j < width; j++) {
      boolean owned = devices.owner(p, columnOf.applyAsInt(f, j) / TaskLayout.TILE) == device;
      if (owned != inside) {
        list = n == list.length ? Arrays.copyOf(list, 2 * n) : list;
        list[n++] = j;
        inside = owned;
      }
    }
    if (inside) {
      list = Arrays.copyOf(list, n + 1);
      list[n++] = width;
    }
    return Arrays.copyOf(list, n);
  }

  /** Whether the block of front f goes another way than to the same single device. */
  boolean crossing(int f) {
    return crossing[f];
  }

  /** Whether the device assembles a part of the crossing front's block. */
  boolean arrives(int f, int device) {
    return crossing[f] && devices.on(stage.parent[f], device);
  }

  /** Ranges of the columns of the block of front f that the parent's device owns. */
  int[] runs(int f, int device) {
    return runs[f][device - devices.home(stage.parent[f])];
  }

  int length(int f) {
    return stage.rounds[f] == null ? 0 : stage.rounds[f].rounds();
  }

  /** Local round in which the block of a crossing front is copied. */
  int copyAt(int f) {
    return length(f) + (devices.shared(f) ? 2 : 1);
  }

  /** Size fronts; see {@link FrontTimes}. */
  int[] late() {
    int[] late = new int[stage.fronts];
    Arrays.setAll(late, f -> devices.shared(f) ? 1 : 0);
    return late;
  }

  /** Size fronts; see {@link FrontTimes}. */
  int[] tail() {
    int[] tail = new int[stage.fronts];
    Arrays.setAll(tail, f -> crossing[f] ? copyAt(f) + 1 - length(f) : devices.shared(f) ? 1 : 0);
    return tail;
  }

  /** Column tiles of front f in [from, columnTiles) that the device owns. */
  int owned(int f, int device, int from) {
    int end = stage.columnTiles(f);
    int tiles = 0;
    for (int c = devices.next(f, device, from, end);
        c < end;
        c = devices.next(f, device, devices.runEnd(f, c, end), end)) {
      tiles += devices.runEnd(f, c, end) - c;
    }
    return tiles;
  }

  /** Whether the device takes a copy of a bundle that another one makes in a column tile. */
  boolean takes(int f, int columnTile, int device) {
    int end = stage.columnTiles(f);
    return devices.owner(f, columnTile) != device
        && (devices.next(f, device, columnTile + 1, end) < end
            || stage.keepQ && device == devices.home(f));
  }

  /** Bundles made in a local round of a shared front that the device takes from others. */
  int taken(int f, int local, int device) {
    FrontSchedule s = stage.rounds[f];
    int copies = 0;
    for (int op = s.opStart(local); op < s.opStart(local + 1); op = s.next(op)) {
      int c = s.factorized(op);
      copies += c >= 0 && s.writeSlot(op) >= 0 && takes(f, c, device) ? 1 : 0;
    }
    return copies;
  }

  /** Bundles that a device makes in a local round of a shared front. */
  int made(int f, int local, int device) {
    FrontSchedule s = stage.rounds[f];
    int made = 0;
    for (int op = s.opStart(local); op < s.opStart(local + 1); op = s.next(op)) {
      int c = s.factorized(op);
      made += c >= 0 && devices.owner(f, c) == device ? 1 : 0;
    }
    return made;
  }

  /**
   * The end of the rows of a shared front that go to its home: those of the trapezoid, and if Q is
   * kept, or for the residual, all.
   */
  int rowsHome(int f) {
    FrontSchedule s = stage.rounds[f];
    boolean all = stage.keepQ || stage.rhs > 0;
    return TaskLayout.TILE * (all ? s.rowTiles : s.pivotTiles);
  }

  /** The first column tile of rows from {@code row} on that goes to the home. */
  int firstHome(int f, int row) {
    FrontSchedule s = stage.rounds[f];
    int tile = row / TaskLayout.TILE;
    return stage.keepQ ? 0 : Math.min(tile, Math.min(s.pivotTiles, stage.fn[f] / TaskLayout.TILE));
  }

  /** Copies of final tiles of a shared front to its home, from all others. */
  int toHome(int f) {
    int copies = 0;
    for (int k = 1; k < devices.count(f); k++) {
      for (int row = 0; row < rowsHome(f); row += ROWS) {
        copies += sends(f, devices.home(f) + k, row) ? 1 : 0;
      }
    }
    return copies;
  }

  /**
   * Whether the device has final tiles for the home in rows from {@code row} on. If it has any,
   * then of the first rows; if none, it has found no dead pivot either, so nothing has to be said.
   */
  boolean sends(int f, int device, int row) {
    int end = stage.columnTiles(f);
    return devices.next(f, device, firstHome(f, row), end) < end;
  }

  /** Copies of a crossing front's block to a device of its parent. */
  int toParent(int f, int device) {
    int copies = 0;
    int[] ranges = runs(f, device);
    for (int k = 0; k < ranges.length; k += 2) {
      copies += parts(Math.min(stage.cm[f], ranges[k + 1]));
    }
    return Math.max(1, copies);
  }

  private static int parts(int rows) {
    return (rows + ROWS - 1) / ROWS;
  }
}
