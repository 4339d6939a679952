/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.partition;

import io.sparqr.symbolic.FrontMemory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Proportional mapping (Pothen and Sun 1993) of a task's fronts to a number of equal devices, in
 * seconds, by bisection: a range of devices is halved, and so are its subtrees, heaviest first to
 * the half with less work for its devices (LPT). As long as it is foretold to help, the heaviest
 * subtree is opened before that (Geist and Ng 1989): its root becomes a front of the whole range,
 * shared by it if that pays, else on the range's first device.
 *
 * <p>Bound: where no subtree is opened, a device gets at most its share and log2(devices) times the
 * heaviest subtree. Cost: O((n + opened subtrees x pool) log n).
 */
final class DeviceMapper {

  /** Subtrees opened for a range of devices, at most, since the last that helped. */
  private static final int PATIENCE = 40;

  private final DeviceWork work;
  private final int devices;
  private final int n;

  /** size n; seconds of each front with all below it, on one device. */
  private final double[] subtree;

  private final int[] childStart;
  private final int[] child;
  private final int[] first;
  private final int[] count;

  /** size n; 0: inside of a subtree with one device, WHOLE: its root, TOP: above these. */
  private final byte[] place;

  private static final byte WHOLE = 1;
  private static final byte TOP = 2;

  private record Range(int from, int to, List<Integer> roots) {
    int devices() {
      return to - from;
    }
  }

  /** Subtrees for the two halves of a range, and the seconds of the slower half. */
  private record Halves(List<Integer> left, List<Integer> right, double seconds) {}

  DeviceMapper(DeviceWork work, int devices) {
    this.work = work;
    this.devices = devices;
    n = work.fronts();
    subtree = work.seconds().clone();
    childStart = new int[n + 2];
    first = new int[n];
    count = new int[n];
    Arrays.fill(count, 1);
    place = new byte[n];
    for (int f = 0; f < n; f++) {
      int p = work.parent()[f];
      if (p >= 0) {
        subtree[p] += subtree[f];
        childStart[p + 2]++;
      }
    }
    for (int f = 0; f < n; f++) {
      childStart[f + 2] += childStart[f + 1];
    }
    child = new int[n];
    for (int f = 0; f < n; f++) {
      if (work.parent()[f] >= 0) {
        child[childStart[work.parent()[f] + 1]++] = f;
      }
    }
  }

  DeviceMapping map() {
    var roots = new ArrayList<Integer>();
    for (int f = 0; f < n; f++) {
      if (work.parent()[f] < 0) {
        roots.add(f);
      }
    }
    var ranges = new ArrayDeque<Range>();
    ranges.add(new Range(0, devices, roots));
    while (!ranges.isEmpty()) {
      Range r = ranges.remove();
      if (r.devices() == 1) {
        for (int f : r.roots) {
          first[f] = r.from;
          place[f] = WHOLE;
        }
      } else {
        divide(r, ranges);
      }
    }
    for (int f = n - 1; f >= 0; f--) {
      first[f] = place[f] == 0 ? first[work.parent()[f]] : first[f];
    }
    return foretold();
  }

  /** Opens the heaviest subtrees as far as it helps, and halves the rest. */
  private void divide(Range r, ArrayDeque<Range> ranges) {
    Comparator<Integer> heaviest =
        Comparator.<Integer>comparingDouble(f -> -subtree[f]).thenComparing(f -> f);
    var pool = new PriorityQueue<Integer>(heaviest);
    pool.addAll(r.roots);
    var opened = new ArrayList<Integer>();
    Halves best = halves(pool, r.devices());
    double least = best.seconds;
    int taken = 0;
    double above = 0;
    while (!pool.isEmpty() && opened.size() < taken + PATIENCE) {
      int f = pool.remove();
      opened.add(f);
      above += work.seconds(f, devicesOf(f, r.devices()));
      for (int k = childStart[f]; k < childStart[f + 1]; k++) {
        pool.add(child[k]);
      }
      if (above >= least) {
        break;
      }
      Halves now = halves(pool, r.devices());
      if (above + now.seconds < least) {
        least = above + now.seconds;
        best = now;
        taken = opened.size();
      }
    }
    for (int f : opened.subList(0, taken)) {
      first[f] = r.from;
      count[f] = devicesOf(f, r.devices());
      place[f] = TOP;
    }
    int middle = r.from + r.devices() / 2;
    ranges.add(new Range(r.from, middle, best.left));
    ranges.add(new Range(middle, r.to, best.right));
  }

