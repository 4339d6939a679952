/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.sparqr.Contents;
import io.sparqr.backend.cuda.resident.DeviceSession;
import io.sparqr.backend.reference.DeviceBits;
import io.sparqr.backend.reference.RandomDevices;
import io.sparqr.backend.reference.ReferenceSubtreeFactorizer;
import io.sparqr.backend.schedule.FrontDevices;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.staged.executor.RoundExecutor;
import io.sparqr.backend.staged.layout.StageProgram;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.DeviceTimeline;
import io.sparqr.numeric.DeviceTimeline.Cause;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.TestMatrices;
import io.sparqr.numeric.WorkListener;
import io.sparqr.partition.DeviceModel;
import io.sparqr.partition.DeviceWork;
import io.sparqr.sparse.CsrMatrix;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Several devices give the bits of one: what every kind of device has to pass. */
abstract class DevicesContract {

  /** Medium fronts are tiled and small ones whole, so that every kind of task occurs. */
  static final SchedulerOptions MIXED =
      SchedulerOptions.defaults().withBundle(3).withSmallFronts(600, 24);

  static final SchedulerOptions TILED = MIXED.withBundle(8).withSmallFronts(0, 0);

  /** Tasks of the same structure, one after the other. */
  private static final int TASKS = 6;

  private final List<DeviceSessions.Lease> leases = new ArrayList<>();

  /** Sessions of this JVM's devices. */
  abstract DeviceSessions sessions();

  /** Numbers of devices for teams, a list for each team; the same number again: it takes turns. */
  abstract List<List<Integer>> teams();

  /** What compares column sums for an executor. */
  RoundExecutor summing(CudaDevicesExecutor executor) {
    return executor;
  }

  /** Rows of a dense front that is worth sharing. */
  int denseRows() {
    return 300;
  }

  @AfterEach
  void close() {
    leases.forEach(DeviceSessions.Lease::close);
  }

  private List<DeviceSession> acquire(List<Integer> ordinals) {
    var list = new ArrayList<DeviceSession>();
    for (int ordinal : ordinals) {
      DeviceSessions.Lease lease = sessions().acquire(ordinal);
      leases.add(lease);
      list.add(lease.session());
    }
    return list;
  }

  /** An executor that begins each stage with memory full of NaN. */
  final CudaDevicesExecutor executor(
      List<Integer> team, DeviceChoice choice, SchedulerOptions options) {
    return executor(team, choice, options, true);
  }

  /**
   * An executor.
   *
   * @param poisoned whether nothing of one stage is there in the next
   */
  final CudaDevicesExecutor executor(
      List<Integer> team, DeviceChoice choice, SchedulerOptions options, boolean poisoned) {
    var modes = new TestModes(poisoned, false, PIECE);
    return new CudaDevicesExecutor(acquire(team), choice, 0, 2, options, modes);
  }

  static DeviceChoice by(Function<StageProgram, FrontDevices> map) {
    return stage -> Optional.of(map.apply(stage));
  }

  /** Bytes of a piece of a list: small ones, so that launches begin before the last arrives. */
  private static final int PIECE = 4_000;

  static final DeviceChoice ONE = stage -> Optional.empty();

  final SubtreeFactor run(DeviceBits c, CudaDevicesExecutor executor, FactorOptions options) {
    try (var factorizer = new ReferenceSubtreeFactorizer(summing(executor))) {
      return c.run(factorizer, options);
    }
  }

  final SubtreeFactor one(DeviceBits c, SchedulerOptions options, FactorOptions factor) {
    return run(c, executor(List.of(0), ONE, options), factor);
  }

  /** Collects the timelines of all stages. */
  static final class Timelines implements WorkListener {
    final List<List<DeviceTimeline>> stages = new ArrayList<>();

    @Override
    public void done(double flops) {}

    @Override
    public boolean wantsTimelines() {
      return true;
    }

    @Override
    public void ran(List<DeviceTimeline> devices) {
      stages.add(devices);
    }
  }

