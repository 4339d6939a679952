/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;

/** Lists for several devices: what a task reads is on its device. */
class DeviceScheduleTest {

  /** A random stage, its devices, and a map of columns that ascends, like every map of a child. */
  private static final class Stage {
    final RandomStages random;
    final int[][] columnOf;
    final DeviceSchedule schedule;

    Stage(long seed, int devices) {
      random = new RandomStages(seed, 1 + (int) (seed % 7), 4 + (int) (seed % 17));
      if (seed % 2 == 0) {
        random.withDrops();
      }
      StageFronts s = random.stage;
      var chance = new Random(seed);
      int[] first = new int[s.fronts];
      int[] count = new int[s.fronts];
      columnOf = new int[s.fronts][];
      for (int f = 0; f < s.fronts; f++) {
        first[f] = chance.nextInt(devices);
        boolean shared = s.rounds[f] != null && chance.nextInt(3) > 0;
        count[f] = shared ? 1 + chance.nextInt(devices - first[f]) : 1;
        int cn = s.fn[f] - s.fp[f];
        columnOf[f] = new int[cn + s.rhs];
        for (int j = 0; s.parent[f] >= 0 && j < cn + s.rhs; j++) {
          int fn = s.fn[s.parent[f]];
          columnOf[f][j] = j < cn ? (int) ((long) j * fn / cn) : fn + j - cn;
        }
      }
      var map = new FrontDevices(devices, first, count, 1 + chance.nextInt(3));
      var one = SparseScheduler.schedule(s, random.options, 1);
      schedule = DeviceSchedule.of(one, map, random.options, (f, j) -> columnOf[f][j], 2);
    }

    DeviceChecker checker(String name) {
      return new DeviceChecker(name, random.stage, schedule, columnOf);
    }

    /** Whether Q is kept and the copy is read after the rounds alone. */
    boolean keptOnly(int to, Task.Pull copy) {
      int f = copy.front();
      int end = random.stage.columnTiles(f);
      return random.stage.keepQ
          && (copy.part() instanceof DevicePart.Tiles t && t.rowFrom() >= random.stage.outRows[f]
              || copy.part() instanceof DevicePart.Bundle b
                  && schedule.map().next(f, to, b.column() + 1, end) == end);
    }

    DeviceReplay replay() {
      return new DeviceReplay(schedule, random.stage.fronts);
    }
  }

  private static final int SEEDS = Integer.getInteger("test.iters", 150);

