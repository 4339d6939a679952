/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import io.sparqr.symbolic.FrontMemory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Places the subtrees of one level on workers and groups those of one worker into tasks. Heaviest
 * first, each subtree goes to the worker on which it finishes earliest, the transfer of
 * contribution blocks from other workers included (HEFT, Topcuoglu, Hariri and Wu 2002, within a
 * level; LPT where all workers are equal); a worker with too little memory for it is skipped as
 * long as another has enough.
 */
final class LevelPlacement {

  private final TreeCost cost;
  private final ResourceModel resources;
  private final PartitionOptions options;

  /** Size nf; worker of each front placed so far, -1 before. */
  private final int[] workerOf;

  LevelPlacement(TreeCost cost, ResourceModel resources, PartitionOptions options) {
    this.cost = cost;
    this.resources = resources;
    this.options = options;
    workerOf = new int[cost.fronts];
    Arrays.fill(workerOf, -1);
  }

  /** One task: its subtrees (indices into the level's roots) and its worker. */
  record Group(int worker, int[] subtrees) {}

  /**
   * Places a level.
   *
   * @param forest the forest before the level is cut off
   * @param root roots of the subtrees, ascending
   * @param inputs per subtree, the fronts of earlier levels whose blocks it needs
   */
  List<Group> place(RemainingForest forest, int[] root, List<int[]> inputs) {
    double flops = 0;
    long peak = 0;
    for (int f : root) {
      flops += forest.flops[f];
      peak = Math.max(peak, forest.need(f));
    }
    int[] usable = usableWorkers(flops, peak);
    int[][] units = units(forest, root, usable.length);
    double[] ready = new double[resources.workers().size()];
    List<List<int[]>> mine = new ArrayList<>();
    for (int w = 0; w < ready.length; w++) {
      mine.add(new ArrayList<>());
    }
    for (int[] unit : units) {
      mine.get(earliest(forest, root, unit, inputs, ready, usable)).add(unit);
    }
    List<Group> groups = new ArrayList<>();
    for (int w = 0; w < ready.length; w++) {
      groups.addAll(group(w, mine.get(w), forest, root));
    }
    return groups;
  }

  /**
   * The units of placement: single subtrees, and runs of neighbouring light ones (dust, see
   * LayerSearch); heaviest first.
   */
  private int[][] units(RemainingForest forest, int[] root, int workers) {
    double[] seconds = new double[root.length];
    double all = 0;
    for (int i = 0; i < root.length; i++) {
      seconds[i] = seconds(forest, root[i], resources.workers().get(0));
      all += seconds[i];
    }
    double dust = workers == 1 ? all : LayerSearch.dustSeconds(all, resources, options);
    List<int[]> units = new ArrayList<>();
    List<Double> weight = new ArrayList<>();
    int[] run = new int[root.length];
    int length = 0;
    double sum = 0;
    for (int i = 0; i < root.length; i++) {
      if (seconds[i] >= dust) {
        units.add(new int[] {i});
        weight.add(seconds[i]);
        continue;
      }
      run[length++] = i;
      sum += seconds[i];
      if (sum >= dust) {
        units.add(Arrays.copyOf(run, length));
        weight.add(sum);
        length = 0;
        sum = 0;
      }
    }
    if (length > 0) {
      units.add(Arrays.copyOf(run, length));
      weight.add(sum);
    }
    return IntStream.range(0, units.size())
        .boxed()
        .sorted(Comparator.<Integer>comparingDouble(u -> -weight.get(u)).thenComparing(u -> u))
        .map(units::get)
        .toArray(int[][]::new);
  }

  private static double seconds(RemainingForest forest, int f, ResourceModel.Worker worker) {
    return TreeCost.seconds(forest.flops[f], forest.bytes[f], forest.fronts[f], worker);
  }

  /** Records the worker of a front. */
  void record(int front, int worker) {
    workerOf[front] = worker;
  }

  /** The workers to use: fewer if the level's work is less than the minimum for a task on each. */
  private int[] usableWorkers(double flops, long peak) {
    int all = resources.workers().size();
    double most = options.minTaskFlops() > 0 ? flops / options.minTaskFlops() : all;
    int count = (int) Math.max(1, Math.min(all, most));
    Integer[] byRate = new Integer[all];
    Arrays.setAll(byRate, i -> i);
    Arrays.sort(
        byRate,
        Comparator.<Integer, Boolean>comparing(w -> resources.workers().get(w).memoryBytes() < peak)
            .thenComparingDouble(w -> -resources.workers().get(w).flopsPerSecond())
            .thenComparing(w -> w));
    return Arrays.stream(byRate).limit(count).mapToInt(Integer::intValue).sorted().toArray();
  }

