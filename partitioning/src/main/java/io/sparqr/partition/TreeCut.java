/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import io.sparqr.symbolic.FrontMemory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.stream.IntStream;

/** One cut of the tree for a requested number of levels, with its estimated time. */
final class TreeCut {

  private final TreeCost cost;
  private final ResourceModel resources;
  private final int[] owner;
  private final List<int[]> taskFronts = new ArrayList<>();
  private final List<Integer> taskWorker = new ArrayList<>();

  private TreeCut(TreeCost cost, ResourceModel resources) {
    this.cost = cost;
    this.resources = resources;
    owner = new int[cost.fronts];
    Arrays.fill(owner, -1);
  }

  /**
   * Cuts for {@code levels} levels; fewer if a level does not pay.
   *
   * @param caution see {@link LayerSearch#choose}
   */
  static TreePartition of(
      TreeCost cost,
      ResourceModel resources,
      PartitionOptions options,
      int levels,
      double caution,
      double lowerBound) {
    TreeCut cut = new TreeCut(cost, resources);
    RemainingForest forest = new RemainingForest(cost);
    LevelPlacement placement = new LevelPlacement(cost, resources, options);
    int most = Math.min(levels, forest.height());
    for (int left = most - 1; left >= 0 && !forest.isEmpty(); left--) {
      boolean forced = most - left <= options.minLevels() - 1 && forest.height() > left;
      int[] roots =
          left == 0
              ? forest.roots()
              : new LayerSearch(cost, forest, resources, options).choose(left, forced, caution);
      cut.takeLevel(forest, placement, roots);
    }
    return cut.finish(placement, lowerBound);
  }

  /**
   * A cut whose upper levels are given.
   *
   * @param place by front: -1 on the lowest level; else the number of its place, level by level
   *     from the second on, worker by worker. A front's parent has none below its own.
   */
  static TreePartition placed(
      TreeCost cost,
      ResourceModel resources,
      PartitionOptions options,
      int[] place,
      double lowerBound) {
    TreeCut cut = new TreeCut(cost, resources);
    LevelPlacement placement = new LevelPlacement(cost, resources, options);
    int[] roots =
        IntStream.range(0, place.length)
            .filter(f -> place[f] < 0 && (cost.parent[f] < 0 || place[cost.parent[f]] >= 0))
            .toArray();
    if (roots.length > 0) {
      cut.takeLevel(new RemainingForest(cost), placement, roots);
    }
    int[] size = new int[Arrays.stream(place).max().orElse(-1) + 1];
    for (int p : place) {
      if (p >= 0) {
        size[p]++;
      }
    }
    int[] task = new int[size.length];
    for (int p = 0; p < size.length; p++) {
      if (size[p] > 0) {
        task[p] = cut.taskFronts.size();
        cut.taskFronts.add(new int[size[p]]);
        cut.taskWorker.add(p % resources.workers().size());
      }
    }
    Arrays.fill(size, 0);
    for (int f = 0; f < place.length; f++) {
      int p = place[f];
      if (p >= 0) {
        cut.taskFronts.get(task[p])[size[p]++] = f;
        cut.owner[f] = task[p];
        placement.record(f, cut.taskWorker.get(task[p]));
      }
    }
    return cut.finish(placement, lowerBound);
  }

  private void takeLevel(RemainingForest forest, LevelPlacement placement, int[] roots) {
    int[] before = forest.alive();
    List<int[]> inputs = inputsOf(forest, roots);
    List<LevelPlacement.Group> groups = placement.place(forest, roots, inputs);
    int[] subtree = forest.cut(roots);
    int[] groupOf = new int[roots.length];
    int[] size = new int[groups.size()];
    for (int g = 0; g < groups.size(); g++) {
      for (int i : groups.get(g).subtrees()) {
        groupOf[i] = g;
      }
    }
    for (int f : before) {
      if (subtree[f] >= 0) {
        size[groupOf[subtree[f]]]++;
      }
    }
    int first = taskFronts.size();
    for (int g = 0; g < groups.size(); g++) {
      taskFronts.add(new int[size[g]]);
      taskWorker.add(groups.get(g).worker());
    }
    Arrays.fill(size, 0);
    for (int f : before) {
      if (subtree[f] >= 0) {
        int g = groupOf[subtree[f]];
        taskFronts.get(first + g)[size[g]++] = f;
        owner[f] = first + g;
        placement.record(f, groups.get(g).worker());
      }
    }
  }