  @Test
  void whatATaskReadsIsOnItsDeviceInEveryOrder() {
    long copies = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      int[][][] versions = null;
      for (int devices = 1; devices <= 4; devices++) {
        var stage = new Stage(seed, devices);
        var random = new Random(seed);
        var orders = new ArrayList<IntUnaryOperator>();
        orders.add(random::nextInt);
        orders.add(ready -> ready - 1);
        orders.add(ready -> random.nextInt(8) == 0 ? 0 : ready - 1);
        String name = "seed " + seed + ", " + devices + " devices";
        DeviceChecker checker = stage.checker(name);
        DeviceReplay replay = stage.replay();
        replay.inOrder(checker);
        copies += replay.pulls();
        versions = versions == null ? checker.versions() : versions;
        checker.finish(versions);
        for (IntUnaryOperator order : orders) {
          checker = stage.checker(name);
          stage.replay().freely(order, checker);
          checker.finish(versions);
        }
      }
    }
    assertThat(copies).isGreaterThan(2_000);
  }

  /** A copy that is counted and not made: the checker sees the first task that misses it. */
  @Test
  void noCopyCouldBeLeftOut() {
    int left = 0;
    for (long seed = 1; seed <= 60; seed++) {
      var stage = new Stage(seed, 3);
      List<Pulled> all = new ArrayList<>();
      stage.replay().inOrder(new Without(null, all));
      for (int k = 0; k < all.size(); k += 1 + all.size() / 30) {
        Pulled missing = all.get(k);
        if (missing.pull.part() instanceof DevicePart.Block b && b.rowTo() == 0) {
          // Takes nothing but the state.
          continue;
        }
        if (stage.keptOnly(missing.to, missing.pull)) {
          continue;
        }
        var checker = new Without(missing, stage.checker("seed " + seed));
        assertThatThrownBy(() -> stage.replay().inOrder(checker))
            .as("seed %d without %s", seed, missing)
            .isInstanceOf(AssertionError.class);
        left++;
      }
    }
    assertThat(left).isGreaterThan(100);
  }

  /** A part taken by a device. */
  private record Pulled(int to, Task.Pull pull) {}

  /** Passes all on but one PULL, or collects these. */
  private record Without(Pulled missing, DeviceReplay.Work work, List<Pulled> all)
      implements DeviceReplay.Work {

    Without(Pulled missing, DeviceReplay.Work work) {
      this(missing, work, new ArrayList<>());
    }

    Without(Pulled missing, List<Pulled> all) {
      this(missing, null, all);
    }

    @Override
    public void task(int device, Task task) {
      boolean is = false;
      if (task instanceof Task.Pull p) {
        all.add(new Pulled(device, p));
        is =
            missing != null
                && device == missing.to
                && p.from() == missing.pull.from()
                && p.front() == missing.pull.front()
                && same(p.part(), missing.pull.part());
      }
      if (work != null && !is) {
        work.task(device, task);
      }
    }

    private static boolean same(DevicePart a, DevicePart b) {
      return a instanceof DevicePart.Bundle x && b instanceof DevicePart.Bundle y
          ? x.slot() == y.slot() && x.column() == y.column()
          : a.equals(b);
    }
  }

  @Test
  void oneDeviceHasTheListsOfOne() {
    for (long seed = 1; seed <= 40; seed++) {
      var stage = new Stage(seed, 1);
      var one = SparseScheduler.schedule(stage.random.stage, stage.random.options, 1);
      StageSchedule list = stage.schedule.of(0);
      byte[] expected = new byte[(int) one.tasks() * TaskLayout.TASK_BYTES];
      byte[] actual = new byte[(int) list.tasks() * TaskLayout.TASK_BYTES];
      one.write(0, one.rounds(), little(expected));
      list.write(0, list.rounds(), little(actual));
      assertThat(actual).as("seed %d", seed).isEqualTo(expected);
      assertThat(list.flops()).isEqualTo(one.flops());
      assertThat(stage.replay().pulls()).isZero();
    }
  }

  /** Devices share the flops of a stage, but for none. */
  @Test
  void devicesDoTogetherWhatOneDoes() {
    for (long seed = 1; seed <= 40; seed++) {
      var stage = new Stage(seed, 4);
      double one = SparseScheduler.schedule(stage.random.stage, stage.random.options, 1).flops();
      double sum = 0;
      for (int d = 0; d < 4; d++) {
        sum += stage.schedule.of(d).flops();
      }
      assertThat(sum).as("seed %d", seed).isEqualTo(one);
    }
  }

  private static ByteBuffer little(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  @Test
  void wrongDevicesAreNamed() {
    assertThatThrownBy(() -> new FrontDevices(2, new int[] {0, 1}, new int[] {1, 2}, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("front 1: devices 1 .. 2 of 2");
    assertThatThrownBy(() -> new FrontDevices(2, new int[] {0}, new int[] {1}, 0))
        .isInstanceOf(IllegalArgumentException.class);
    var random = new RandomStages(3, 4, 5);
    var one = SparseScheduler.schedule(random.stage, random.options, 1);
    var few = new FrontDevices(2, new int[] {0}, new int[] {1}, 1);
    assertThatThrownBy(() -> DeviceSchedule.of(one, few, random.options, (f, j) -> 0, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("1 fronts have devices, the stage has 4");
  }
}