  /** Only if they are asked for; then every task is in them, and bits are the same. */
  @Test
  void timelinesHaveEveryTaskOfEveryDevice() {
    for (DeviceBits c : DeviceBits.cases()) {
      var factor = new FactorOptions(c.tolerance(), 2, 0);
      var alone = new Timelines();
      CudaDevicesExecutor single = executor(List.of(0), ONE, MIXED);
      SubtreeFactor expected = run(c, single, factor.heardBy(alone));
      long tasks = 0;
      for (List<DeviceTimeline> stage : alone.stages) {
        assertThat(stage).hasSize(1);
        tasks += stage.get(0).tasks();
        assertThat(stage.get(0).share(Cause.PULL)).isZero();
        assertThat(stage.get(0).share(Cause.WAIT_DEVICE)).isZero();
      }
      assertThat(tasks).isEqualTo(expected.summary().tasks());
      for (List<Integer> team : teams()) {
        var map = new RandomDevices(team.size(), 2, 2, 4);
        CudaDevicesExecutor executor = executor(team, by(map), MIXED);
        var told = new Timelines();
        SubtreeFactor actual = run(c, executor, factor.heardBy(told));
        DeviceBits.assertSame(actual, expected, "timed, devices " + team);
        assertThat(told.stages).hasSameSizeAs(alone.stages);
        for (List<DeviceTimeline> stage : told.stages) {
          if (executor.together() > 0 && executor.again() == 0) {
            assertThat(stage).hasSize(team.size());
          }
          stage.forEach(DevicesContract::verify);
        }
        if (executor.again() == 0) {
          long all =
              told.stages.stream().flatMap(List::stream).mapToLong(DeviceTimeline::tasks).sum();
          // More tasks than on one device, because of those that take parts.
          assertThat(all).isGreaterThan(expected.summary().tasks());
          assertThat(told.stages.stream().flatMap(List::stream))
              .anyMatch(t -> t.share(Cause.PULL) > 0);
        }
        SubtreeFactor later = run(c, executor(team, by(map), MIXED), factor);
        DeviceBits.assertSame(later, expected, "not timed, devices " + team);
      }
    }
  }

  /** Blocks never have more time than there is. */
  private static void verify(DeviceTimeline t) {
    assertThat(t.slots()).isPositive();
    assertThat(t.share(Cause.NO_TASK)).isBetween(0.0, 1.0);
    // A device may have no task in a stage.
    assertThat(t.tasks() > 0 || t.seconds() == 0).isTrue();
    double work = Arrays.stream(Cause.values()).filter(Cause::work).mapToDouble(t::share).sum();
    assertThat(work).isBetween(0.0, 1.0);
  }

  @Test
  void randomMapsGiveTheBitsOfOne() {
    int together = 0;
    int again = 0;
    for (DeviceBits c : DeviceBits.cases()) {
      for (SchedulerOptions options : List.of(MIXED, TILED)) {
        var factor = new FactorOptions(c.tolerance(), 2, 0);
        SubtreeFactor expected = one(c, options, factor);
        for (List<Integer> team : teams()) {
          for (int shareOneIn = 0; shareOneIn <= 2; shareOneIn++) {
            long seed = 10 * team.size() + shareOneIn;
            var map = new RandomDevices(team.size(), shareOneIn, 2, seed);
            CudaDevicesExecutor executor = executor(team, by(map), options);
            SubtreeFactor actual = run(c, executor, factor);
            DeviceBits.assertSame(actual, expected, "devices " + team + ", seed " + seed);
            together += executor.together();
            again += executor.again();
          }
        }
      }
    }
    assertThat(together).as("stages that devices shared").isGreaterThan(20);
    assertThat(again).as("rows of dead columns would have crossed").isBetween(1, together - 10);
  }

  @Test
  void keptQAndSeveralStagesGiveTheBitsOfOne() {
    for (DeviceBits c : DeviceBits.cases()) {
      for (boolean keepQ : new boolean[] {false, true}) {
        for (int part : c.grid() ? new int[] {1, 4} : new int[] {1}) {
          var whole = new FactorOptions(c.tolerance(), 2, 0, keepQ);
          long bytes = one(c, MIXED, whole).summary().peakDeviceBytes();
          var factor = new FactorOptions(c.tolerance(), 2, part == 1 ? 0 : bytes / part, keepQ);
          SubtreeFactor expected = one(c, MIXED, factor);
          for (List<Integer> team : teams()) {
            CudaDevicesExecutor executor =
                executor(team, by(new RandomDevices(team.size(), 2, 2, part)), MIXED);
            SubtreeFactor actual = run(c, executor, factor);
            DeviceBits.assertSame(actual, expected, "devices " + team + ", 1/" + part);
            assertThat(executor.together()).isPositive();
            Contents.requireSame(actual.reflectors(), expected.reflectors(), "reflectors");
          }
        }
      }
    }
  }

