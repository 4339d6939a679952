/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import io.sparqr.Contents;
import io.sparqr.Sampling;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.Amalgamation;
import io.sparqr.symbolic.Patterns;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Properties of every cut, and good cuts of known trees. */
class TreePartitionerPropertyTest {

  private static final long SEED = Long.getLong("test.seed", 42L);

  @Test
  void everyCutIsConsistent() {
    for (int it : Sampling.numbers("test.iters", 300).toArray()) {
      Random random = new Random(SEED + it);
      SymbolicAnalysis s = randomAnalysis(random);
      List<ResourceModel.Worker> workers = new ArrayList<>();
      int count = 1 + random.nextInt(5);
      for (int w = 0; w < count; w++) {
        workers.add(
            new ResourceModel.Worker(
                "worker " + w,
                1e3 * (1 + random.nextInt(50)),
                1e3 * (1 + random.nextInt(50)),
                random.nextBoolean() ? 1L << 40 : 1L << (6 + random.nextInt(12)),
                random.nextBoolean()));
      }
      ResourceModel model =
          new ResourceModel(workers, 1e6, random.nextBoolean() ? 0.1 : 1e-4 * random.nextInt(10));
      int least = 1 + random.nextInt(4);
      PartitionOptions options =
          new PartitionOptions(
              1 + random.nextInt(3),
              least + random.nextInt(3),
              least,
              random.nextBoolean() ? 0 : 100 * random.nextInt(100));
      TreePartition p = TreePartitioner.partition(s, model, options);
      check(s, p, count, "seed " + SEED + ", iteration " + it);
      assertThat(p.levels()).isLessThanOrEqualTo(options.maxLevels());
      assertThat(p.levels())
          .as("seed %d, iteration %d: height %d", SEED, it, height(s))
          .isGreaterThanOrEqualTo(Math.min(options.minLevels(), height(s)));
      Contents.requireSame(TreePartitioner.partition(s, model, options), p, "again");
    }
  }

  @Test
  void oneWorkerGetsOneTask() {
    SymbolicAnalysis s = grid(40);
    TreePartition p =
        TreePartitioner.partition(
            s, ResourceModel.uniform(1, 1e6, 1L << 40), PartitionOptions.defaults());
    assertThat(p.levels()).isEqualTo(1);
    assertThat(p.tasks()).hasSize(1);
    assertThat(p.tasks().get(0).fronts()).hasSize(s.fronts());
  }

  @Test
  void forcedLevelsComeOutEvenOnOneWorker() {
    SymbolicAnalysis s = grid(40);
    for (int levels = 2; levels <= 4; levels++) {
      PartitionOptions options = new PartitionOptions(2, levels, levels, 0);
      for (int workers = 1; workers <= 2; workers++) {
        TreePartition p =
            TreePartitioner.partition(s, ResourceModel.uniform(workers, 1e9, 1L << 40), options);
        assertThat(p.levels()).isEqualTo(levels);
        check(s, p, workers, "grid 40, levels " + levels);
      }
    }
  }

  @Test
  void aStarOfManyLeavesIsCutInTime() {
    SymbolicAnalysis s =
        SymbolicAnalyzer.analyze(
            Patterns.arrow(200_000),
            SymbolicOptions.defaults()
                .withOrdering(OrderingMethod.NATURAL)
                .withAmalgamation(Amalgamation.none()));
    PartitionOptions options = new PartitionOptions(2, 4, 1, 0);
    ResourceModel many = ResourceModel.uniform(64, 1e6, 1L << 40);
    TreePartition p =
        assertTimeout(Duration.ofSeconds(20), () -> TreePartitioner.partition(s, many, options));
    assertThat(p.levels()).isEqualTo(2);
    assertThat(p.tasks().size()).isBetween(64, 200);
    assertThat(p.estimatedSeconds()).isLessThan(2 * p.lowerBoundSeconds() + 0.2);
  }

  @Test
  void noFrontsNoTasks() {
    SymbolicAnalysis s =
        SymbolicAnalyzer.analyze(Patterns.tridiagonal(1), SymbolicOptions.defaults());
    assertThat(s.fronts()).isZero();
    TreePartition p =
        TreePartitioner.partition(
            s, ResourceModel.uniform(3, 1e9, 1L << 40), new PartitionOptions(2, 4, 2, 0));
    check(s, p, 3, "only a singleton");
    assertThat(p.levels()).isZero();
    assertThat(p.estimatedSeconds()).isZero();
  }

  @Test
  void littleWorkIsNotSpread() {
    SymbolicAnalysis s = grid(20);
    TreePartition p =
        TreePartitioner.partition(
            s, ResourceModel.uniform(16, 1e10, 1L << 40), PartitionOptions.defaults());
    assertThat(p.tasks()).hasSize(1);
  }

