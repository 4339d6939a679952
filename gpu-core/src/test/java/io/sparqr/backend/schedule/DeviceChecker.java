/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Replays the lists of several devices without values and checks their invariant: what a task reads
 * is on its device, made there or sent there, and is what the task would read on one device. It
 * keeps the books of each device apart: which version of each tile it has, which bundle each slot,
 * which part of each block.
 */
final class DeviceChecker implements DeviceReplay.Work {

  /** A version that no tile has: nothing is there. */
  private static final int NONE = -1;

  private record Bundle(int front, int column, int[] tiles, int[] versions) {}

  private final String name;
  private final StageFronts s;
  private final FrontDevices devices;
  private final DeviceSchedule schedule;

  /** By device, front, row tile, column tile: how often the tile was written. */
  private final int[][][][] version;

  private final Map<Integer, Bundle>[] slots;

  /** By device and front: entries of its block that are there; null: no block is. */
  private final boolean[][][] image;

  /** By device and front: entries assembled from children. */
  private final long[][] filled;

  private final long[][] expected;

  /** By front: row tiles of which rows have left; then they do not change any more. */
  private final boolean[][] left;

  private final int[] drops;
  private final boolean[][] begun;

  @SuppressWarnings({"unchecked", "rawtypes"})
  DeviceChecker(String name, StageFronts s, DeviceSchedule schedule, int[][] columnOf) {
    this.name = name;
    this.s = s;
    this.schedule = schedule;
    devices = schedule.map();
    int n = devices.devices();
    version = new int[n][s.fronts][][];
    image = new boolean[n][s.fronts][];
    filled = new long[n][s.fronts];
    expected = new long[n][s.fronts];
    begun = new boolean[n][s.fronts];
    left = new boolean[s.fronts][];
    drops = new int[s.fronts];
    slots = new Map[n];
    for (int d = 0; d < n; d++) {
      slots[d] = new HashMap<>();
      for (int f = 0; f < s.fronts; f++) {
        if (s.rounds[f] != null && devices.on(f, d)) {
          version[d][f] = new int[s.rounds[f].rowTiles][s.columnTiles(f)];
          for (int[] row : version[d][f]) {
            for (int c = 0; c < row.length; c++) {
              row[c] = devices.owner(f, c) == d ? 0 : NONE;
            }
          }
        }
        left[f] = new boolean[s.rounds[f] == null ? 0 : s.rounds[f].rowTiles];
        int p = s.parent[f];
        for (int j = 0; p >= 0 && devices.on(p, d) && j < width(f); j++) {
          int tile = columnOf[f][j] / TaskLayout.TILE;
          expected[d][p] += devices.owner(p, tile) == d ? Math.min(s.cm[f], j + 1) : 0;
        }
      }
    }
  }

  private int width(int f) {
    return s.fn[f] - s.fp[f] + s.rhs;
  }

  @Override
  public void task(int device, Task task) {
    int f = task.front();
    if (task instanceof Task.Pull t) {
      pull(device, t);
    } else if (task instanceof Task.Factorize t) {
      factorize(device, f, t.column(), t.bundle(), t.vtSlot());
    } else if (task instanceof Task.Apply t) {
      apply(device, f, t.column(), t.bundle(), t.vtSlot(), t.from(), t.to());
    } else if (task instanceof Task.ApplyFactorize t) {
      int c = t.column() + 1;
      apply(device, f, t.column(), t.bundle(), t.vtSlot(), c, c + 1);
      factorize(device, f, c, t.nextBundle(), t.nextVtSlot());
    } else if (task instanceof Task.AssembleS) {
      assembles(device, f);
    } else if (task instanceof Task.AssembleBlock t) {
      assembles(device, t.parent());
    } else if (task instanceof Task.PackAssemble t) {
      assembles(device, t.parent());
      pack(device, t);
    } else if (task instanceof Task.SmallFront t) {
      begin(device, f);
      if (t.packAssemble()) {
        filled[device][s.parent[f]] += trapezoid(s.cm[f], width(f));
      }
    } else if (task instanceof Task.PackRows t) {
      whole(device, f, t.rowFrom(), t.rowTo());
    } else if (task instanceof Task.Residual t) {
      whole(device, f, t.rowFrom(), t.rowTo());
    } else if (task instanceof Task.Drop) {
      whole(device, f, 0, s.outRows[f]);
      drops[f]++;
    }
  }

