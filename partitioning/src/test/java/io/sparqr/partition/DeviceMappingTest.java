/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.Contents;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import io.sparqr.symbolic.TileModel;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Fronts of a task on several devices, as foretold. */
class DeviceMappingTest {

  private static final long SEEDS = Long.getLong("test.iters", 300);

  /** A random tree with fronts that grow towards the root, or a forest of single fronts. */
  private static DeviceWork random(long seed, boolean forest) {
    var random = new Random(seed);
    int n = 1 + random.nextInt(60);
    int[] parent = new int[n];
    double[] seconds = new double[n];
    double[] chain = new double[n];
    long[] front = new long[n];
    long[] block = new long[n];
    int[] most = new int[n];
    for (int f = 0; f < n; f++) {
      boolean root = forest || f == n - 1 || random.nextInt(20) == 0;
      parent[f] = root ? -1 : f + 1 + random.nextInt(Math.min(4, n - 1 - f));
      seconds[f] = 1e-3 * (f + 1) * (0.1 + random.nextDouble());
      chain[f] = seconds[f] * random.nextDouble();
      front[f] = random.nextInt(1 << 27);
      block[f] = front[f] / 3;
      most[f] = forest ? 1 : 1 + random.nextInt(6);
    }
    var link = random.nextBoolean() ? DeviceWork.Link.nvlink() : DeviceWork.Link.host();
    return new DeviceWork(parent, seconds, chain, front, block, most, 1L << 40, link);
  }