  /** How many of a range's devices share a front: the number with the least seconds. */
  private int devicesOf(int f, int range) {
    int best = 1;
    for (int k = 2; k <= Math.min(range, work.mostDevices()[f]); k++) {
      best = work.seconds(f, k) < work.seconds(f, best) ? k : best;
    }
    return best;
  }

  private Halves halves(PriorityQueue<Integer> pool, int range) {
    int[] width = {range / 2, range - range / 2};
    double[] load = new double[2];
    var half = List.of(new ArrayList<Integer>(), new ArrayList<Integer>());
    Integer[] order = pool.toArray(new Integer[0]);
    Arrays.sort(order, pool.comparator());
    for (int f : order) {
      int to = (load[0] + subtree[f]) / width[0] <= (load[1] + subtree[f]) / width[1] ? 0 : 1;
      half.get(to).add(f);
      load[to] += subtree[f];
    }
    double slower = Math.max(load[0] / width[0], load[1] / width[1]);
    return new Halves(half.get(0), half.get(1), slower);
  }

  /**
   * Runs the mapping: a device takes the front that is ready and has the longest path above it, one
   * after the other, a subtree that it has alone as one piece. A shared front waits for all its
   * devices.
   */
  private DeviceMapping foretold() {
    double[] path = new double[n];
    double longest = 0;
    long[] bytes = new long[devices];
    double copied = 0;
    for (int f = n - 1; f >= 0; f--) {
      int p = work.parent()[f];
      boolean crosses = crosses(f);
      double way = crosses ? work.crossing(f) : 0;
      path[f] = work.seconds(f, count[f]) + (p < 0 ? 0 : path[p] + way);
      longest = Math.max(longest, path[f]);
      copied += (count[f] - 1.0) * work.frontBytes()[f] + (crosses ? work.blockBytes()[f] : 0);
      for (int d = first[f]; d < first[f] + count[f]; d++) {
        bytes[d] = FrontMemory.add(bytes[d], work.bytes(f, count[f] > 1));
      }
      for (int d = crosses ? first[p] : 0; crosses && d < first[p] + count[p]; d++) {
        boolean has = d >= first[f] && d < first[f] + count[f];
        bytes[d] = FrontMemory.add(bytes[d], has ? 0 : work.blockBytes()[f]);
      }
    }
    double[] busy = new double[devices];
    double end = run(path, busy);
    // Lists and buffers of further devices, before all and after it.
    end += devices > 1 ? ResourceModel.DEVICE_LEVEL_SECONDS : 0;
    return new DeviceMapping(devices, first, count, end, longest, busy, bytes, copied);
  }

  /** The seconds until all is done; adds those that each device works. */
  private double run(double[] path, double[] busy) {
    double[] free = new double[devices];
    double[] ready = new double[n];
    double end = 0;
    // One queue for all: by the time at which a front can start, then by its path.
    var queue =
        new PriorityQueue<Integer>(
            Comparator.<Integer>comparingDouble(f -> ready[f])
                .thenComparingDouble(f -> -path[f])
                .thenComparing(f -> f));
    int[] missing = new int[n];
    for (int f = 0; f < n; f++) {
      missing[f] = place[f] == WHOLE ? 0 : childStart[f + 1] - childStart[f];
      if (place[f] != 0 && missing[f] == 0) {
        queue.add(f);
      }
    }
    while (!queue.isEmpty()) {
      int f = queue.remove();
      double start = ready[f];
      for (int d = first[f]; d < first[f] + count[f]; d++) {
        start = Math.max(start, free[d]);
      }
      double seconds = place[f] == WHOLE ? subtree[f] : work.seconds(f, count[f]);
      for (int d = first[f]; d < first[f] + count[f]; d++) {
        free[d] = start + seconds;
        busy[d] += seconds;
      }
      end = Math.max(end, start + seconds);
      int p = work.parent()[f];
      if (p >= 0) {
        double there = start + seconds + (crosses(f) ? work.crossing(f) : 0);
        ready[p] = Math.max(ready[p], there);
        if (--missing[p] == 0) {
          queue.add(p);
        }
      }
    }
    return end;
  }

  private boolean crosses(int f) {
    int p = work.parent()[f];
    return p >= 0 && !(count[f] == 1 && count[p] == 1 && first[f] == first[p]);
  }
}
