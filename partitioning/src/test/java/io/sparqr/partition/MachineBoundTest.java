/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.SampledCases;
import io.sparqr.Sampling;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.SparsityPattern;
import io.sparqr.symbolic.Patterns;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import io.sparqr.symbolic.TileFlops;
import io.sparqr.symbolic.TileModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.commons.math3.optim.linear.LinearConstraint;
import org.apache.commons.math3.optim.linear.LinearConstraintSet;
import org.apache.commons.math3.optim.linear.LinearObjectiveFunction;
import org.apache.commons.math3.optim.linear.NonNegativeConstraint;
import org.apache.commons.math3.optim.linear.Relationship;
import org.apache.commons.math3.optim.linear.SimplexSolver;
import org.apache.commons.math3.optim.nonlinear.scalar.GoalType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The bound is the optimum of its linear program, and below what is simulated and was measured. */
class MachineBoundTest {

  private static final long SEED = Long.getLong("test.seed", 42L);

  /** Seconds are about one; a sum of some dozen of them. */
  private static final double ROUNDING = 1000 * Math.ulp(1.0);

  private static double[] seconds(int n, Random random) {
    double[] kinds = random.doubles(3, 0.01, 1).toArray();
    return random
        .doubles(n)
        .map(x -> x < 0.1 ? 0 : x < 0.5 ? kinds[random.nextInt(3)] : random.nextDouble())
        .toArray();
  }

  /** By the simplex method of Commons Math: the shares x_f on devices, then T. */
  private static double simplex(double[] devices, double[] cores) {
    int n = devices.length;
    var rows = new ArrayList<LinearConstraint>();
    double[] onDevices = Arrays.copyOf(devices, n + 1);
    double[] onCores = new double[n + 1];
    double all = 0;
    for (int f = 0; f < n; f++) {
      onCores[f] = -cores[f];
      all += cores[f];
      double[] share = new double[n + 1];
      share[f] = 1;
      rows.add(new LinearConstraint(share, Relationship.LEQ, 1));
    }
    onDevices[n] = -1;
    onCores[n] = -1;
    rows.add(new LinearConstraint(onDevices, Relationship.LEQ, 0));
    rows.add(new LinearConstraint(onCores, Relationship.LEQ, -all));
    double[] time = new double[n + 1];
    time[n] = 1;
    return new SimplexSolver()
        .optimize(
            new LinearObjectiveFunction(time, 0),
            new LinearConstraintSet(rows),
            GoalType.MINIMIZE,
            new NonNegativeConstraint(true))
        .getValue();
  }

  @Test
  void theClosedFormIsTheOptimumOfTheLinearProgram() {
    for (int it : Sampling.numbers("test.bounds", 400).toArray()) {
      Random random = new Random(SEED + it);
      int n = 1 + random.nextInt(20);
      double[] devices = seconds(n, random);
      double[] cores = seconds(n, random);
      assertThat(MachineBound.ofWork(devices, cores))
          .as("seed %d, iteration %d", SEED, it)
          .isCloseTo(simplex(devices, cores), within(ROUNDING * n));
    }
  }

  @Test
  void oneSideAloneTakesTheSum() {
    double[] some = {1, 2, 0.5};
    double[] none = {1 / 0.0, 1 / 0.0, 1 / 0.0};
    assertThat(MachineBound.ofWork(some, none)).isEqualTo(3.5);
    assertThat(MachineBound.ofWork(none, some)).isEqualTo(3.5);
    assertThat(MachineBound.ofWork(new double[0], new double[0])).isZero();
    // two kinds, each on the side that is good at it; then one that both share
    assertThat(MachineBound.ofWork(new double[] {1, 9}, new double[] {9, 1})).isEqualTo(1);
    assertThat(MachineBound.ofWork(new double[] {3}, new double[] {6})).isEqualTo(2);
  }

  /**
   * The optimal schedule of a tree on a device and a core, each front on one of them and after its
   * children: what the mixed-integer program of the paper's third curve has, by exhaustion.
   */
  private static final class Optimum {
    private final int[] parent;
    private final double[][] seconds;
    private final int[] missing;
    private final double[] ready;
    private final double[] rest;
    private double best = Double.POSITIVE_INFINITY;

    Optimum(int[] parent, double[] device, double[] core) {
      this.parent = parent;
      seconds = new double[][] {device, core};
      int n = parent.length;
      missing = new int[n];
      ready = new double[n];
      rest = new double[n];
      for (int f = n - 1; f >= 0; f--) {
        rest[f] = Math.min(device[f], core[f]) + (parent[f] < 0 ? 0 : rest[parent[f]]);
        if (parent[f] >= 0) {
          missing[parent[f]]++;
        }
      }
    }

