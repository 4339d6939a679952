/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * Cuts along the heaviest path of the tree, for equal CPU workers. The fronts of that path are
 * factored one after the other, whatever the cut; so they are spread over the levels first, from
 * the root down, and each level lasts as long as its piece of the path does on one worker. The
 * others fill that time with what hangs on the path above: whole subtrees where they fit, else
 * their top fronts. What is left is the lowest level, placed like any other. {@link LayerSearch}
 * goes from the leaves up instead and puts as much as it can into low levels, whose workers then
 * wait for the heaviest path one after the other.
 *
 * <p>All ways to cut the top of the path in two to four are tried on sums, and the best few in
 * full.
 */
final class PathCut {

  /** Fronts of the path that may be on different levels, from the root down. */
  private static final int LONGEST = 16;

  /** With more workers the path is cut in at most three. */
  private static final int FEW_WORKERS = 8;

  /** Cuts that are made in full. */
  private static final int TRIED = 3;

  /** Subtrees and fronts below this part of all seconds are left to the lowest level. */
  private static final double LIGHT = 1e-3;

  /** A front that takes less than this part of its level is not parted from its children. */
  private static final double PARTED = 0.05;

  /** What a cut along the path has to gain over others. */
  private static final double LEAST_GAIN = 1.03;

  private final TreeCost cost;
  private final ResourceModel resources;
  private final PartitionOptions options;
  private final int workers;

  /** By front, on one worker: seconds of the front, and of its subtree. */
  private final double[] own;

  private final double[] tree;

  /** By front: number of fronts of its subtree. */
  private final int[] size;

  private final double all;
  private final double light;

  /** The heaviest path from its root down, heavy fronts only. */
  private final int[] path;

  private final Map<Integer, List<Integer>> heavyChildren = new HashMap<>();
  private final List<Integer> otherRoots = new ArrayList<>();

  /**
   * A part of the tree above the lowest level.
   *
   * @param front its topmost front
   * @param whole whether all of the subtree belongs to it; else that front alone
   * @param level counted from the lowest, which is 0
   */
  private record Part(int front, boolean whole, int level, int worker) {}

  /**
   * A cut on sums.
   *
   * @param parts without the lowest level's
   */
  private record Sketch(List<Part> parts, double seconds) {}

  private PathCut(TreeCost cost, ResourceModel resources, PartitionOptions options) {
    this.cost = cost;
    this.resources = resources;
    this.options = options;
    workers = resources.workers().size();
    own = new double[cost.fronts];
    tree = new double[cost.fronts];
    size = new int[cost.fronts];
    double[] longest = new double[cost.fronts];
    int root = 0;
    double sum = 0;
    for (int f = 0; f < cost.fronts; f++) {
      own[f] = cost.seconds(f, resources.workers().get(0));
      sum += own[f];
      tree[f] += own[f];
      longest[f] += own[f];
      size[f]++;
      int p = cost.parent[f];
      if (p >= 0) {
        tree[p] += tree[f];
        size[p] += size[f];
        longest[p] = Math.max(longest[p], longest[f]);
      } else {
        root = longest[f] > longest[root] || cost.parent[root] >= 0 ? f : root;
      }
    }
    all = sum;
    light = LIGHT * all;
    listHeavy(root);
    path = path(root, longest);
  }

  private void listHeavy(int root) {
    for (int f = 0; f < cost.fronts; f++) {
      int p = cost.parent[f];
      if (tree[f] < light || f == root) {
        continue;
      }
      if (p < 0) {
        otherRoots.add(f);
      } else {
        heavyChildren.computeIfAbsent(p, k -> new ArrayList<>()).add(f);
      }
    }
  }

  private int[] path(int root, double[] longest) {
    int[] found = new int[LONGEST];
    int count = 0;
    int f = root;
    while (f >= 0 && count < LONGEST) {
      found[count++] = f;
      f =
          heavyChildren.getOrDefault(f, List.of()).stream()
              .max(Comparator.comparingDouble(c -> longest[c]))
              .orElse(-1);
    }
    return Arrays.copyOf(found, count);
  }

  /**
   * The best cut along the path, or the given one unless that is slower by a margin.
   *
   * @param given the best of the others
   */
  static TreePartition orBetter(
      TreePartition given,
      TreeCost cost,
      ResourceModel resources,
      PartitionOptions options,
      double lowerBound) {
    if (!applies(resources) || options.maxLevels() < 2 || cost.fronts == 0) {
      return given;
    }
    var along = new PathCut(cost, resources, options);
    TreePartition best = given;
    double most = given.estimatedSeconds() / LEAST_GAIN;
    for (Sketch s : along.sketches(most)) {
      TreePartition cut = along.made(s, lowerBound);
      boolean levels =
          cut.levels() >= Math.min(options.minLevels(), given.levels())
              && cut.levels() <= options.maxLevels();
      if (levels
          && cut.estimatedSeconds() <= most
          && TreePartitioner.overMemory(cut, resources)
              <= TreePartitioner.overMemory(given, resources)) {
        best = cut;
        most = cut.estimatedSeconds();
      }
    }
    return best;
  }

  /** Several CPU workers of the same rates and memory. */
  private static boolean applies(ResourceModel resources) {
    ResourceModel.Worker first = resources.workers().get(0);
    return resources.workers().size() > 1
        && resources.workers().stream()
            .allMatch(
                w ->
                    !w.device()
                        && w.flopsPerSecond() == first.flopsPerSecond()
                        && w.bytesPerSecond() == first.bytesPerSecond()
                        && w.memoryBytes() == first.memoryBytes());
  }