  @Test
  void everyFrontHasDevicesAndWhatIsForetoldIsAbovePathAndWork() {
    int shared = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      DeviceWork work = random(seed, false);
      for (int devices = 1; devices <= 5; devices++) {
        DeviceMapping m = new DeviceMapper(work, devices).map();
        double[] busy = new double[devices];
        double path = 0;
        double[] below = new double[work.fronts()];
        for (int f = 0; f < work.fronts(); f++) {
          assertThat(m.first()[f]).isNotNegative();
          assertThat(m.count()[f]).isBetween(1, Math.max(1, work.mostDevices()[f]));
          assertThat(m.first()[f] + m.count()[f]).isLessThanOrEqualTo(devices);
          for (int k = 0; k < m.count()[f]; k++) {
            busy[m.first()[f] + k] += work.seconds(f, m.count()[f]);
          }
          int p = work.parent()[f];
          below[f] += work.seconds(f, m.count()[f]);
          path = Math.max(path, below[f]);
          if (p >= 0) {
            double there = below[f] + (m.crosses(f, p) ? work.crossing(f) : 0);
            below[p] = Math.max(below[p], there);
          }
        }
        String what = "seed " + seed + ", " + devices + " devices";
        double rounding = 1 - 64 * Math.ulp(1.0);
        assertThat(m.pathSeconds()).as(what).isBetween(path * rounding, path / rounding);
        assertThat(m.seconds()).as(what).isGreaterThanOrEqualTo(path * rounding);
        for (int d = 0; d < devices; d++) {
          assertThat(m.busySeconds()[d]).as(what).isBetween(busy[d] * rounding, busy[d] / rounding);
          assertThat(m.seconds()).as(what).isGreaterThanOrEqualTo(busy[d] * rounding);
        }
        shared += m.shared();
        Contents.requireSame(new DeviceMapper(work, devices).map(), m, what);
      }
    }
    assertThat(shared).isGreaterThan(100);
  }

  @Test
  void oneDeviceHasNoIdleTimeAndMoreAreNeverForetoldSlower() {
    int several = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      DeviceWork work = random(seed, false);
      DeviceMapping one = new DeviceMapper(work, 1).map();
      double sum = Arrays.stream(work.seconds()).sum();
      assertThat(one.idleSeconds()).isLessThanOrEqualTo(64 * Math.ulp(sum));
      double last = one.seconds();
      for (int devices = 2; devices <= 6; devices++) {
        DeviceMapping.Choice c = DeviceMapping.choose(work, devices);
        int used = c.mapping().devices();
        assertThat(used).isLessThanOrEqualTo(devices);
        assertThat(c.mapping().seconds()).isLessThanOrEqualTo(last);
        assertThat(used == 1 || c.mapping().seconds() * 1.15 <= one.seconds()).isTrue();
        last = c.mapping().seconds();
        several += used > 1 ? 1 : 0;
      }
    }
    assertThat(several).isGreaterThan(100);
  }

  /** Halving adds at most the heaviest subtree to the share of either half. */
  @Test
  void withoutATreeEveryDeviceHasItsShareAndLittleMore() {
    for (long seed = 1; seed <= SEEDS; seed++) {
      DeviceWork work = random(seed, true);
      double sum = Arrays.stream(work.seconds()).sum();
      double heaviest = Arrays.stream(work.seconds()).max().orElseThrow();
      for (int devices = 2; devices <= 8; devices++) {
        int halvings = 32 - Integer.numberOfLeadingZeros(devices - 1);
        DeviceMapping m = new DeviceMapper(work, devices).map();
        assertThat(m.seconds())
            .as("seed %d, %d devices", seed, devices)
            .isLessThanOrEqualTo(
                ResourceModel.DEVICE_LEVEL_SECONDS + sum / devices + halvings * heaviest);
      }
    }
  }

  private static DeviceWork equal(int fronts, int root, double top, long memory) {
    int[] parent = new int[fronts];
    Arrays.setAll(parent, f -> f == fronts - 1 ? -1 : root < 0 ? f + 1 : root);
    double[] seconds = new double[fronts];
    Arrays.fill(seconds, 1);
    seconds[fronts - 1] = top;
    long[] bytes = new long[fronts];
    Arrays.fill(bytes, 1 << 20);
    int[] most = new int[fronts];
    Arrays.fill(most, 1);
    return new DeviceWork(
        parent, seconds, new double[fronts], bytes, bytes, most, memory, DeviceWork.Link.nvlink());
  }

  @Test
  void aChainTakesOneDeviceEqualSubtreesTakeOneEach() {
    DeviceMapping.Choice chain = DeviceMapping.choose(equal(9, -1, 1, 1L << 40), 4);
    assertThat(chain.mapping().devices()).isOne();
    assertThat(chain.reason())
        .isEqualTo(
            "1 of 4 devices: predicted 9.00 s, with more of them 9.01 s, which does not pay");
    DeviceMapping.Choice bush = DeviceMapping.choose(equal(9, 8, 0.1, 1L << 40), 4);
    assertThat(bush.mapping().devices()).isEqualTo(4);
    assertThat(bush.mapping().shared()).isZero();
    int[] of = new int[4];
    IntStream.range(0, 8).forEach(f -> of[bush.mapping().first()[f]]++);
    assertThat(of).containsExactly(2, 2, 2, 2);
    assertThat(bush.reason()).isEqualTo("4 of 4 devices: predicted 2.11 s, on one 8.10 s");
  }

  @Test
  void devicesThatDoNotHoldWhatOneHoldsAreNotTaken() {
    // One front alone: on two devices both have its image, and VT slots beside.
    var work =
        new DeviceWork(
            new int[] {-1},
            new double[] {1},
            new double[] {0.01},
            new long[] {9L << 20},
            new long[] {0},
            new int[] {8},
            10L << 20,
            DeviceWork.Link.nvlink());
    assertThat(DeviceMapping.choose(work, 2).mapping().devices()).isOne();
    var more =
        new DeviceWork(
            work.parent(),
            work.seconds(),
            work.chainSeconds(),
            work.frontBytes(),
            work.blockBytes(),
            work.mostDevices(),
            12L << 20,
            work.link());
    assertThat(DeviceMapping.choose(more, 2).mapping().shared()).isOne();
  }

  @Test
  void aSlowLinkSharesLess() {
    for (long seed = 1; seed <= 50; seed++) {
      DeviceWork w = random(seed, false);
      var slow = new DeviceWork.Link(1e6, 1e-3);
      var work =
          new DeviceWork(
              w.parent(),
              w.seconds(),
              w.chainSeconds(),
              w.frontBytes(),
              w.blockBytes(),
              w.mostDevices(),
              w.memoryBytes(),
              slow);
      DeviceMapping m = new DeviceMapper(work, 4).map();
      for (int f = 0; f < w.fronts(); f++) {
        assertThat(m.count()[f] == 1 || work.seconds(f, m.count()[f]) < work.seconds()[f]).isTrue();
      }
    }
  }

  @Test
  void aGridsTopIsSpreadAndItsSubtreesAreNot() {
    var a = Gallery.generate("gen:grad3d30").pattern();
    var options = SymbolicOptions.defaults().withOrdering(OrderingMethod.NESTED_DISSECTION);
    SymbolicAnalysis analysis = SymbolicAnalyzer.analyze(a, options);
    int[] fronts = IntStream.range(0, analysis.fronts()).toArray();
    // A slow device, on which fronts of this size are work.
    var device = new DeviceModel(2e10, 8e10, 1L << 37);
    DeviceWork work =
        DeviceWork.of(analysis, fronts, 1, TileModel.device(), device, DeviceWork.Link.nvlink());
    DeviceMapping m = DeviceMapping.choose(work, 2).mapping();
    assertThat(m.devices()).isEqualTo(2);
    assertThat(m.count()[fronts.length - 1]).isEqualTo(2);
    assertThat(m.shared()).isLessThan(20);
    double sum = Arrays.stream(work.seconds()).sum();
    assertThat(m.seconds()).isLessThan(sum / 1.5);
  }

  @Test
  void wrongInputIsNamed() {
    assertThatThrownBy(() -> DeviceMapping.choose(equal(3, 2, 1, 1), 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("0");
    assertThatThrownBy(() -> new DeviceWork.Link(0, 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(
            () ->
                new DeviceWork(
                    new int[] {0}, null, null, null, null, null, 1, DeviceWork.Link.host()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("front 0 comes after its parent 0");
  }
}
