/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import io.sparqr.symbolic.TileFlops;
import io.sparqr.threads.Parallel;
import java.util.function.Consumer;
import java.util.function.IntBinaryOperator;

/**
 * The rounds of a stage for several devices: a list for each of them, and the copies between them.
 * Made from the stage's rounds for one device, with the same operations, so the bits are the same.
 * Immutable.
 *
 * <p>Each list has its own counts ({@link FrontCounts}), of the tasks on its device and of copies
 * that arrive there or leave from there. Whatever a task or a copy waits for is in an earlier
 * round, or is a copy of the same round: devices that take their lists in order, copies of a round
 * before its tasks, do not wait for each other in a circle.
 */
public final class DeviceSchedule {

  private final FrontWays ways;
  private final FrontTimes times;
  private final VtSlots slots;
  private final StageSchedule[] lists;

  /** By shared front: bundles made before a local round, by its devices. */
  private final int[][] made;

  private DeviceSchedule(FrontWays ways, FrontTimes times, VtSlots slots, StageSchedule[] lists) {
    this.ways = ways;
    this.times = times;
    this.slots = slots;
    this.lists = lists;
    made = new int[ways.stage.fronts][];
    for (int f = 0; f < made.length; f++) {
      if (ways.devices.shared(f)) {
        int n = ways.devices.count(f);
        made[f] = new int[n * (ways.length(f) + 1)];
        for (int k = n; k < made[f].length; k++) {
          made[f][k] = made[f][k - n] + ways.made(f, k / n - 1, ways.devices.home(f) + k % n);
        }
      }
    }
  }

  /**
   * Makes the lists.
   *
   * @param one the stage's rounds for one device
   * @param devices of its fronts
   * @param options those of {@code one}
   * @param columnOf column of its parent for a front and a column of its block, right-hand sides
   *     included
   * @throws IllegalArgumentException if a front without tiles is shared
   */
  public static DeviceSchedule of(
      StageSchedule one,
      FrontDevices devices,
      SchedulerOptions options,
      IntBinaryOperator columnOf,
      int threads) {
    var ways = new FrontWays(one.stage(), devices, columnOf);
    var times = new FrontTimes(one.stage(), ways.late(), ways.tail());
    var slots = new VtSlots(one.stage(), devices::shared);
    var lists = new StageSchedule[devices.devices()];
    Parallel.loop(
        lists.length,
        1,
        threads,
        (from, to, t) -> {
          for (int d = from; d < to; d++) {
            lists[d] = list(d, ways, times, slots, options);
          }
        });
    return new DeviceSchedule(ways, times, slots, lists);
  }

  private static StageSchedule list(
      int device, FrontWays ways, FrontTimes times, VtSlots slots, SchedulerOptions options) {
    FrontDevices devices = ways.devices;
    StageFronts stage =
        ways.stage.onDevice(f -> devices.on(f, device), f -> devices.home(f) == device);
    var alone = new TaskEmitter(stage, options, times, slots);
    double flops = 0;
    for (int r = 0; r < times.rounds; r++) {
      long tiles = 0;
      for (int e = times.activeStart[r]; e < times.activeStart[r + 1]; e++) {
        int f = times.active[e];
        FrontSchedule s = stage.rounds[f];
        int local = r - times.start[f];
        boolean here = devices.on(f, device);
        if (here && s != null && local >= 0 && local < s.rounds()) {
          for (int op = s.opStart(local); op < s.opStart(local + 1); op = s.next(op)) {
            int c = s.factorized(op);
            int columns = ways.owned(f, device, s.applyFrom(op));
            tiles += columns;
            flops += SparseScheduler.flops(s, op, c >= 0 && devices.owner(f, c) == device, columns);
          }
        } else if (here && s == null && local == 0) {
          flops += TileFlops.small(stage.fm[f], stage.fn[f], stage.rhs);
        }
      }
      alone.cut(r, tiles);
    }
    var tasks = new DeviceEmitter(device, ways, times, slots, alone);
    var needs = new FrontCounts(stage, ways.tail());
    long[] kindStart = new long[times.rounds * TaskLayout.KINDS + 1];
    for (int r = 0; r < times.rounds; r++) {
      var counter = new TaskCounter(needs);
      for (int e = times.activeStart[r]; e < times.activeStart[r + 1]; e++) {
        tasks.emit(r, times.active[e], counter);
        counter.end();
      }
      for (int k = 0; k < TaskLayout.KINDS; k++) {
        int at = r * TaskLayout.KINDS + k;
        kindStart[at + 1] = kindStart[at] + counter.kinds()[k];
      }
    }
    needs.finish(1);
    return new StageSchedule(stage, times, tasks, needs, kindStart, slots, flops);
  }

  /** Number of devices. */
  public int devices() {
    return lists.length;
  }

  /** The devices of the fronts. */
  public FrontDevices map() {
    return ways.devices;
  }

  /** Whether the block of front f goes another way than to the same single device. */
  public boolean crosses(int f) {
    return ways.crossing(f);
  }

