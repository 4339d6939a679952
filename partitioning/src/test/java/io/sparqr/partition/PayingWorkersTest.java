/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** How many workers a tree is cut for. */
class PayingWorkersTest {

  private static TreePartition seconds(double seconds) {
    return new TreePartition(List.of(), 0, new int[0], seconds, 0);
  }

  @Test
  void everySmallNumberIsTriedAndTheLargest() {
    assertThat(PayingWorkers.counts(1)).containsExactly(1);
    assertThat(PayingWorkers.counts(4)).containsExactly(1, 2, 3, 4);
    assertThat(PayingWorkers.counts(7)).containsExactly(1, 2, 3, 4, 6, 7);
    assertThat(PayingWorkers.counts(20)).containsExactly(1, 2, 3, 4, 6, 8, 12, 16, 20);
  }

  @Test
  void moreWorkersHaveToGainBeyondTheMargin() {
    double[] time = {0, 10, 9, 8.8, 7.6, 7.5, 6.6};
    PayingWorkers.Choice four =
        PayingWorkers.choose(4, "devices", k -> Optional.of(seconds(time[k])));
    // against one, which two and three do not beat by enough
    assertThat(four.workers()).isEqualTo(4);
    assertThat(four.reason()).isEqualTo("4 of 4 devices: predicted 7.60 s, on one 10.0 s");
    PayingWorkers.Choice three =
        PayingWorkers.choose(3, "devices", k -> Optional.of(seconds(12 - 1.5 * k)));
    assertThat(three.workers()).isEqualTo(3);
    PayingWorkers.Choice two =
        PayingWorkers.choose(2, "devices", k -> Optional.of(seconds(time[k])));
    assertThat(two.workers()).isEqualTo(1);
    assertThat(two.reason())
        .isEqualTo(
            "1 of 2 devices: predicted 10.0 s, with more of them 9.00 s, which does not pay");
    PayingWorkers.Choice six =
        PayingWorkers.choose(6, "executors", k -> Optional.of(seconds(time[k])));
    assertThat(six.workers()).isEqualTo(6);
  }

  @Test
  void numbersWithTooLittleMemoryAreLeftOut() {
    PayingWorkers.Choice c =
        PayingWorkers.choose(
            3, "executors", k -> k < 3 ? Optional.empty() : Optional.of(seconds(5)));
    assertThat(c.workers()).isEqualTo(3);
    assertThat(c.reason())
        .isEqualTo("3 of 3 executors: predicted 5.00 s, one has too little memory");
  }

  @Test
  void theFastestWorkersAreTaken() {
    var mixed =
        new ResourceModel(
            List.of(
                ResourceModel.Worker.cpu("slow", 1, 1),
                ResourceModel.Worker.cpu("a", 2, 1),
                ResourceModel.Worker.cpu("b", 2, 1)),
            1,
            0);
    assertThat(PayingWorkers.fastest(mixed, 1)).containsExactly(1);
    assertThat(PayingWorkers.fastest(mixed, 2)).containsExactly(1, 2);
    assertThat(mixed.only(1, 2).workers())
        .extracting(ResourceModel.Worker::name)
        .containsExactly("a", "b");
  }

  /** On one worker blocks that change the task cost time too. */
  @Test
  void blocksOnTheirWayCostTime() {
    SymbolicAnalysis a =
        SymbolicAnalyzer.analyze(
            Gallery.generate("cells2d60").pattern(), SymbolicOptions.defaults());
    var options = new PartitionOptions(2, 4, 2, 0);
    var fast = new ResourceModel(ResourceModel.uniform(1, 1e9, 1L << 40).workers(), 1e9, 0, 1e30);
    var slow = new ResourceModel(fast.workers(), 1e9, 0, 1e6);
    TreePartition quick = TreePartitioner.partition(a, fast, options);
    TreePartition late = TreePartitioner.partition(a, slow, options);
    TreeCost cost = new TreeCost(a, 1);
    double bytes =
        late.tasks().stream()
            .flatMapToInt(t -> java.util.Arrays.stream(t.inputs()))
            .mapToLong(c -> cost.blockBytes[c])
            .sum();
    assertThat(bytes).isPositive();
    assertThat(late.estimatedSeconds() - quick.estimatedSeconds())
        .isBetween(0.5 * bytes / 1e6, 2 * bytes / 1e6);
  }
}