    double find() {
      search(parent.length, 0, new double[2], 0);
      return best;
    }

    /** Starts are in ascending order of time, so no two orders give the same schedule. */
    private void search(int left, double since, double[] free, double end) {
      if (left == 0) {
        best = Math.min(best, end);
        return;
      }
      for (int f = 0; f < parent.length; f++) {
        if (missing[f] != 0) {
          continue;
        }
        for (int w = 0; w < 2; w++) {
          double start = Math.max(free[w], ready[f]);
          double done = start + seconds[w][f];
          double above = parent[f] < 0 ? 0 : rest[parent[f]];
          if (start < since || done + above >= best) {
            continue;
          }
          int p = parent[f];
          double readyBefore = p < 0 ? 0 : ready[p];
          missing[f] = -1;
          if (p >= 0) {
            missing[p]--;
            ready[p] = Math.max(ready[p], done);
          }
          double freeBefore = free[w];
          free[w] = done;
          search(left - 1, start, free, Math.max(end, done));
          free[w] = freeBefore;
          missing[f] = 0;
          if (p >= 0) {
            missing[p]++;
            ready[p] = readyBefore;
          }
        }
      }
    }
  }

  @Test
  void theBestScheduleOfASmallTreeIsNotBelowTheBound() {
    double closest = 0;
    for (int it : Sampling.numbers("test.schedules", 60).toArray()) {
      Random random = new Random(SEED + it);
      int n = 2 + random.nextInt(11);
      int[] parent = new int[n];
      for (int f = 0; f < n; f++) {
        parent[f] = f == n - 1 ? -1 : f + 1 + random.nextInt(n - f - 1);
      }
      double[] device = random.doubles(n, 0.1, 1).toArray();
      double[] core = random.doubles(n, 0.1, 1).toArray();
      double best = new Optimum(parent, device, core).find();
      double bound = MachineBound.ofWork(device, core);
      assertThat(bound).as("seed %d, iteration %d", SEED, it).isLessThanOrEqualTo(best);
      closest = Math.max(closest, bound / best);
    }
    // wide trees come near it, so that a bound that is far too low would be seen
    assertThat(closest).isGreaterThan(0.6);
  }

  private static SymbolicAnalysis randomAnalysis(Random random) {
    SparsityPattern a = Patterns.random(random, 5 + random.nextInt(90), 1 + random.nextInt(60), 4);
    return SymbolicAnalyzer.analyze(
        a, SymbolicOptions.defaults().withOrdering(OrderingMethod.NATURAL));
  }

  /** Every cut of the planner is a schedule, and so is every mapping to the devices of a task. */
  @Test
  void noCutAndNoMappingIsForetoldToBeFaster() {
    for (int it : Sampling.numbers("test.cuts", 200).toArray()) {
      Random random = new Random(SEED + it);
      SymbolicAnalysis s = randomAnalysis(random);
      var workers = new ArrayList<ResourceModel.Worker>();
      double devices = 0;
      double cores = 0;
      double best = 0;
      for (int w = 0; w <= random.nextInt(4); w++) {
        if (random.nextBoolean()) {
          DeviceModel device = DeviceModel.ofPeak(random.nextDouble(1e12, 4e13), 1L << 40);
          workers.add(ResourceModel.Worker.gpu("device", device));
          devices += MachineBound.ofEqual(workers.get(w), 1).deviceFlops();
        } else {
          workers.add(ResourceModel.Worker.cpu("cores", random.nextDouble(1e9, 1e11), 1L << 40));
          cores += workers.get(w).flopsPerSecond();
          best = Math.max(best, workers.get(w).flopsPerSecond());
        }
      }
      TreePartition cut =
          TreePartitioner.partition(
              s,
              new ResourceModel(workers, 1e9, ResourceModel.DEVICE_LEVEL_SECONDS),
              new PartitionOptions(2, 1 + random.nextInt(4), 1, 0));
      var machine = new MachineBound(devices, cores, best);
      assertThat(machine.seconds(s, 1))
          .as("seed %d, iteration %d", SEED, it)
          .isLessThanOrEqualTo(cut.estimatedSeconds());
      // without what a level costs, and without the columns of a path, which the planner ignores
      double fronts = cut.estimatedSeconds() - cut.levels() * ResourceModel.DEVICE_LEVEL_SECONDS;
      double work = machine.parts(s, 1).work();
      assertThat(work).isLessThanOrEqualTo(fronts + ROUNDING);
    }
    SymbolicAnalysis s = analysis("grad3d24", "nd");
    int[] all = IntStream.range(0, s.fronts()).toArray();
    DeviceModel h200 = DeviceModel.reference();
    DeviceWork work = DeviceWork.of(s, all, 1, TileModel.device(), h200, DeviceWork.Link.nvlink());
    for (int k = 1; k <= 8; k++) {
      double bound =
          MachineBound.ofEqual(ResourceModel.Worker.gpu("device", h200), k).seconds(s, 1);
      assertThat(new DeviceMapper(work, k).map().seconds()).isGreaterThan(bound);
    }
    // and it is not far below: cores at their rate, whose model adds bytes and calls
    ResourceModel two = ResourceModel.uniform(2, 1e9, 1L << 40);
    double cores = MachineBound.ofEqual(two.workers().get(0), 2).seconds(s, 1);
    double foretold =
        TreePartitioner.partition(s, two, PartitionOptions.defaults()).estimatedSeconds();
    assertThat(cores / foretold).isBetween(0.4, 1.0);
    // the planner's own bound, of flops alone
    assertThat(cores)
        .isCloseTo(
            TreePartitioner.partition(s, two, PartitionOptions.defaults()).lowerBoundSeconds(),
            within(ROUNDING * foretold));
  }

