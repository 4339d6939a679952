/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import io.sparqr.symbolic.TileFlops;
import io.sparqr.threads.Parallel;
import java.util.function.IntBinaryOperator;

/**
 * The rounds of a stage for several devices: a list for each of them, with what it takes from the
 * others ({@link Task.Pull}) and what it announces to them. Made from the stage's rounds for one
 * device, with the same operations, so the bits are the same. Immutable.
 *
 * <p>Each list has its own counts ({@link FrontCounts}). Whatever a task waits for is in an earlier
 * round; but a PULL may wait for an ANNOUNCE of the same round, and other tasks for a PULL of the
 * same round, and so may a PULL for one before it. A round's list has them in this order ({@link
 * TaskLayout#place}): devices that take their lists in order do not wait for each other in a
 * circle.
 */
public final class DeviceSchedule {

  private final FrontWays ways;
  private final FrontTimes times;
  private final StageSchedule[] lists;

  private DeviceSchedule(FrontWays ways, FrontTimes times, StageSchedule[] lists) {
    this.ways = ways;
    this.times = times;
    this.lists = lists;
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
    var pulls = new DevicePulls(ways, slots);
    var lists = new StageSchedule[devices.devices()];
    Parallel.loop(
        lists.length,
        1,
        threads,
        (from, to, t) -> {
          for (int d = from; d < to; d++) {
            lists[d] = list(d, ways, times, slots, pulls, options);
          }
        });
    return new DeviceSchedule(ways, times, lists);
  }

  private static StageSchedule list(
      int device,
      FrontWays ways,
      FrontTimes times,
      VtSlots slots,
      DevicePulls pulls,
      SchedulerOptions options) {
    FrontDevices devices = ways.devices;
    StageFronts stage = ways.stage;
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
    var tasks = new DeviceEmitter(device, ways, times, slots, pulls, alone);
    var needs = new FrontCounts(stage, ways.tail());
    long[] kindStart = new long[times.rounds * TaskLayout.KINDS + 1];
    for (int r = 0; r < times.rounds; r++) {
      var counter = new TaskCounter(needs);
      for (int e = times.activeStart[r]; e < times.activeStart[r + 1]; e++) {
        tasks.emit(r, times.active[e], counter);
        counter.end();
      }
      for (int k = 0; k < TaskLayout.KINDS; k++) {
        kindStart[r * TaskLayout.KINDS + TaskLayout.place(k) + 1] = counter.kinds()[k];
      }
    }
    for (int k = 1; k < kindStart.length; k++) {
      kindStart[k] += kindStart[k - 1];
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
   * The list of a device. S entries, packed rows, VT slots, residual slots and fronts are numbered
   * as those of the stage.
   */
  public StageSchedule of(int device) {
    return lists[device];
  }
}