  @Test
  void fourWorkersShareABalancedTree() {
    SymbolicAnalysis s = grid(100);
    double flops = s.flops();
    // A second's work for one worker, so that a level's 1 ms hardly counts.
    ResourceModel four =
        new ResourceModel(ResourceModel.uniform(4, flops, 1L << 40).workers(), 1e12, 1e-3);
    TreePartition p = TreePartitioner.partition(s, four, new PartitionOptions(2, 4, 1, 0));
    check(s, p, 4, "grid 100");
    assertThat(p.levels()).isBetween(2, 4);
    assertThat(p.estimatedSeconds()).isLessThan(0.75).isGreaterThan(p.lowerBoundSeconds());
    double[] base = new double[4];
    p.level(0).forEach(t -> base[t.worker()] += t.flops());
    assertThat(Arrays.stream(base).min().orElse(0)).isGreaterThan(0.05 * flops);
  }

  @Test
  void theFastWorkerOfAMixedPairTakesMost() {
    SymbolicAnalysis s = grid(100);
    double flops = s.flops();
    ResourceModel mixed =
        new ResourceModel(
            List.of(
                ResourceModel.Worker.cpu("cpu", flops, 1L << 40),
                ResourceModel.Worker.gpu("gpu", new DeviceModel(10 * flops, 1e12, 1L << 40))),
            1e12,
            1e-3);
    TreePartition p = TreePartitioner.partition(s, mixed, new PartitionOptions(2, 4, 1, 0));
    double[] load = new double[2];
    p.tasks().forEach(t -> load[t.worker()] += t.flops());
    assertThat(load[1]).isGreaterThan(3 * load[0]);
  }

  @Test
  void theTopSeparatorsGoToTheGpuAndCpusTakeAShareOfTheSubtreesBelow() {
    SymbolicAnalysis s =
        SymbolicAnalyzer.analyze(
            Gallery.generate("grad3d24").pattern(),
            SymbolicOptions.defaults().withOrdering(OrderingMethod.NESTED_DISSECTION));
    // Rates of 1 CPU core and a chip a hundred times as fast on large fronts, four on small ones.
    ResourceModel.Worker cpu = ResourceModel.Worker.cpu("cpu", 2e10, 1L << 40);
    ResourceModel.Worker gpu =
        ResourceModel.Worker.gpu("gpu", new DeviceModel(2e12, 4e9, 1L << 40));
    for (int at = 0; at < 3; at++) {
      List<ResourceModel.Worker> workers = new ArrayList<>(List.of(cpu, cpu));
      workers.add(at, gpu);
      ResourceModel mixed = new ResourceModel(workers, 1e9, 1e-3);
      TreePartition p = TreePartitioner.partition(s, mixed, new PartitionOptions(2, 4, 1, 0));
      check(s, p, 3, "grad3d24, GPU at " + at);
      int gpuWorker = at;
      int top = p.levels() - 1;
      assertThat(top).isPositive();
      assertThat(p.level(top)).as("GPU at %d", at).allMatch(t -> t.worker() == gpuWorker);
      assertThat(p.level(0)).as("GPU at %d", at).anyMatch(t -> t.worker() != gpuWorker);
      double alone =
          TreePartitioner.partition(
                  s, new ResourceModel(List.of(gpu), 1e9, 1e-3), PartitionOptions.defaults())
              .estimatedSeconds();
      assertThat(p.estimatedSeconds()).isLessThan(alone);
    }
  }

  @Test
  void aDeviceThatMovesBytesSlowlyGetsLargeFrontsOnly() {
    SymbolicAnalysis s = grid(60);
    ResourceModel.Worker cpu = ResourceModel.Worker.cpu("cpu", 2e10, 1L << 40);
    ResourceModel.Worker slow =
        ResourceModel.Worker.gpu("gpu", new DeviceModel(1e13, 1e6, 1L << 40));
    TreePartition p =
        TreePartitioner.partition(
            s, new ResourceModel(List.of(slow, cpu), 1e9, 1e-4), new PartitionOptions(2, 4, 1, 0));
    assertThat(p.tasks()).allMatch(t -> t.worker() == 1);
  }

  @Test
  void transfersCountWhereTheNetworkIsSlow() {
    SymbolicAnalysis s = grid(100);
    double flops = s.flops();
    ResourceModel.Worker one = ResourceModel.Worker.cpu("one", flops, 1L << 40);
    ResourceModel.Worker two = ResourceModel.Worker.cpu("two", flops, 1L << 40);
    PartitionOptions options = new PartitionOptions(2, 4, 1, 0);
    List<ResourceModel.Worker> pair = List.of(one, two);
    TreePartition near = TreePartitioner.partition(s, new ResourceModel(pair, 1e12, 1e-3), options);
    TreePartition far = TreePartitioner.partition(s, new ResourceModel(pair, 1e3, 1e-3), options);
    assertThat(near.tasks()).anyMatch(t -> t.worker() == 0).anyMatch(t -> t.worker() == 1);
    assertThat(far.tasks().stream().map(SubtreeTask::worker).distinct()).hasSize(1);
  }