  private int earliest(
      RemainingForest forest,
      int[] root,
      int[] unit,
      List<int[]> inputs,
      double[] ready,
      int[] usable) {
    long most = 0;
    for (int w : usable) {
      most = Math.max(most, resources.workers().get(w).memoryBytes());
    }
    long peak = 0;
    double flops = 0;
    double bytes = 0;
    double fronts = 0;
    double[] local = new double[ready.length];
    double inputBytes = 0;
    for (int i : unit) {
      peak = Math.max(peak, forest.need(root[i]));
      flops += forest.flops[root[i]];
      bytes += forest.bytes[root[i]];
      fronts += forest.fronts[root[i]];
      for (int c : inputs.get(i)) {
        inputBytes += cost.blockBytes[c];
        local[workerOf[c]] += cost.blockBytes[c];
      }
    }
    int found = usable[0];
    double end = Double.POSITIVE_INFINITY;
    for (int w : usable) {
      ResourceModel.Worker worker = resources.workers().get(w);
      if (worker.memoryBytes() < Math.min(most, peak)) {
        continue;
      }
      double finish =
          ready[w]
              + inputBytes / resources.blockBytesPerSecond()
              + (inputBytes - local[w]) / resources.networkBytesPerSecond()
              + TreeCost.seconds(flops, bytes, fronts, worker);
      if (finish < end) {
        end = finish;
        found = w;
      }
    }
    ready[found] = end;
    return found;
  }

  /** Seconds to bring contribution blocks to a task's worker, over the network from others. */
  double transferSeconds(int[] inputs, int worker) {
    double bytes = 0;
    double far = 0;
    for (int c : inputs) {
      bytes += cost.blockBytes[c];
      far += workerOf[c] == worker ? 0 : cost.blockBytes[c];
    }
    return bytes / resources.blockBytesPerSecond() + far / resources.networkBytesPerSecond();
  }

  /**
   * A worker's subtrees as at most tasksPerWorker tasks of at least minTaskFlops, balanced by LPT;
   * a task that would outgrow the worker's memory is split further.
   */
  private List<Group> group(int w, List<int[]> units, RemainingForest forest, int[] root) {
    List<Group> groups = new ArrayList<>();
    double[] flops = new double[units.size()];
    double all = 0;
    for (int u = 0; u < flops.length; u++) {
      for (int i : units.get(u)) {
        flops[u] += forest.flops[root[i]];
      }
      all += flops[u];
    }
    int bins = resources.workers().size() == 1 ? 1 : options.tasksPerWorker();
    if (options.minTaskFlops() > 0) {
      bins = (int) Math.max(1, Math.min(bins, all / options.minTaskFlops()));
    }
    bins = Math.min(bins, units.size());
    List<List<int[]>> bin = new ArrayList<>();
    double[] load = new double[bins];
    for (int b = 0; b < bins; b++) {
      bin.add(new ArrayList<>());
    }
    for (int u = 0; u < flops.length; u++) {
      int lightest = 0;
      for (int b = 1; b < bins; b++) {
        lightest = load[b] < load[lightest] ? b : lightest;
      }
      load[lightest] += flops[u];
      bin.get(lightest).add(units.get(u));
    }
    // units without work all go to one bin
    bin.removeIf(List::isEmpty);
    for (List<int[]> members : bin) {
      int[] ascending = members.stream().flatMapToInt(Arrays::stream).sorted().toArray();
      splitByMemory(w, ascending, forest, root, groups);
    }
    return groups;
  }

  private void splitByMemory(
      int w, int[] members, RemainingForest forest, int[] root, List<Group> groups) {
    long limit = resources.workers().get(w).memoryBytes();
    int from = 0;
    long outputs = 0;
    for (int k = 0; k < members.length; k++) {
      int f = root[members[k]];
      if (k > from && FrontMemory.add(outputs, forest.need(f)) > limit) {
        groups.add(new Group(w, Arrays.copyOfRange(members, from, k)));
        from = k;
        outputs = 0;
      }
      outputs = FrontMemory.add(outputs, FrontMemory.add(cost.blockBytes[f], forest.kept[f]));
    }
    groups.add(new Group(w, Arrays.copyOfRange(members, from, members.length)));
  }
}
