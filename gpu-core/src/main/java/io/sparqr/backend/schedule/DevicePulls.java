/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

/** What each device takes from others, and announces to them, in each round of each front. */
final class DevicePulls {

  private final FrontWays ways;
  private final FrontDevices devices;
  private final VtSlots slots;

  /** By shared front: bundles made before a local round, by its devices. */
  private final int[][] made;

  /** O(operations of shared fronts x their devices). */
  DevicePulls(FrontWays ways, VtSlots slots) {
    this.ways = ways;
    this.slots = slots;
    devices = ways.devices;
    made = new int[ways.stage.fronts][];
    for (int f = 0; f < made.length; f++) {
      if (devices.shared(f)) {
        int n = devices.count(f);
        made[f] = new int[n * (ways.length(f) + 1)];
        for (int k = n; k < made[f].length; k++) {
          made[f][k] = made[f][k - n] + ways.made(f, k / n - 1, devices.home(f) + k % n);
        }
      }
    }
  }

  /** Emits what a device announces and takes in a local round of front f. */
  void emit(int f, int local, int device, TaskSink sink) {
    boolean home = device == devices.home(f);
    int length = ways.length(f);
    if (devices.shared(f) && devices.on(f, device) && local >= 1 && local <= length) {
      bundles(f, local - 1, device, sink);
    }
    if (devices.shared(f) && local == length) {
      if (home) {
        tiles(f, sink);
      } else if (devices.on(f, device) && ways.sends(f, device, 0)) {
        sink.announce();
      }
    }
    if (ways.crossing(f) && local == ways.copyAt(f)) {
      if (home) {
        sink.announce();
      } else if (ways.arrives(f, device)) {
        block(f, device, sink);
      }
    }
  }

  /** Announcements of front f on a device up to the one that its tiles, or its block, are whole. */
  private int announced(int f, int device) {
    return bundles(f, ways.length(f), device) + 1;
  }

  /** Bundles of front f made on a device before a local round. */
  private int bundles(int f, int local, int device) {
    int n = devices.count(f);
    return made[f] == null ? 0 : made[f][n * local + device - devices.home(f)];
  }

  /** Bundles made in a local round. */
  private void bundles(int f, int local, int to, TaskSink sink) {
    FrontSchedule s = ways.stage.rounds[f];
    for (int op = s.opStart(local); op < s.opStart(local + 1); op = s.next(op)) {
      int c = s.factorized(op);
      if (c < 0 || s.writeSlot(op) < 0 || !ways.takes(f, c, to)) {
        continue;
      }
      int from = devices.owner(f, c);
      int first = s.bundleFrom(op);
      int[] tiles = new int[s.size(op) - first - 1];
      for (int k = 0; k < tiles.length; k++) {
        tiles[k] = s.tile(op, first + 1 + k);
      }
      var part = new DevicePart.Bundle(c, tiles, slots.base(f, local) + s.writeSlot(op));
      sink.pull(new Task.Pull(f, from, bundles(f, local + 1, from), part), true);
    }
  }

  /** The final tiles of a shared front, to its home. */
  private void tiles(int f, TaskSink sink) {
    int home = devices.home(f);
    int rows = ways.rowsHome(f);
    for (int from = home + 1; from < home + devices.count(f); from++) {
      for (int row = 0; row < rows; row += FrontWays.ROWS) {
        if (!ways.sends(f, from, row)) {
          continue;
        }
        int end = Math.min(rows, row + FrontWays.ROWS);
        var part = new DevicePart.Tiles(row, end, ways.firstHome(f, row), devices.owners(f));
        sink.pull(new Task.Pull(f, from, announced(f, from), part), true);
      }
    }
  }

  /** The block of a crossing front, to a device of its parent. */
  private void block(int f, int to, TaskSink sink) {
    int home = devices.home(f);
    int made = announced(f, home);
    // Where the front itself is, its assembly must not come after its block.
    boolean waits = devices.on(f, to);
    int[] runs = ways.runs(f, to);
    int count = 0;
    for (int k = 0; k < runs.length; k += 2) {
      int rows = Math.min(ways.stage.cm[f], runs[k + 1]);
      for (int row = 0; row < rows; row += FrontWays.ROWS) {
        int end = Math.min(rows, row + FrontWays.ROWS);
        var part = new DevicePart.Block(row, end, Math.max(row, runs[k]), runs[k + 1]);
        sink.pull(new Task.Pull(f, home, made, part), waits);
        count++;
      }
    }
    if (count == 0) {
      // The state alone.
      sink.pull(new Task.Pull(f, home, made, new DevicePart.Block(0, 0, 0, 0)), waits);
    }
  }
}
