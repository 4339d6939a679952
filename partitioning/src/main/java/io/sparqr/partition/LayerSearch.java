/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;

/**
 * Chooses the layer of subtrees that the next level factors: from the roots down, the heaviest
 * subtree is replaced by its children (Geist and Ng 1989), and of all layers visited the one with
 * the least estimate of
 *
 * <pre>
 *   LPT(layer) + max(path(above) / best rate, work(above) / rates usable by the remaining levels)
 * </pre>
 *
 * is taken, where {@code above} are the fronts split off. Subtrees so light that they fill gaps
 * anywhere between the others ("dust", see {@link #dustSeconds}) are one divisible load, so that a
 * star of a million leaves costs no more than its heavy ones.
 */
final class LayerSearch {

  private static final int MAX_SPLITS = 200_000;

  private final TreeCost cost;
  private final RemainingForest forest;
  private final ResourceModel resources;
  private final PartitionOptions options;

  /** The fastest worker with enough memory for any front, or else the largest. */
  private final ResourceModel.Worker best;

  private final double allRates;
  private final long mostMemory;
  private final double dust;
  private final int[] childStart;
  private final int[] child;

  /** Subtrees of the layer heavier than dust, heaviest first; the total seconds of the dust. */
  private final PriorityQueue<Integer> heavy =
      new PriorityQueue<>(
          Comparator.<Integer>comparingDouble(f -> -seconds(f)).thenComparing(f -> f));

  private double light;
  private double caution;

  // The fronts split off so far, in order, and their sums.
  private int[] split = new int[16];
  private int splits;
  private final double[] path;
  private final int[] component;
  private final double[] componentWork;
  private double work;
  private double longest;
  private double largestComponent;

  LayerSearch(
      TreeCost cost, RemainingForest forest, ResourceModel resources, PartitionOptions options) {
    this.cost = cost;
    this.forest = forest;
    this.resources = resources;
    this.options = options;
    long most = 0;
    for (int f : forest.alive()) {
      most = Math.max(most, forest.need(f));
    }
    long peak = most;
    best =
        resources.workers().stream()
            .max(
                Comparator.<ResourceModel.Worker>comparingLong(w -> Math.min(w.memoryBytes(), peak))
                    .thenComparingDouble(ResourceModel.Worker::flopsPerSecond))
            .orElseThrow();
    mostMemory = Math.min(best.memoryBytes(), peak);
    allRates = resources.workers().stream().mapToDouble(ResourceModel.Worker::flopsPerSecond).sum();
    double all = 0;
    for (int f : forest.roots()) {
      all += seconds(f);
    }
    dust = dustSeconds(all, resources, options);
    childStart = new int[cost.fronts + 1];
    child = new int[cost.fronts];
    path = new double[cost.fronts];
    component = new int[cost.fronts];
    componentWork = new double[cost.fronts];
    listChildren();
  }

  /** A subtree of fewer seconds is dust: a 64th of a task's share, less with many workers. */
  static double dustSeconds(double all, ResourceModel resources, PartitionOptions options) {
    double workers = resources.workers().size();
    double parts = Math.min(64, Math.max(8, 4096 / workers));
    return all / (parts * workers * options.tasksPerWorker());
  }

  private void listChildren() {
    for (int f : forest.alive()) {
      if (cost.parent[f] >= 0) {
        childStart[cost.parent[f] + 1]++;
      }
    }
    for (int f = 0; f < cost.fronts; f++) {
      childStart[f + 1] += childStart[f];
    }
    int[] next = childStart.clone();
    for (int f : forest.alive()) {
      if (cost.parent[f] >= 0) {
        child[next[cost.parent[f]]++] = f;
      }
    }
  }