  /** Whether the device assembles a part of the block of the crossing front f. */
  public boolean arrives(int f, int device) {
    return ways.arrives(f, device);
  }

  /** Number of rounds, of every list. */
  public int rounds() {
    return times.rounds;
  }

  /**
   * The list of a device. Its S entries, and the rows that it packs, are numbered without gaps, in
   * the order of the fronts; VT slots, residual slots and fronts are those of the stage.
   */
  public StageSchedule of(int device) {
    return lists[device];
  }

  /** Tells the copies to a device that belong before its tasks of a round, in a fixed order. */
  public void copies(int round, int to, Consumer<DeviceCopy> sink) {
    for (int e = times.activeStart[round]; e < times.activeStart[round + 1]; e++) {
      int f = times.active[e];
      int local = round - times.start[f];
      FrontDevices devices = ways.devices;
      if (devices.shared(f) && devices.on(f, to) && local >= 1) {
        if (local <= ways.length(f)) {
          bundles(f, local - 1, to, sink);
        }
        if (local == ways.length(f) && to == devices.home(f)) {
          home(f, sink);
        }
      }
      if (ways.arrives(f, to) && to != devices.home(f) && local == ways.copyAt(f)) {
        block(f, to, sink);
      }
    }
  }

  /**
   * Bundles made in a local round. A copy waits for the chain tasks of earlier rounds where it goes
   * to, because it counts there: whoever waits for these must not be content with it instead.
   */
  private void bundles(int f, int local, int to, Consumer<DeviceCopy> sink) {
    FrontSchedule s = ways.stage.rounds[f];
    FrontCounts there = lists[to].needs();
    // All assembly, too.
    var target = new DeviceCopy.Need(there.chain(f, local), there.bulk(f, 0), 0);
    int n = ways.devices.count(f);
    for (int op = s.opStart(local); op < s.opStart(local + 1); op = s.next(op)) {
      int c = s.factorized(op);
      if (c < 0 || s.writeSlot(op) < 0 || !ways.takes(f, c, to)) {
        continue;
      }
      int from = ways.devices.owner(f, c);
      int first = s.bundleFrom(op);
      int[] tiles = new int[s.size(op) - first - 1];
      for (int k = 0; k < tiles.length; k++) {
        tiles[k] = s.tile(op, first + 1 + k);
      }
      int slot = slots.base(f, local) + s.writeSlot(op);
      int bundles = made[f][n * (local + 1) + from - ways.devices.home(f)];
      var source = new DeviceCopy.Need(0, 0, bundles);
      var part = new DeviceCopy.Bundle(c, tiles, slot);
      sink.accept(new DeviceCopy(f, from, to, part, source, target, true));
    }
  }

  /** The final tiles of a shared front, to its home. */
  private void home(int f, Consumer<DeviceCopy> sink) {
    int home = ways.devices.home(f);
    var target = after(f, home, ways.length(f));
    for (int from = home + 1; from < home + ways.devices.count(f); from++) {
      DeviceCopy.Need source = after(f, from, ways.length(f));
      int rows = ways.rowsHome(f);
      for (int row = 0; row < rows; row += FrontWays.ROWS) {
        if (!ways.sends(f, from, row)) {
          continue;
        }
        int end = Math.min(rows, row + FrontWays.ROWS);
        var part = new DeviceCopy.Tiles(row, end, ways.firstHome(f, row));
        sink.accept(new DeviceCopy(f, from, home, part, source, target, false));
      }
    }
  }

  /** The block of a crossing front, to a device of its parent. */
  private void block(int f, int to, Consumer<DeviceCopy> sink) {
    int home = ways.devices.home(f);
    DeviceCopy.Need source = after(f, home, ways.copyAt(f));
    // Where the front itself is, its assembly must not come after its block.
    DeviceCopy.Need target =
        ways.devices.on(f, to) ? after(f, to, ways.copyAt(f)) : DeviceCopy.Need.NOTHING;
    int[] runs = ways.runs(f, to);
    int copies = 0;
    for (int k = 0; k < runs.length; k += 2) {
      int rows = Math.min(ways.stage.cm[f], runs[k + 1]);
      for (int row = 0; row < rows; row += FrontWays.ROWS) {
        int end = Math.min(rows, row + FrontWays.ROWS);
        var part = new DeviceCopy.Block(row, end, Math.max(row, runs[k]), runs[k + 1]);
        sink.accept(new DeviceCopy(f, home, to, part, source, target, false));
        copies++;
      }
    }
    if (copies == 0) {
      var state = new DeviceCopy.Block(0, 0, 0, 0);
      sink.accept(new DeviceCopy(f, home, to, state, source, target, false));
    }
  }

  /** All that a device does for a front before a local round. */
  private DeviceCopy.Need after(int f, int device, int local) {
    FrontCounts counts = lists[device].needs();
    return new DeviceCopy.Need(counts.chain(f, local), counts.bulk(f, local), 0);
  }
}
