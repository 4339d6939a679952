/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.layout;

import io.sparqr.backend.schedule.DeviceSchedule;
import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.FrontDevices;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.partition.DeviceMapping;
import io.sparqr.threads.Parallel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/**
 * A stage for several devices: a program for each of them, made from the stage's program for one.
 * Immutable.
 *
 * <p>What the stage reads and what it leaves lies on the first device, in the places of the stage
 * on one device: S entries, blocks from outside, packed rows, residual. The others read it and
 * write it there. Everything else each device has for itself. Its arena holds the fronts that it
 * has a part in, a shared front in full: its own column tiles, and beside them in their places what
 * it takes from others. Of a crossing front whose parent it has, it holds the block alone: the
 * descriptor there has another leading dimension, and its first entry lies before the block, so
 * that row fp + i and column fp + j are where {@link TaskLayout#PACK_ASSEMBLE} looks for them. All
 * numbers, the maps and the places of the counts are the same on all devices.
 *
 * @param one the stage on one device
 * @param schedule the lists
 * @param programs size devices
 */
public record DeviceStage(StageProgram one, DeviceSchedule schedule, List<StageProgram> programs) {

  private static final int ALIGN = TaskLayout.TILE;

  private static final StageProgram.Entries NO_ENTRIES =
      new StageProgram.Entries(new int[0], 0, null);

  /**
   * Lays a stage out for several devices. O(entries + fronts x devices + operations x devices).
   *
   * @param options those of the stage's schedule
   */
  public static DeviceStage of(
      StageProgram one, FrontDevices devices, SchedulerOptions options, int threads) {
    DeviceSchedule schedule =
        DeviceSchedule.of(
            one.schedule(),
            devices,
            options,
            (f, j) -> one.maps()[Math.toIntExact(one.descriptor(f).columnMap() + j)],
            threads);
    var programs = new StageProgram[devices.devices()];
    Parallel.loop(
        programs.length,
        1,
        threads,
        (from, to, t) -> programs[from] = program(one, schedule, from));
    return new DeviceStage(one, schedule, List.of(programs));
  }

  /**
   * The devices of a stage's fronts by the task's mapping. Fronts that turned out to be small are
   * not shared: they stay on their first device.
   *
   * @param fronts of the task, ascending, as the mapping numbers them
   * @throws IllegalArgumentException if a front of the stage is not one of the task
   */
  public static FrontDevices devices(DeviceMapping mapping, int[] fronts, StageProgram stage) {
    int[] first = new int[stage.fronts()];
    int[] count = new int[stage.fronts()];
    for (int f = 0; f < first.length; f++) {
      FrontDescriptor d = stage.descriptor(f);
      int at = Arrays.binarySearch(fronts, d.id());
      if (at < 0) {
        throw new IllegalArgumentException("front " + d.id() + " is not one of the task");
      }
      first[f] = mapping.first()[at];
      count[f] = d.small() || d.fm() == 0 ? 1 : mapping.count()[at];
    }
    return new FrontDevices(mapping.devices(), first, count, FrontDevices.WIDTH);
  }

  /** Bytes of the device that needs the most ({@link StageProgram#deviceBytes}). */
  public long deviceBytes() {
    long most = 0;
    for (StageProgram p : programs) {
      most = Math.max(most, p.deviceBytes());
    }
    return most;
  }

  private static StageProgram program(StageProgram one, DeviceSchedule schedule, int device) {
    FrontDevices devices = schedule.map();
    int fronts = one.fronts();
    FrontDescriptor[] all = one.decoded().clone();
    long arena = 0;
    for (int f = 0; f < fronts; f++) {
      FrontDescriptor d = one.descriptor(f);
      var shape = d.shape();
      long data = arena;
      if (devices.on(f, device)) {
        long height = d.small() ? d.fm() : (long) TaskLayout.TILE * d.rowTiles();
        height += d.drop() > 0 ? TaskLayout.TILE : 0;
        arena += aligned(d.ld() * height);
      } else if (schedule.arrives(f, device)) {
        int ld = d.cn() + d.rhs();
        data -= (long) d.fp() * ld + d.fp();
        arena += aligned((long) ld * d.cm());
        shape =
            new FrontDescriptor.Shape(
                ld, d.fm(), d.fn(), d.fp(), d.rhs(), d.cm(), d.rowTiles(), d.columnTiles());
      }
      var places =
          new FrontDescriptor.Places(data, 0, d.sFrom(), d.sTo(), d.rowMap(), d.columnMap());
      all[f] = new FrontDescriptor(places, shape, d.parent(), d.id(), d.drop());
    }
    ByteBuffer encoded =
        ByteBuffer.allocateDirect(Math.multiplyExact(all.length, TaskLayout.FRONT_BYTES))
            .order(ByteOrder.LITTLE_ENDIAN);
    for (int k = 0; k < all.length; k++) {
      all[k].encode(encoded, k);
    }
    boolean first = device == 0;
    return new StageProgram(
        one.counts(),
        new StageProgram.Descriptors(encoded, all),
        one.maps(),
        first ? one.entries() : NO_ENTRIES,
        one.initialState(),
        first
            ? new StageProgram.Memory(arena, one.inputDoubles(), one.outStart())
            : new StageProgram.Memory(arena, 0, new long[fronts + 1]),
        schedule.of(device),
        one.columns());
  }

  private static long aligned(long doubles) {
    return (doubles + ALIGN - 1) / ALIGN * ALIGN;
  }
}