  /**
   * The layer for the next level.
   *
   * @param levelsLeft levels after this one, at least 1
   * @param forced whether a part of height levelsLeft must remain above the layer; the forest is
   *     higher than that
   * @param caution factor on the estimate for the levels after the next, which is a lower bound
   *     that is seldom reached
   * @return roots of the subtrees, ascending; all roots of the forest if no cut pays
   */
  int[] choose(int levelsLeft, boolean forced, double caution) {
    this.caution = levelsLeft == 1 ? 1 : caution;
    for (int f : forest.roots()) {
      add(f);
    }
    if (forced) {
      splitTallest(levelsLeft);
    }
    int chosen = splits;
    double least = estimate(levelsLeft);
    double nextLook = splits;
    while (splits < MAX_SPLITS && !fineEnough()) {
      splitOff(heavy.poll());
      if (splits >= nextLook) {
        nextLook = splits < 256 ? splits + 1 : splits * 1.05;
        double value = estimate(levelsLeft);
        if (value < least) {
          least = value;
          chosen = splits;
        }
      }
    }
    return rootsAfter(chosen);
  }

  private void add(int f) {
    if (seconds(f) >= dust) {
      heavy.add(f);
    } else {
      light += seconds(f);
    }
  }

  /** Splits the top of the highest path of fronts. */
  private void splitTallest(int count) {
    int f = -1;
    for (int r : forest.roots()) {
      f = f < 0 || forest.height[r] > forest.height[f] ? r : f;
    }
    for (int k = 0; k < count; k++) {
      if (!heavy.remove(f)) {
        light -= seconds(f);
      }
      splitOff(f);
      int tallest = child[childStart[f]];
      for (int q = childStart[f]; q < childStart[f + 1]; q++) {
        tallest = forest.height[child[q]] > forest.height[tallest] ? child[q] : tallest;
      }
      f = tallest;
    }
  }

  private void splitOff(int f) {
    if (splits == split.length) {
      split = Arrays.copyOf(split, 2 * splits);
    }
    split[splits++] = f;
    int p = cost.parent[f];
    double own = cost.seconds(f, best);
    path[f] = own + (p < 0 ? 0 : path[p]);
    component[f] = p < 0 ? f : component[p];
    componentWork[component[f]] += own;
    largestComponent = Math.max(largestComponent, componentWork[component[f]]);
    work += own;
    longest = Math.max(longest, path[f]);
    for (int k = childStart[f]; k < childStart[f + 1]; k++) {
      add(child[k]);
    }
  }

  /** Whether the heaviest subtree cannot be split, or is too light to gain from it. */
  private boolean fineEnough() {
    if (heavy.isEmpty()) {
      return true;
    }
    int f = heavy.peek();
    return childStart[f] == childStart[f + 1]
        || forest.flops[f] < options.minTaskFlops()
        || seconds(f) < 4 * dust;
  }

  private int[] rootsAfter(int count) {
    boolean[] gone = new boolean[cost.fronts];
    for (int k = 0; k < count; k++) {
      gone[split[k]] = true;
    }
    return Arrays.stream(forest.alive())
        .filter(f -> !gone[f] && (cost.parent[f] < 0 || gone[cost.parent[f]]))
        .toArray();
  }

  private double seconds(int f) {
    return TreeCost.seconds(forest.flops[f], forest.bytes[f], forest.fronts[f], best);
  }

  private double estimate(int levelsLeft) {
    // With one level left, each connected part above the layer runs on one worker.
    double serial = levelsLeft == 1 ? largestComponent : longest;
    double speed = allRates / best.flopsPerSecond();
    double rest = Math.max(serial, work / speed);
    double[] load = new double[resources.workers().size()];
    Integer[] heaviestFirst = heavy.toArray(Integer[]::new);
    Arrays.sort(heaviestFirst, heavy.comparator());
    double makespan = 0;
    double sum = light;
    for (int f : heaviestFirst) {
      int to = 0;
      double end = Double.POSITIVE_INFINITY;
      for (int w = 0; w < load.length; w++) {
        ResourceModel.Worker worker = resources.workers().get(w);
        double finish =
            load[w] + TreeCost.seconds(forest.flops[f], forest.bytes[f], forest.fronts[f], worker);
        boolean holds = worker.memoryBytes() >= Math.min(mostMemory, forest.need(f));
        if (holds && finish < end) {
          end = finish;
          to = w;
        }
      }
      load[to] = end;
      makespan = Math.max(makespan, end);
      sum += seconds(f);
    }
    return Math.max(makespan, sum / speed) + caution * rest;
  }
}
