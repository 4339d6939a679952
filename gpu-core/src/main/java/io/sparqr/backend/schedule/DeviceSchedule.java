/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import io.sparqr.symbolic.TileFlops;
import io.sparqr.threads.Parallel;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
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
    int[] tail = ways.tail();
    var made = new FrontTimes[1];
    var places = new VtSlots[1];
    var needs = new FrontCounts[devices.devices()];
    // independent of each other
    Parallel.loop(
        2 + needs.length,
        1,
        threads,
        (from, to, t) -> {
          switch (from) {
            case 0 -> places[0] = new VtSlots(one.stage(), devices::shared);
            case 1 -> made[0] = new FrontTimes(one.stage(), ways.late(), tail);
            default -> needs[from - 2] = new FrontCounts(one.stage(), tail);
          }
        });
    FrontTimes times = made[0];
    VtSlots slots = places[0];
    var pulls = new DevicePulls(ways, slots);
    var pieces = new RoundPieces(times);
    var lists = new StageSchedule[devices.devices()];
    for (int d = 0; d < lists.length; d++) {
      lists[d] = list(d, ways, times, slots, pulls, options, pieces, needs[d], threads);
    }
    return new DeviceSchedule(ways, times, lists);
  }

  private static StageSchedule list(
      int device,
      FrontWays ways,
      FrontTimes times,
      VtSlots slots,
      DevicePulls pulls,
      SchedulerOptions options,
      RoundPieces pieces,
      FrontCounts needs,
      int threads) {
    StageFronts stage = ways.stage;
    var alone = new TaskEmitter(stage, options, times, slots);
    // Whole numbers below 2^63, so that their sums do not depend on the order.
    var flops = new LongAdder();
    var applyTiles = new AtomicLongArray(times.rounds);
    pieces.forEach(
        threads,
        (r, from, to) -> {
          for (int e = from; e < to; e++) {
            cut(device, ways, times, r, times.active[e], applyTiles, flops);
          }
        });
    for (int r = 0; r < times.rounds; r++) {
      alone.cut(r, applyTiles.get(r));
    }
    var tasks = new DeviceEmitter(device, ways, times, slots, pulls, alone);
    long[] kindStart = pieces.count(tasks, needs, threads);
    return new StageSchedule(stage, times, tasks, needs, kindStart, slots, flops.sum());
  }

  /** Adds the tiles of a front's Apply tasks in a round on a device, and their flops. */
  private static void cut(
      int device,
      FrontWays ways,
      FrontTimes times,
      int r,
      int f,
      AtomicLongArray applyTiles,
      LongAdder sum) {
    FrontDevices devices = ways.devices;
    StageFronts stage = ways.stage;
    if (!devices.on(f, device)) {
      return;
    }
    FrontSchedule s = stage.rounds[f];
    int local = r - times.start[f];
    double flops = 0;
    if (s == null) {
      flops = local == 0 ? TileFlops.small(stage.fm[f], stage.fn[f], stage.rhs) : 0;
    } else if (local >= 0 && local < s.rounds()) {
      long tiles = 0;
      for (int op = s.opStart(local); op < s.opStart(local + 1); op = s.next(op)) {
        int c = s.factorized(op);
        int columns = ways.owned(f, device, s.applyFrom(op));
        tiles += columns;
        flops += SparseScheduler.flops(s, op, c >= 0 && devices.owner(f, c) == device, columns);
      }
      applyTiles.addAndGet(r, tiles);
    }
    sum.add((long) flops);
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