  /** Whatever a stage leaves on the devices, the next task of the same structure is right. */
  @Test
  void theNextTaskFindsItsListsThere() {
    DeviceBits first = DeviceBits.cases().get(0);
    var factor = new FactorOptions(first.tolerance(), 2, 0);
    for (List<Integer> team : teams()) {
      CudaDevicesExecutor executor =
          executor(team, by(new RandomDevices(team.size(), 2, 2, 5)), MIXED, false);
      try (var factorizer = new ReferenceSubtreeFactorizer(summing(executor))) {
        for (int k = 0; k < TASKS; k++) {
          DeviceBits c = otherValues(first, k);
          SubtreeFactor expected = one(c, MIXED, factor);
          DeviceBits.assertSame(c.run(factorizer, factor), expected, "task " + k + " on " + team);
        }
      }
      assertThat(executor.together()).isEqualTo(TASKS);
    }
  }

  /** The same problem with other values, so that what an earlier task left is wrong. */
  static DeviceBits otherValues(DeviceBits c, int k) {
    var random = new Random(k);
    double[] values = c.a().values().clone();
    for (int e = 0; e < values.length; e++) {
      values[e] *= 1 + k * random.nextDouble();
    }
    CsrMatrix a = c.a();
    var other = new CsrMatrix(a.rows(), a.columns(), a.rowStart(), a.columnIndex(), values);
    return new DeviceBits(other, c.analysis(), c.rhs(), c.tolerance(), c.grid());
  }

  /** A front that is nearly all of the problem, by the width that the product takes. */
  @Test
  void aDenseFrontIsSharedByAll() {
    int rows = denseRows();
    DeviceBits c = DeviceBits.of(TestMatrices.dense(rows, rows * 3 / 4, new Random(8)), 1, false);
    for (SchedulerOptions options : List.of(TILED, MIXED)) {
      var factor = new FactorOptions(c.tolerance(), 2, 0);
      SubtreeFactor expected = one(c, options, factor);
      for (List<Integer> team : teams()) {
        int n = team.size();
        var choice =
            by(
                p -> {
                  int[] all = new int[p.fronts()];
                  Arrays.fill(all, n);
                  return new FrontDevices(n, new int[p.fronts()], all, n == 2 ? 1 : 2);
                });
        CudaDevicesExecutor executor = executor(team, choice, options);
        DeviceBits.assertSame(run(c, executor, factor), expected, "devices " + team);
        assertThat(executor.together()).isEqualTo(1);
      }
    }
  }

  /** Devices by the plan, for a model so slow that the grid's fronts pay. */
  @Test
  void theMappingOfThePlanGivesTheBitsOfOne() {
    DeviceBits c = DeviceBits.of(Gallery.generate("gen:cells3d7"), 1, true);
    var factor = new FactorOptions(c.tolerance(), 2, 0);
    SubtreeFactor expected = one(c, MIXED, factor);
    var slow = new DeviceModel(1e7, 8e9, 1L << 37);
    for (List<Integer> team : teams()) {
      var planned = new PlannedDevices(team.size(), slow, DeviceWork.Link.nvlink(), MIXED);
      CudaDevicesExecutor executor = executor(team, planned, MIXED);
      DeviceBits.assertSame(run(c, executor, factor), expected, "devices " + team);
      assertThat(executor.together()).isPositive();
    }
  }

  @Test
  void oneDeviceTwiceBesideAnotherIsRefused() {
    assumeThat(teams()).anyMatch(team -> team.contains(1));
    assertThatThrownBy(() -> executor(List.of(0, 1, 0), ONE, MIXED))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("3 parts of a stage on 2 devices: on one, or on as many devices");
  }
}
