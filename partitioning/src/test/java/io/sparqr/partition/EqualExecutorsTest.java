/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.Sampled;
import io.sparqr.symbolic.Patterns;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What executors that nobody has take, and from which size of problem on they pay. */
class EqualExecutorsTest {

  private static final SymbolicAnalysis S =
      SymbolicAnalyzer.analyze(
          Patterns.grid(100), SymbolicOptions.defaults().withGiven(Patterns.dissectGrid(100)));

  private static final PartitionOptions OPTIONS = PartitionOptions.defaults();

  private static ResourceModel.Worker cpu(double flops, double bytes) {
    return new ResourceModel.Worker("", flops, bytes, 1L << 40, false);
  }

  private static EqualExecutors gpus(int devices) {
    return new EqualExecutors(ResourceModel.Worker.gpu("", DeviceModel.reference()), devices);
  }

  @Test
  void aDeviceIsAWorker() {
    ResourceModel three = gpus(2).model(3);
    assertThat(three.workers()).hasSize(6).allMatch(ResourceModel.Worker::device);
    assertThat(three.workers().get(3).name()).isEqualTo("executor 1, device 1");
    assertThat(three.blockBytesPerSecond()).isEqualTo(ResourceModel.DEVICE_BLOCKS);
    ResourceModel host = new EqualExecutors(cpu(1e10, 4e9), 0).model(3);
    assertThat(host.workers()).hasSize(3);
    assertThat(host.blockBytesPerSecond()).isInfinite();
    assertThatThrownBy(() -> new EqualExecutors(cpu(1e10, 4e9), 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("1 devices an executor, and a worker that is ");
    assertThatThrownBy(() -> gpus(0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> gpus(-1)).isInstanceOf(IllegalArgumentException.class);
  }

  /** Without devices by the workers themselves, with devices by the cores beside them. */
  @Test
  void rowsArePartOfTheSeconds() {
    for (EqualExecutors like :
        new EqualExecutors[] {new EqualExecutors(cpu(1e10, 4e9), 0), gpus(2)}) {
      EqualExecutors.Forecast f = like.forecast(S, OPTIONS, 3);
      double rows = f.seconds() - f.cut().partition().estimatedSeconds();
      // 0.15 us an entry; none are combined
      double expected = 1.5e-7 * S.nonzeros() / 3;
      // A difference of two sums.
      assertThat(rows).isCloseTo(expected, within(4 * Math.ulp(f.seconds())));
      assertThat(f.partition().estimatedSeconds()).isEqualTo(f.seconds());
    }
  }

  /** The choice is that of a solve: on devices by the factorization alone. */
  @Sampled(oneIn = 3)
  @Test
  void fewerAreUsedWhereMoreWouldLose() {
    var slow = new EqualExecutors(cpu(S.flops() / 10, 4e9), 0);
    var small = new PartitionOptions(2, 4, 1, 0);
    PayingWorkers.Choice some = slow.paying(S, small, 100);
    assertThat(some.workers()).isBetween(2, 99);
    assertThat(some.cut().estimatedSeconds())
        .isEqualTo(slow.forecast(S, small, some.workers()).seconds());
    PayingWorkers.Choice one = gpus(4).paying(S, OPTIONS, 20);
    assertThat(one.workers()).isEqualTo(1);
    assertThat(one.reason()).startsWith("1 of 20 executors: predicted ");
  }

  /** Work grows by the cube of what bytes grow by the square of. */
  @Test
  void aLargerProblemTakesWhatItsFlopsAndBytesTake() {
    var byFlops = new EqualExecutors(cpu(1e6, 1e300), 0, 1e300, 0);
    var byBytes = new EqualExecutors(cpu(1e300, 1e6), 0, 1e300, 0);
    // A front also takes a time of its own, which is the same for a large one.
    assertThat(growth(byFlops)).isCloseTo(8, within(S.fronts() * Math.ulp(8.0)));
    assertThat(growth(byBytes)).isCloseTo(4, within(S.fronts() * Math.ulp(4.0)));
  }

  /** By what the seconds that depend on the size grow, from work 1 to 8 to 64. */
  private static double growth(EqualExecutors like) {
    double[] seconds =
        IntStream.of(1, 8, 64)
            .mapToDouble(work -> like.forecast(S, OPTIONS, 1, work).seconds())
            .toArray();
    return (seconds[2] - seconds[1]) / (seconds[1] - seconds[0]);
  }

  /**
   * A subtree of little work gets no task of its own, and one as heavy in a larger problem does.
   */
  @Test
  void theLeastWorkOfATaskIsThatOfTheLargerProblem() {
    var like = new EqualExecutors(cpu(1e8, 4e9), 0);
    var large = new PartitionOptions(2, 4, 1, S.flops() / 2);
    assertThat(like.forecast(S, large, 4, 1).cut().partition().tasks()).hasSize(1);
    assertThat(like.forecast(S, large, 4, 64).cut().partition().tasks()).hasSizeGreaterThan(2);
  }

  @Sampled(oneIn = 3)
  @Test
  void aNumberPaysFromTheLeastSizeAtWhichItIsFasterThanAllFewer() {
    var like = new EqualExecutors(cpu(1e8, 4e9), 0);
    int[] counts = PayingSizes.counts(12);
    assertThat(counts).containsExactly(1, 2, 4, 8, 12);
    assertThat(PayingSizes.counts(1)).containsExactly(1);
    PayingSizes sizes = PayingSizes.of(like, S, OPTIONS, counts);
    assertThat(sizes.work()[0]).isEqualTo(1.0 / PayingSizes.LEAST);
    assertThat(Arrays.stream(sizes.work()).filter(Double::isFinite).count()).isGreaterThan(2);
    for (double w = 1.0 / PayingSizes.LEAST; w <= PayingSizes.MOST; w *= 4) {
      double work = w;
      double[] seconds =
          IntStream.of(counts)
              .mapToDouble(n -> like.forecast(S, OPTIONS, n, work).seconds())
              .toArray();
      int chosen = 0;
      for (int i = 1; i < counts.length; i++) {
        chosen = seconds[i] * PayingWorkers.LEAST_GAIN <= seconds[chosen] ? i : chosen;
      }
      assertThat(sizes.work()[chosen]).as("%d at %s", counts[chosen], w).isLessThanOrEqualTo(w);
      for (int i = chosen + 1; i < counts.length; i++) {
        assertThat(sizes.work()[i]).as("%d at %s", counts[i], w).isNotEqualTo(w);
      }
    }
    assertThat(sizes.toString().lines()).hasSize(counts.length);
  }
}
