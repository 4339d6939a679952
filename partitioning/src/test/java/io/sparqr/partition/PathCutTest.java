/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Cuts along the heaviest path, against those of the search from the leaves up. */
class PathCutTest {

  private static final double RATE = 2e10;
  private static final long MEMORY = 4L << 30;
  private static final PartitionOptions OPTIONS = PartitionOptions.defaults();

  private static SymbolicAnalysis spread(String problem) {
    SymbolicAnalysis given =
        SymbolicAnalyzer.analyze(Gallery.generate(problem).pattern(), SymbolicOptions.defaults());
    return SymbolicAnalyzer.spread(given).orElse(given);
  }

  private static TreePartition fromTheLeavesUp(SymbolicAnalysis s, ResourceModel resources) {
    var cost = new TreeCost(s, 1, true, 0);
    TreePartition best = TreeCut.of(cost, resources, OPTIONS, 1, 1, 0);
    for (int levels = 2; levels <= OPTIONS.maxLevels(); levels++) {
      for (double caution : new double[] {1, 1.5, 2.5}) {
        TreePartition cut = TreeCut.of(cost, resources, OPTIONS, levels, caution, 0);
        best = cut.estimatedSeconds() < best.estimatedSeconds() ? cut : best;
      }
    }
    return best;
  }

  /** Flops one after the other: of each level's busiest worker, over all. */
  private static double serial(TreePartition cut, int workers) {
    double sum = 0;
    double all = 0;
    for (int l = 0; l < cut.levels(); l++) {
      double[] load = new double[workers];
      for (SubtreeTask t : cut.level(l)) {
        load[t.worker()] += t.flops();
        all += t.flops();
      }
      sum += Arrays.stream(load).max().orElseThrow();
    }
    return sum / all;
  }

  private static void requireSound(SymbolicAnalysis s, TreePartition cut) {
    var fronts = new ArrayList<Integer>();
    for (SubtreeTask t : cut.tasks()) {
      Arrays.stream(t.fronts()).forEach(fronts::add);
      for (int f : t.inputs()) {
        assertThat(cut.tasks().get(cut.taskOf(f)).level()).isLessThan(t.level());
        assertThat(cut.taskOf(s.parent(f))).isEqualTo(t.id());
      }
    }
    assertThat(fronts)
        .containsExactlyInAnyOrderElementsOf(IntStream.range(0, s.fronts()).boxed().toList());
  }

  @ParameterizedTest
  @CsvSource({"gen:nug15:rand, 2, 0.6", "gen:cells3d40, 2, 0.56", "gen:cells3d40, 4, 0.45"})
  void theHeavyTopIsFactoredBesideTheRest(String problem, int workers, double most) {
    SymbolicAnalysis s = spread(problem);
    var resources = ResourceModel.uniform(workers, RATE, MEMORY);
    TreePartition given = fromTheLeavesUp(s, resources);
    TreePartition cut = TreePartitioner.partition(s, resources, OPTIONS);
    requireSound(s, cut);
    assertThat(serial(cut, workers)).isLessThan(most).isLessThan(serial(given, workers));
    assertThat(cut.estimatedSeconds()).isLessThan(0.97 * given.estimatedSeconds());
    assertThat(cut.levels()).isBetween(2, OPTIONS.maxLevels());
    TreePartition again = TreePartitioner.partition(s, resources, OPTIONS);
    for (int f = 0; f < s.fronts(); f++) {
      assertThat(again.taskOf(f)).as("the same each time").isEqualTo(cut.taskOf(f));
    }
    for (SubtreeTask t : cut.tasks()) {
      double other = t.worker() == 0 || t.level() == 0 ? Double.MAX_VALUE : t.flops();
      assertThat(other).as("task %d", t.id()).isGreaterThanOrEqualTo(0.9 * OPTIONS.minTaskFlops());
    }
  }

  @Test
  void whereWorkersDifferOrAreDevicesTheOtherSearchDecides() {
    SymbolicAnalysis s = spread("gen:cells3d30");
    var cost = new TreeCost(s, 1, true, 0);
    for (ResourceModel.Worker second :
        List.of(
            ResourceModel.Worker.cpu("slow", RATE / 2, MEMORY),
            ResourceModel.Worker.cpu("small", RATE, MEMORY / 2),
            new ResourceModel.Worker("device", RATE, 4e9, MEMORY, true))) {
      var mixed =
          new ResourceModel(
              List.of(ResourceModel.Worker.cpu("first", RATE, MEMORY), second), 1e9, 0.1);
      TreePartition given = TreeCut.of(cost, mixed, OPTIONS, 1, 1, 0);
      assertThat(PathCut.orBetter(given, cost, mixed, OPTIONS, 0))
          .as(second.name())
          .isSameAs(given);
    }
    var one = ResourceModel.uniform(1, RATE, MEMORY);
    TreePartition alone = TreeCut.of(cost, one, OPTIONS, 1, 1, 0);
    assertThat(PathCut.orBetter(alone, cost, one, OPTIONS, 0)).isSameAs(alone);
  }

  @Test
  void aThousandWorkersAreNoTrouble() {
    SymbolicAnalysis s = spread("gen:cells3d30");
    var resources = ResourceModel.uniform(1000, 1e8, MEMORY);
    TreePartition cut = TreePartitioner.partition(s, resources, OPTIONS);
    requireSound(s, cut);
    assertThat(cut.estimatedSeconds())
        .isLessThanOrEqualTo(fromTheLeavesUp(s, resources).estimatedSeconds());
  }
}