  @Test
  void aWorkerThatCannotHoldTheTreeIsPassedOver() {
    SymbolicAnalysis s = grid(100);
    ResourceModel.Worker small = ResourceModel.Worker.cpu("small", 1e10, 1_000_000);
    ResourceModel.Worker large = ResourceModel.Worker.cpu("large", 1e9, 1L << 40);
    ResourceModel model = new ResourceModel(List.of(small, large), 1e12, 1e-4);
    TreePartition p = TreePartitioner.partition(s, model, new PartitionOptions(2, 4, 1, 0));
    check(s, p, 2, "grid 100, one worker of little memory");
    assertThat(p.tasks())
        .allMatch(t -> t.peakBytes() <= model.workers().get(t.worker()).memoryBytes());
    assertThat(p.tasks()).anyMatch(t -> t.worker() == 0).anyMatch(t -> t.worker() == 1);
    ResourceModel little = new ResourceModel(List.of(small, large), 1e12, 0.1);
    assertThat(TreePartitioner.partition(s, little, PartitionOptions.defaults()).tasks())
        .allMatch(t -> t.worker() == 1);
  }

  private static SymbolicAnalysis grid(int k) {
    return SymbolicAnalyzer.analyze(
        Patterns.grid(k), SymbolicOptions.defaults().withGiven(Patterns.dissectGrid(k)));
  }

  private static SymbolicAnalysis randomAnalysis(Random random) {
    int n = 1 + random.nextInt(60);
    SparsityPattern a = Patterns.random(random, random.nextInt(90), n, 1 + random.nextInt(4));
    return SymbolicAnalyzer.analyze(
        a,
        SymbolicOptions.defaults()
            .withOrdering(OrderingMethod.NATURAL)
            .withAmalgamation(
                random.nextBoolean() ? Amalgamation.none() : Amalgamation.defaults()));
  }

  private static int height(SymbolicAnalysis s) {
    int[] height = new int[s.fronts()];
    int most = 0;
    for (int f = 0; f < s.fronts(); f++) {
      height[f] = Math.max(height[f], 1);
      most = Math.max(most, height[f]);
      if (s.parent(f) >= 0) {
        height[s.parent(f)] = Math.max(height[s.parent(f)], height[f] + 1);
      }
    }
    return most;
  }

  private static void check(SymbolicAnalysis s, TreePartition p, int workers, String name) {
    int[] seen = new int[s.fronts()];
    int lastLevel = 0;
    for (int t = 0; t < p.tasks().size(); t++) {
      SubtreeTask task = p.tasks().get(t);
      assertThat(task.id()).as(name).isEqualTo(t);
      assertThat(task.level()).as(name).isBetween(lastLevel, p.levels() - 1);
      lastLevel = task.level();
      assertThat(task.fronts()).as(name).isSorted().isNotEmpty();
      assertThat(task.worker()).as(name).isBetween(0, workers - 1);
      double flops = 0;
      for (int f : task.fronts()) {
        seen[f]++;
        assertThat(p.taskOf(f)).as(name).isEqualTo(t);
        flops += s.frontFlops(f);
      }
      assertThat(task.flops()).as(name).isEqualTo(flops);
      int id = t;
      int[] in =
          IntStream.range(0, s.fronts())
              .filter(f -> s.parent(f) >= 0)
              .filter(f -> p.taskOf(f) != id && p.taskOf(s.parent(f)) == id)
              .toArray();
      int[] out =
          IntStream.range(0, s.fronts())
              .filter(f -> s.parent(f) >= 0)
              .filter(f -> p.taskOf(f) == id && p.taskOf(s.parent(f)) != id)
              .toArray();
      assertThat(task.inputs()).as(name).isEqualTo(in);
      assertThat(task.outputs()).as(name).isEqualTo(out);
      int level = 0;
      for (int c : in) {
        level = Math.max(level, p.tasks().get(p.taskOf(c)).level() + 1);
      }
      assertThat(task.level()).as(name).isEqualTo(level);
    }
    assertThat(IntStream.of(seen).allMatch(k -> k == 1)).as(name).isTrue();
    assertThat(p.levels()).as(name).isEqualTo(p.tasks().isEmpty() ? 0 : lastLevel + 1);
    assertThat(p.estimatedSeconds()).as(name).isGreaterThanOrEqualTo(p.lowerBoundSeconds());
  }
}