  /** Nothing is put into a front that has begun, or whose block has come from its home. */
  private void assembles(int device, int f) {
    assertThat(begun[device][f] || image[device][f] != null)
        .as("%s: front %d on device %d has begun", name, f, device)
        .isFalse();
  }

  /** The front's inputs are there when its first task begins. */
  private void begin(int device, int f) {
    if (!begun[device][f]) {
      begun[device][f] = true;
      assertThat(devices.on(f, device)).as("%s: front %d on device %d", name, f, device).isTrue();
      assertThat(filled[device][f])
          .as("%s: entries from children of front %d on device %d", name, f, device)
          .isEqualTo(expected[device][f]);
    }
  }

  private void factorize(int d, int f, int c, int[] tiles, int slot) {
    begin(d, f);
    owned(d, f, c);
    int[] versions = new int[tiles.length];
    for (int k = 0; k < tiles.length; k++) {
      assertThat(left[f][tiles[k]]).as("%s: rows of front %d have left", name, f).isFalse();
      versions[k] = ++version[d][f][tiles[k]][c];
    }
    if (slot >= 0) {
      slots[d].put(slot, new Bundle(f, c, tiles, versions));
    }
  }

  private void apply(int d, int f, int column, int[] tiles, int slot, int from, int to) {
    begin(d, f);
    Bundle b = slots[d].get(slot);
    assertThat(b).as("%s: slot %d on device %d", name, slot, d).isNotNull();
    assertThat(b.front).as("%s: slot %d on device %d", name, slot, d).isEqualTo(f);
    assertThat(b.column).as("%s: slot %d on device %d", name, slot, d).isEqualTo(column);
    assertThat(b.tiles).as("%s: slot %d on device %d", name, slot, d).isEqualTo(tiles);
    for (int k = 1; k < tiles.length; k++) {
      assertThat(version[d][f][tiles[k]][column])
          .as("%s: V of front %d, tile (%d, %d) on device %d", name, f, tiles[k], column, d)
          .isEqualTo(b.versions[k]);
    }
    for (int c = from; c < to; c++) {
      owned(d, f, c);
      for (int i : tiles) {
        assertThat(left[f][i]).as("%s: rows of front %d have left", name, f).isFalse();
        version[d][f][i][c]++;
      }
    }
  }

  private void owned(int d, int f, int c) {
    assertThat(devices.owner(f, c))
        .as("%s: front %d, column tile %d is written by its owner", name, f, c)
        .isEqualTo(d);
  }

  /** Rows that leave are on the device that packs them, and final. */
  private void whole(int d, int f, int rowFrom, int rowTo) {
    assertThat(devices.home(f)).as("%s: home of front %d", name, f).isEqualTo(d);
    for (int i = rowFrom / TaskLayout.TILE; i * TaskLayout.TILE < rowTo; i++) {
      left[f][i] = true;
      int first = Math.min(i, s.fn[f] / TaskLayout.TILE);
      for (int c = first; c < s.columnTiles(f); c++) {
        int owner = devices.owner(f, c);
        assertThat(version[d][f][i][c])
            .as("%s: front %d, tile (%d, %d) at home", name, f, i, c)
            .isEqualTo(version[owner][f][i][c]);
      }
    }
  }

