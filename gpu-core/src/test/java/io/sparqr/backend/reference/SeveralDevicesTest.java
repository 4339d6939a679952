/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.reference;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Contents;
import io.sparqr.Sampled;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.staged.layout.DeviceStage;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.SubtreeFactor;
import io.sparqr.numeric.SubtreeFactorizer;
import io.sparqr.numeric.SubtreeFactorizerContract;
import io.sparqr.partition.DeviceMapping;
import io.sparqr.partition.DeviceModel;
import io.sparqr.partition.DeviceWork;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Several devices give the bits of one, whatever fronts they have and whoever comes first. */
class SeveralDevicesTest {

  /** Medium fronts are tiled and small ones whole, so that every kind of task occurs. */
  private static final SchedulerOptions MIXED =
      SchedulerOptions.defaults().withBundle(3).withSmallFronts(600, 24);

  private static final SchedulerOptions TILED = MIXED.withSmallFronts(0, 0);

  private static final long BYTES = 1L << 30;

  private static DevicesExecutor executor(
      SchedulerOptions options, int devices, int shareOneIn, long seed, IntUnaryOperator choice) {
    return new DevicesExecutor(
        options, new RandomDevices(devices, shareOneIn, 2, seed), BYTES, choice);
  }

  @Nested
  @Sampled(oneIn = 3)
  class WholeFrontsOnTwo extends SubtreeFactorizerContract {
    @Override
    protected boolean solves() {
      return true;
    }

    @Override
    protected SubtreeFactorizer create() {
      return new ReferenceSubtreeFactorizer(executor(MIXED, 2, 0, 1, new Random(1)::nextInt));
    }
  }

  @Nested
  @Sampled(oneIn = 3)
  class SharedByThree extends SubtreeFactorizerContract {
    @Override
    protected boolean solves() {
      return true;
    }

    @Override
    protected SubtreeFactorizer create() {
      return new ReferenceSubtreeFactorizer(executor(TILED, 3, 1, 2, new Random(2)::nextInt));
    }
  }

  @Nested
  @Sampled(oneIn = 3)
  class SomeSharedOverFour extends SubtreeFactorizerContract {
    @Override
    protected boolean solves() {
      return true;
    }

    @Override
    protected SubtreeFactorizer create() {
      return new ReferenceSubtreeFactorizer(executor(MIXED, 4, 2, 3, new Random(3)::nextInt));
    }
  }

  /** Orders of devices that run beside each other: by chance, one far ahead, one far behind. */
  private static List<IntUnaryOperator> orders(long seed) {
    var random = new Random(seed);
    var orders = new ArrayList<IntUnaryOperator>();
    orders.add(null);
    orders.add(random::nextInt);
    orders.add(ready -> ready - 1);
    orders.add(ready -> 0);
    orders.add(ready -> random.nextInt(8) == 0 ? 0 : ready - 1);
    return orders;
  }

  @Test
  void everyOrderOnEveryNumberOfDevicesGivesTheBitsOfOne() {
    int shared = 0;
    int crossed = 0;
    int repeated = 0;
    int dropped = 0;
    for (DeviceBits c : DeviceBits.cases()) {
      for (SchedulerOptions options : List.of(MIXED, TILED.withBundle(2).withPipelining(false))) {
        var factor = new FactorOptions(c.tolerance(), 1, 0);
        SubtreeFactor expected = c.run(new ReferenceSubtreeFactorizer(options), factor);
        for (int devices = 2; devices <= 4; devices++) {
          for (int shareOneIn = 0; shareOneIn <= 2; shareOneIn++) {
            long seed = 10 * devices + shareOneIn;
            for (IntUnaryOperator order : orders(seed)) {
              DevicesExecutor executor = executor(options, devices, shareOneIn, seed, order);
              SubtreeFactor actual = c.run(new ReferenceSubtreeFactorizer(executor), factor);
              String what = "%d devices, seed %d".formatted(devices, seed);
              DeviceBits.assertSame(actual, expected, what);
              shared += executor.shared;
              crossed += executor.crossed;
              repeated += executor.repeated;
              boolean full = expected.summary().rank() == c.a().columns();
              dropped += full ? 0 : executor.stages - executor.repeated;
              assertThat(full && executor.repeated > 0).as(what).isFalse();
            }
          }
        }
      }
    }
    assertThat(shared).isGreaterThan(100);
    assertThat(crossed).isGreaterThan(100);
    assertThat(repeated).as("rows of dead columns would have crossed").isGreaterThan(10);
    assertThat(dropped).as("dead columns were dropped where they were").isGreaterThan(10);
  }