  /** Where work costs nothing, the longest way to the root is left, column by column. */
  @Test
  void columnsOfAPathComeOneAfterTheOther() {
    for (String problem : List.of("cells2d30", "grad3d8")) {
      SymbolicAnalysis s = analysis(problem, "nd");
      long longest = 0;
      for (int leaf = 0; leaf < s.fronts(); leaf++) {
        long columns = 0;
        for (int f = leaf; f >= 0; f = s.parent(f)) {
          columns += Math.min(s.fm(f), s.fn(f));
        }
        longest = Math.max(longest, columns);
      }
      assertThat(new MachineBound(1e30, 0, 0).seconds(s, 1))
          .isCloseTo(1e-7 * longest, within(ROUNDING));
      // cores have no such chain in their model
      assertThat(new MachineBound(1e30, 1e30, 1e30).seconds(s, 1)).isLessThan(ROUNDING);
    }
  }

  private static SymbolicAnalysis analysis(String problem, String ordering) {
    return SymbolicAnalyzer.analyze(
        Gallery.generate("gen:" + problem).pattern(),
        SymbolicOptions.defaults()
            .withSingletons(false)
            .withOrdering(OrderingMethod.parse(ordering)));
  }

  /**
   * Seconds of the kernels on one H200 with 16 cores, of benchmarks/RESULTS.md: the shortest
   * measured. The planner's estimate is above the bound too.
   */
  @SampledCases(oneIn = 3)
  @ParameterizedTest
  @CsvSource({
    "nug20, nd, 0.191",
    "grad3d80, nd, 0.197",
    "ch7-8-b3, nd, 0.166",
    "nug15, nd, 0.020",
    "cells3d40, nd, 0.012",
    "cells2d500, nd, 0.009",
    "onehot1000000x5000x500x50, colamd, 0.013",
  })
  void measuredRunsAreAboveTheBound(String problem, String ordering, double kernels) {
    SymbolicAnalysis s = analysis(problem, ordering);
    DeviceModel h200 = DeviceModel.reference();
    double peak = MachineBound.DEVICE_LIMIT / DeviceModel.PEAK_SHARE * h200.flopsPerSecond();
    double alone = new MachineBound(peak, 0, 0).seconds(s, 1);
    double cores = 16 * MachineBound.CORE_FLOPS;
    double mixed = new MachineBound(peak, cores, cores).seconds(s, 1);
    assertThat(mixed).isLessThan(alone).isPositive();
    assertThat(alone).isLessThan(kernels);
    TreePartition cut =
        TreePartitioner.partition(
            s,
            new ResourceModel(List.of(ResourceModel.Worker.gpu("device", h200)), 1e9, 0),
            PartitionOptions.defaults());
    assertThat(alone).isLessThan(cut.estimatedSeconds());
    double tiles = Arrays.stream(TileFlops.of(s, TileModel.device(), 1)).sum();
    assertThat(alone).isGreaterThanOrEqualTo(tiles / peak * (1 - ROUNDING));
  }

  @Test
  void aMachineThatDoesNothingIsRefused() {
    assertThatThrownBy(() -> new MachineBound(0, 0, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("0.0 flops/s on devices");
    assertThatThrownBy(() -> new MachineBound(Double.NaN, 1, 1))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