  /** The best few that may take less than this. */
  private List<Sketch> sketches(double most) {
    var found = new ArrayList<Sketch>();
    int levels = Math.min(options.maxLevels(), workers <= FEW_WORKERS ? 4 : 3);
    int[] ends = new int[levels - 1];
    collect(ends, 0, found, most);
    found.sort(Comparator.comparingDouble(Sketch::seconds));
    return found.subList(0, Math.min(TRIED, found.size()));
  }

  /**
   * Tries all ends of the pieces of the path.
   *
   * @param ends ascending, the first {@code count} are chosen
   */
  private void collect(int[] ends, int count, List<Sketch> found, double most) {
    if (count > 0) {
      Sketch s = sketch(Arrays.copyOf(ends, count));
      if (s.seconds < most) {
        found.add(s);
      }
    }
    if (count < ends.length) {
      for (int e = count == 0 ? 1 : ends[count - 1] + 1; e <= path.length; e++) {
        ends[count] = e;
        collect(ends, count + 1, found, most);
      }
    }
  }

  /** The cut whose levels above the lowest have these pieces of the path, from the root down. */
  private Sketch sketch(int[] ends) {
    var parts = new ArrayList<Part>();
    var pool = new ArrayList<>(otherRoots);
    double seconds = resources.levelSeconds() * (ends.length + 1);
    double placed = 0;
    int from = 0;
    for (int k = 0; k < ends.length; k++) {
      int level = ends.length - k;
      double piece = 0;
      for (int i = from; i < ends[k]; i++) {
        parts.add(new Part(path[i], false, level, 0));
        piece += own[path[i]];
      }
      placed += piece + filled(level, piece, pool, parts);
      for (int i = from; i < ends[k]; i++) {
        int next = i + 1 < path.length ? path[i + 1] : -1;
        heavyChildren.getOrDefault(path[i], List.of()).stream()
            .filter(c -> c != next)
            .forEach(pool::add);
      }
      seconds += piece;
      from = ends[k];
    }
    if (from < path.length) {
      pool.add(path[from]);
    }
    return new Sketch(parts, seconds + longestShare(pool, all - placed));
  }

  /** A subtree that a level may take: on any of the other workers, or where its parent is. */
  private record Open(int front, int worker) {}

  /**
   * Fills the other workers' time on a level: heaviest first, on the one with the most room.
   *
   * @param room seconds of each
   * @param pool subtrees whose parents are above; those that stay are left there
   * @param parts receives what is taken
   * @return seconds of all that is taken
   */
  private double filled(int level, double room, List<Integer> pool, List<Part> parts) {
    double[] left = new double[workers];
    double[] flops = new double[workers];
    Arrays.fill(left, 1, workers, room);
    var open =
        new PriorityQueue<>(
            Comparator.<Open>comparingDouble(o -> -tree[o.front]).thenComparingInt(Open::front));
    pool.forEach(f -> open.add(new Open(f, -1)));
    var stay = new ArrayList<Open>();
    var taken = new ArrayList<Part>();
    while (!open.isEmpty()) {
      Open o = open.remove();
      int f = o.front;
      int w = o.worker < 0 ? mostRoom(left) : o.worker;
      boolean whole = tree[f] <= left[w];
      if (whole || (own[f] <= left[w] && own[f] >= PARTED * room)) {
        taken.add(new Part(f, whole, level, w));
        double seconds = whole ? tree[f] : own[f];
        left[w] -= seconds;
        flops[w] += seconds * resources.workers().get(w).flopsPerSecond();
        if (!whole) {
          heavyChildren.getOrDefault(f, List.of()).forEach(c -> open.add(new Open(c, w)));
        }
      } else {
        stay.add(o);
      }
    }
    pool.clear();
    double sum = 0;
    for (int w = 1; w < workers; w++) {
      sum += enough(flops[w]) ? room - left[w] : 0;
    }
    var untied = new HashSet<Integer>();
    stay.stream()
        .filter(o -> o.worker < 0 || enough(flops[o.worker]))
        .forEach(o -> pool.add(o.front));
    for (Part t : taken) {
      if (enough(flops[t.worker])) {
        parts.add(t);
      } else {
        untied.add(t.front);
      }
    }
    // What is too little for a task stays whole.
    untied.stream().filter(f -> !untied.contains(cost.parent[f])).forEach(pool::add);
    return sum;
  }

  private boolean enough(double flops) {
    return flops > 0 && flops >= options.minTaskFlops();
  }

  private static int mostRoom(double[] left) {
    int most = 1;
    for (int w = 2; w < left.length; w++) {
      most = left[w] > left[most] ? w : most;
    }
    return most;
  }

  /** Seconds of the lowest level: its subtrees, heaviest first, and lighter ones in all gaps. */
  private double longestShare(List<Integer> roots, double sum) {
    var load = new PriorityQueue<>(Collections.nCopies(workers, 0.0));
    roots.sort(Comparator.<Integer>comparingDouble(f -> -tree[f]).thenComparing(f -> f));
    double most = 0;
    for (int f : roots) {
      double end = load.remove() + tree[f];
      most = Math.max(most, end);
      load.add(end);
    }
    return Math.max(most, sum / workers);
  }

  private TreePartition made(Sketch s, double lowerBound) {
    int[] place = new int[cost.fronts];
    Arrays.fill(place, -1);
    for (Part p : s.parts) {
      int from = p.whole ? p.front - size[p.front] + 1 : p.front;
      Arrays.fill(place, from, p.front + 1, (p.level - 1) * workers + p.worker);
    }
    return TreeCut.placed(cost, resources, options, place, lowerBound);
  }
}