  /** Work by the plan's model, in which fronts of a few tiles may be shared too. */
  private static DeviceWork sharable(DeviceBits c, int[] fronts, DeviceModel device) {
    var link = DeviceWork.Link.nvlink();
    var tiles = SchedulerOptions.defaults().tileModel();
    DeviceWork w = DeviceWork.of(c.analysis(), fronts, c.rhs(), tiles, device, link);
    int[] most = new int[fronts.length];
    Arrays.setAll(most, f -> Math.max(1, c.analysis().fn(f) / 32));
    return new DeviceWork(
        w.parent(),
        w.seconds(),
        w.chainSeconds(),
        w.frontBytes(),
        w.blockBytes(),
        most,
        w.memoryBytes(),
        link);
  }

  /** Devices by the plan's mapping, for devices so slow that the grid's fronts pay. */
  @Test
  void mappedFrontsGiveTheBitsOfOneAndMostOfThemStayWhole() {
    DeviceBits c = DeviceBits.of(Gallery.generate("gen:cells3d9"), 1, true);
    int[] fronts = IntStream.range(0, c.analysis().fronts()).toArray();
    var slow = new DeviceModel(1e8, 8e10, 1L << 37);
    SchedulerOptions options = SchedulerOptions.defaults();
    var factor = new FactorOptions(c.tolerance(), 1, 0);
    SubtreeFactor expected = c.run(new ReferenceSubtreeFactorizer(options), factor);
    for (int devices = 2; devices <= 4; devices++) {
      DeviceWork work = sharable(c, fronts, slow);
      DeviceMapping mapping = DeviceMapping.choose(work, devices).mapping();
      assertThat(mapping.devices()).isGreaterThan(1);
      var random = new Random(devices);
      var executor =
          new DevicesExecutor(
              options, p -> DeviceStage.devices(mapping, fronts, p), BYTES, random::nextInt);
      SubtreeFactor actual = c.run(new ReferenceSubtreeFactorizer(executor), factor);
      DeviceBits.assertSame(actual, expected, devices + " devices");
      assertThat(executor.shared).isBetween(1, fronts.length / 4);
      assertThat(executor.crossed).isBetween(2, fronts.length / 2);
      assertThat(executor.repeated).isZero();
    }
  }

  @Test
  void severalStagesAndKeptQGiveTheBitsOfOne() {
    for (DeviceBits c : DeviceBits.cases()) {
      for (boolean keepQ : new boolean[] {false, true}) {
        SubtreeFactorizer one = new ReferenceSubtreeFactorizer(MIXED);
        var whole = new FactorOptions(c.tolerance(), 1, 0, keepQ);
        long bytes = c.run(one, whole).summary().peakDeviceBytes();
        for (int part : new int[] {1, 4}) {
          var options = new FactorOptions(c.tolerance(), 1, part == 1 ? 0 : bytes / part, keepQ);
          if (part > 1 && !c.grid()) {
            continue;
          }
          SubtreeFactor expected = c.run(new ReferenceSubtreeFactorizer(MIXED), options);
          for (int devices = 2; devices <= 3; devices++) {
            var random = new Random(devices);
            DevicesExecutor executor = executor(MIXED, devices, 2, devices, random::nextInt);
            SubtreeFactor actual = c.run(new ReferenceSubtreeFactorizer(executor), options);
            DeviceBits.assertSame(actual, expected, devices + " devices, 1/" + part);
            assertThat(executor.copies).isPositive();
            Contents.requireSame(actual.reflectors(), expected.reflectors(), "reflectors");
          }
        }
      }
    }
  }
}