  private void pack(int d, Task.PackAssemble t) {
    int f = t.front();
    assertThat(t.crossing()).as("%s: block of front %d", name, f).isEqualTo(schedule.crosses(f));
    assertThat(devices.on(t.parent(), d)).as("%s: parent of front %d", name, f).isTrue();
    for (int i = t.rowFrom(); i < t.rowTo(); i++) {
      for (int j = Math.max(i, t.columnFrom()); j < t.columnTo(); j++) {
        boolean there =
            devices.home(f) == d
                ? rowIsHere(d, f, i, j)
                : image[d][f] != null && image[d][f][i * width(f) + j];
        assertThat(there).as("%s: entry (%d, %d) of block %d on %d", name, i, j, f, d).isTrue();
        filled[d][t.parent()]++;
      }
    }
    if (t.crossing()) {
      ended(f);
    }
  }

  /** A block crosses when the front's DROP tasks are done. */
  private void ended(int f) {
    int all = s.dropsAlone(f) ? s.dropWorkers(f) : 0;
    assertThat(drops[f]).as("%s: DROP tasks of front %d", name, f).isEqualTo(all);
  }

  private boolean rowIsHere(int d, int f, int i, int j) {
    if (s.rounds[f] == null) {
      return begun[d][f];
    }
    int tile = (s.fp[f] + i) / TaskLayout.TILE;
    int c = (s.fp[f] + j) / TaskLayout.TILE;
    return version[d][f][tile][c] == version[devices.owner(f, c)][f][tile][c];
  }

  private void pull(int to, Task.Pull pull) {
    int f = pull.front();
    int from = pull.from();
    if (pull.part() instanceof DevicePart.Bundle b) {
      begin(to, f);
      Bundle made = slots[from].get(b.slot());
      assertThat(made).as("%s: slot %d at its maker", name, b.slot()).isNotNull();
      assertThat(Arrays.copyOfRange(made.tiles, 1, made.tiles.length)).isEqualTo(b.rowTiles());
      slots[to].put(b.slot(), made);
      for (int i : b.rowTiles()) {
        version[to][f][i][b.column()] = version[from][f][i][b.column()];
      }
    } else if (pull.part() instanceof DevicePart.Tiles t) {
      for (int i = t.rowFrom() / TaskLayout.TILE; i * TaskLayout.TILE < t.rowTo(); i++) {
        for (int c = t.firstTile(); c < s.columnTiles(f); c++) {
          assertThat(t.owners().of(c)).isEqualTo(devices.owner(f, c));
          if (devices.owner(f, c) == from) {
            version[to][f][i][c] = version[from][f][i][c];
          }
        }
      }
    } else if (pull.part() instanceof DevicePart.Block b) {
      ended(f);
      if (image[to][f] == null) {
        image[to][f] = new boolean[s.cm[f] * width(f)];
      }
      for (int i = b.rowFrom(); i < b.rowTo(); i++) {
        for (int j = Math.max(i, b.columnFrom()); j < b.columnTo(); j++) {
          assertThat(rowIsHere(from, f, i, j)).as("%s: block %d", name, f).isTrue();
          image[to][f][i * width(f) + j] = true;
        }
      }
    }
  }

  /** After all: every tile has been written as often as on one device. */
  void finish(int[][][] versions) {
    for (int f = 0; f < s.fronts; f++) {
      for (int i = 0; s.rounds[f] != null && i < s.rounds[f].rowTiles; i++) {
        for (int c = 0; c < s.columnTiles(f); c++) {
          assertThat(version[devices.owner(f, c)][f][i][c])
              .as("%s: front %d, tile (%d, %d)", name, f, i, c)
              .isEqualTo(versions[f][i][c]);
        }
      }
    }
  }

  /** The versions of all tiles in the end, at their owners. */
  int[][][] versions() {
    int[][][] all = new int[s.fronts][][];
    for (int f = 0; f < s.fronts; f++) {
      if (s.rounds[f] != null) {
        all[f] = new int[s.rounds[f].rowTiles][s.columnTiles(f)];
        for (int i = 0; i < all[f].length; i++) {
          for (int c = 0; c < s.columnTiles(f); c++) {
            all[f][i][c] = version[devices.owner(f, c)][f][i][c];
          }
        }
      }
    }
    return all;
  }

  private static long trapezoid(int rows, int columns) {
    return (long) rows * columns - (long) rows * (rows - 1) / 2;
  }
}