  /** Per subtree, the children of its fronts that belong to earlier levels. */
  private List<int[]> inputsOf(RemainingForest forest, int[] roots) {
    int[] top = new int[cost.fronts];
    Arrays.fill(top, -1);
    for (int i = 0; i < roots.length; i++) {
      top[roots[i]] = i;
    }
    int[] count = new int[roots.length];
    for (int f = cost.fronts - 1; f >= 0; f--) {
      int p = cost.parent[f];
      if (top[f] < 0 && p >= 0) {
        top[f] = top[p];
      }
      if (top[f] >= 0 && !forest.contains(f)) {
        // Only the topmost fronts of earlier levels have a parent here.
        boolean boundary = p >= 0 && forest.contains(p);
        count[top[f]] += boundary ? 1 : 0;
        top[f] = boundary ? top[f] : -1;
      }
    }
    List<int[]> inputs = new ArrayList<>();
    for (int c : count) {
      inputs.add(new int[c]);
    }
    Arrays.fill(count, 0);
    for (int f = 0; f < cost.fronts; f++) {
      int p = cost.parent[f];
      if (!forest.contains(f) && p >= 0 && forest.contains(p) && top[p] >= 0) {
        inputs.get(top[p])[count[top[p]]++] = f;
      }
    }
    return inputs;
  }

  private TreePartition finish(LevelPlacement placement, double lowerBound) {
    int tasks = taskFronts.size();
    List<List<Integer>> inputs = new ArrayList<>();
    List<List<Integer>> outputs = new ArrayList<>();
    for (int t = 0; t < tasks; t++) {
      inputs.add(new ArrayList<>());
      outputs.add(new ArrayList<>());
    }
    for (int f = 0; f < cost.fronts; f++) {
      int p = cost.parent[f];
      if (p >= 0 && owner[p] != owner[f]) {
        outputs.get(owner[f]).add(f);
        inputs.get(owner[p]).add(f);
      }
    }
    // Tasks are created level by level, so every input comes from a task with a smaller number.
    int[] level = new int[tasks];
    int levels = 0;
    for (int t = 0; t < tasks; t++) {
      for (int c : inputs.get(t)) {
        level[t] = Math.max(level[t], level[owner[c]] + 1);
      }
      levels = Math.max(levels, level[t] + 1);
    }
    Integer[] order = new Integer[tasks];
    Arrays.setAll(order, t -> t);
    Arrays.sort(order, Comparator.<Integer>comparingInt(t -> level[t]).thenComparing(t -> t));
    int[] id = new int[tasks];
    List<SubtreeTask> list = new ArrayList<>();
    double[][] load = new double[levels][resources.workers().size()];
    for (int k = 0; k < tasks; k++) {
      int t = order[k];
      id[t] = k;
      int[] in = inputs.get(t).stream().mapToInt(Integer::intValue).toArray();
      int[] out = outputs.get(t).stream().mapToInt(Integer::intValue).toArray();
      list.add(task(t, k, level[t], in, out));
      int w = taskWorker.get(t);
      for (int f : taskFronts.get(t)) {
        load[level[t]][w] += cost.seconds(f, resources.workers().get(w));
      }
      load[level[t]][w] += placement.transferSeconds(in, w);
    }
    int[] taskOfFront = new int[cost.fronts];
    for (int f = 0; f < cost.fronts; f++) {
      taskOfFront[f] = id[owner[f]];
    }
    double seconds = 0;
    for (double[] one : load) {
      seconds += resources.levelSeconds() + Arrays.stream(one).max().orElse(0);
    }
    return new TreePartition(list, levels, taskOfFront, seconds, lowerBound);
  }

  /** Bytes of blocks from other tasks; several from one task for one front are reduced there. */
  private long inputBytes(int[] in) {
    var fromTask = new HashMap<Long, Long>();
    for (int c : in) {
      long key = (long) owner[c] << 32 | cost.parent[c];
      fromTask.merge(key, cost.blockBytes[c], FrontMemory::add);
    }
    long sum = 0;
    for (var e : fromTask.entrySet()) {
      int parent = (int) (long) e.getKey();
      sum = FrontMemory.add(sum, Math.min(e.getValue(), cost.reducedBytes(parent)));
    }
    return sum;
  }

  private SubtreeTask task(int t, int id, int level, int[] in, int[] out) {
    double flops = 0;
    for (int f : taskFronts.get(t)) {
      flops += cost.analyzedFlops[f];
    }
    long inputBytes = inputBytes(in);
    long peak = cost.peakBytes(taskFronts.get(t), owner, t, inputBytes);
    long host = cost.host() ? peak : cost.aroundDeviceBytes(taskFronts.get(t), out, in);
    return new SubtreeTask(
        id, level, taskFronts.get(t), in, out, taskWorker.get(t), flops, peak, host);
  }
}
