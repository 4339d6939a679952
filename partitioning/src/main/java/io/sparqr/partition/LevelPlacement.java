/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import io.sparqr.symbolic.FrontMemory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Places the subtrees of one level on workers and groups those of one worker into tasks. Heaviest
 * first, each goes where it finishes earliest, the transfer of contribution blocks made elsewhere
 * included (HEFT, Topcuoglu, Hariri and Wu 2002, within a level; LPT where all workers are equal);
 * a worker whose memory cannot hold it is passed over as long as another can.
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

  /** Subtrees (indices into the level's roots) of one task, and its worker. */
  record Group(int worker, int[] subtrees) {}

  /**
   * Places a level.
   *
   * @param forest before the level is cut off
   * @param root subtrees' roots, ascending
   * @param inputs per subtree, fronts of earlier levels whose blocks it takes
   */
  List<Group> place(RemainingForest forest, int[] root, List<int[]> inputs) {
    double flops = 0;
    long peak = 0;
    for (int f : root) {
      flops += forest.flops[f];
      peak = Math.max(peak, forest.peak[f]);
    }
    int[] usable = usableWorkers(flops, peak);
    Integer[] order = new Integer[root.length];
    Arrays.setAll(order, i -> i);
    Arrays.sort(
        order,
        Comparator.<Integer>comparingDouble(i -> -forest.flops[root[i]]).thenComparing(i -> i));
    double[] ready = new double[resources.workers().size()];
    List<List<Integer>> mine = new ArrayList<>();
    for (int w = 0; w < ready.length; w++) {
      mine.add(new ArrayList<>());
    }
    for (int i : order) {
      int w = earliest(forest, root[i], inputs.get(i), ready, usable);
      mine.get(w).add(i);
    }
    List<Group> groups = new ArrayList<>();
    for (int w = 0; w < ready.length; w++) {
      groups.addAll(group(w, mine.get(w), forest, root));
    }
    return groups;
  }

  /** Remembers where the fronts of a level are. */
  void record(int front, int worker) {
    workerOf[front] = worker;
  }

  /** Fewer workers where the level has less work than their tasks should have at least. */
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

  private int earliest(RemainingForest forest, int f, int[] inputs, double[] ready, int[] usable) {
    long most = 0;
    for (int w : usable) {
      most = Math.max(most, resources.workers().get(w).memoryBytes());
    }
    int found = usable[0];
    double end = Double.POSITIVE_INFINITY;
    for (int w : usable) {
      ResourceModel.Worker worker = resources.workers().get(w);
      if (worker.memoryBytes() < Math.min(most, forest.peak[f])) {
        continue;
      }
      double finish =
          ready[w]
              + transferSeconds(inputs, w)
              + TreeCost.seconds(forest.flops[f], forest.bytes[f], forest.fronts[f], worker);
      if (finish < end) {
        end = finish;
        found = w;
      }
    }
    ready[found] = end;
    return found;
  }

  /** Seconds to bring contribution blocks to a worker from the others. */
  double transferSeconds(int[] inputs, int worker) {
    double bytes = 0;
    for (int c : inputs) {
      bytes += workerOf[c] == worker ? 0 : cost.blockBytes[c];
    }
    return bytes / resources.networkBytesPerSecond();
  }

  /**
   * A worker's subtrees as at most tasksPerWorker tasks of at least minTaskFlops, balanced by LPT;
   * a task that would outgrow the worker's memory is split further.
   */
  private List<Group> group(int w, List<Integer> subtrees, RemainingForest forest, int[] root) {
    List<Group> groups = new ArrayList<>();
    if (subtrees.isEmpty()) {
      return groups;
    }
    double flops = subtrees.stream().mapToDouble(i -> forest.flops[root[i]]).sum();
    int bins = resources.workers().size() == 1 ? 1 : options.tasksPerWorker();
    if (options.minTaskFlops() > 0) {
      bins = (int) Math.max(1, Math.min(bins, flops / options.minTaskFlops()));
    }
    bins = Math.min(bins, subtrees.size());
    List<List<Integer>> bin = new ArrayList<>();
    double[] load = new double[bins];
    for (int b = 0; b < bins; b++) {
      bin.add(new ArrayList<>());
    }
    for (int i : subtrees) {
      int lightest = 0;
      for (int b = 1; b < bins; b++) {
        lightest = load[b] < load[lightest] ? b : lightest;
      }
      load[lightest] += forest.flops[root[i]];
      bin.get(lightest).add(i);
    }
    for (List<Integer> members : bin) {
      splitByMemory(w, members, forest, root, groups);
    }
    return groups;
  }

  private void splitByMemory(
      int w, List<Integer> members, RemainingForest forest, int[] root, List<Group> groups) {
    long limit = resources.workers().get(w).memoryBytes();
    List<Integer> ascending = members.stream().sorted().toList();
    List<Integer> open = new ArrayList<>();
    long outputs = 0;
    for (int i : ascending) {
      long need = FrontMemory.add(outputs, forest.peak[root[i]]);
      if (need > limit && !open.isEmpty()) {
        groups.add(new Group(w, open.stream().mapToInt(Integer::intValue).toArray()));
        open.clear();
        outputs = 0;
      }
      open.add(i);
      outputs = FrontMemory.add(outputs, cost.blockBytes[root[i]]);
    }
    if (!open.isEmpty()) {
      groups.add(new Group(w, open.stream().mapToInt(Integer::intValue).toArray()));
    }
  }
}
