/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import java.util.Arrays;

/**
 * The two loops over the lists of all variables of a pivot's element L_p, in which minimum degree
 * on a {@link QuotientGraph} spends most of its time. Where L_p is large, helpers share them. The
 * arrays are those of the quotient graph, and hold the same afterwards whoever ran the loops.
 */
final class ElementScan implements AutoCloseable {

  /** The hash bucket of a variable whose neighbours are all in L_p. */
  static final int NOTHING_OUTSIDE = -1;

  /** Variables per piece of work: some microseconds, as these have 25 list entries and more. */
  private static final int VARIABLES = 32;

  /** Nodes per piece of work when the workers' counts are added up. */
  private static final int NODES = 2048;

  /**
   * Which elements are shared.
   *
   * @param helpers threads beside the caller's; 0 shares nothing
   * @param least variables of an element that helpers who wait actively share
   * @param leastToWake variables for which helpers are started or woken
   */
  record Sharing(int helpers, int least, int leastToWake) {

    static final Sharing NONE = new Sharing(0, 0, 0);

    /** Three helpers on eight processors or more: other orders may run beside this one. */
    static Sharing ofMachine() {
      return Runtime.getRuntime().availableProcessors() >= 8 ? with(3) : NONE;
    }

    static Sharing with(int helpers) {
      return new Sharing(helpers, 256, 1024);
    }
  }

  private final int[] lists;
  private final int[] start;
  private final int[] length;
  private final int[] elements;
  private final int[] weight;
  private final int[] degree;
  private final int[] mark;
  private final int[] bucketOf;
  private final int bucketMask;
  private final Sharing sharing;

  private final HelperTeam.Work measuring = this::measureShared;
  private final HelperTeam.Work adding = this::addCounts;
  private final HelperTeam.Work updating = this::updateShared;

  /** Null until an element is shared. */
  private HelperTeam team;

  /** By worker, then node: weight of the variables in L_p; 0 between pivots. */
  private int[][] counts;

  private int pivot;
  private int flag;
  private int from;
  private int end;

  /**
   * Shares the arrays.
   *
   * @param perNode start, length, elements, weight, degree, mark
   * @param bucketOf size variables; receives the hash bucket of each variable of L_p, or {@link
   *     #NOTHING_OUTSIDE}
   * @param buckets a power of two
   */
  ElementScan(int[] lists, int[][] perNode, int[] bucketOf, int buckets, Sharing sharing) {
    this.lists = lists;
    start = perNode[0];
    length = perNode[1];
    elements = perNode[2];
    weight = perNode[3];
    degree = perNode[4];
    mark = perNode[5];
    this.bucketOf = bucketOf;
    bucketMask = buckets - 1;
    this.sharing = sharing;
  }

  /**
   * For each i in L_p: removes nodes absorbed or covered by the pivot from its lists, bounds its
   * degree by what is outside of the pivot, hashes its lists. Elements within L_p die.
   *
   * @param flag above all marks in use
   */
  void run(int pivot, int flag) {
    this.pivot = pivot;
    this.flag = flag;
    from = start[pivot];
    end = from + length[pivot];
    if (!shared()) {
      measure();
      update(from, end);
      return;
    }
    int pieces = (end - from + VARIABLES - 1) / VARIABLES;
    // Adding up the counts costs time for every node of the graph.
    if (entriesOfElements() >= mark.length) {
      if (counts == null) {
        counts = new int[sharing.helpers + 1][mark.length];
      }
      team.run(pieces, measuring);
      team.run((mark.length + NODES - 1) / NODES, adding);
    } else {
      measure();
    }
    team.run(pieces, updating);
  }

  private boolean shared() {
    int variables = end - from;
    if (sharing.helpers == 0 || variables < sharing.least) {
      return false;
    }
    if (variables < sharing.leastToWake) {
      return team != null && team.awake();
    }
    if (team == null) {
      team = new HelperTeam(sharing.helpers, "minimum-degree-helper");
    }
    return true;
  }

  private long entriesOfElements() {
    long sum = 0;
    for (int q = from; q < end; q++) {
      sum += elements[lists[q]];
    }
    return sum;
  }

  /** mark[e] = flag + |L_e \ L_p| for every element e that shares a variable with the pivot's. */
  private void measure() {
    int[] lists = this.lists;
    int[] mark = this.mark;
    int flag = this.flag;
    int end = this.end;
    for (int q = from; q < end; q++) {
      int i = lists[q];
      int w = -weight[i];
      int fresh = flag - w;
      int first = start[i];
      int to = first + elements[i];
      for (int p = first; p < to; p++) {
        int e = lists[p];
        int m = mark[e];
        if (m >= flag) {
          mark[e] = m - w;
        } else if (m != 0) {
          mark[e] = degree[e] + fresh;
        }
      }
    }
  }

  /** A worker's share of |L_e u L_p| for all elements e, dead ones included. */
  private void measureShared(int piece, int worker) {
    int[] lists = this.lists;
    int[] count = counts[worker];
    int first = from + piece * VARIABLES;
    int last = Math.min(end, first + VARIABLES);
    for (int q = first; q < last; q++) {
      int i = lists[q];
      int w = -weight[i];
      int to = start[i] + elements[i];
      for (int p = start[i]; p < to; p++) {
        count[lists[p]] += w;
      }
    }
  }

  /** The marks of {@link #measure} from the workers' counts, for a range of nodes. */
  private void addCounts(int piece, int worker) {
    int first = piece * NODES;
    int last = Math.min(mark.length, first + NODES);
    int[] sum = counts[0];
    for (int k = 1; k < counts.length; k++) {
      int[] count = counts[k];
      for (int e = first; e < last; e++) {
        sum[e] += count[e];
      }
      Arrays.fill(count, first, last, 0);
    }
    for (int e = first; e < last; e++) {
      if (sum[e] != 0) {
        if (mark[e] != 0) {
          mark[e] = degree[e] + flag - sum[e];
        }
        sum[e] = 0;
      }
    }
  }

  private void updateShared(int piece, int worker) {
    int first = from + piece * VARIABLES;
    update(first, Math.min(end, first + VARIABLES));
  }

  /**
   * Updates the variables at {@code lists[first .. last)}. Workers may find an element within L_p
   * at the same time. Both then write the same, and nobody minds which of the two states he sees.
   */
  private void update(int first, int last) {
    int[] lists = this.lists;
    int[] mark = this.mark;
    int[] weight = this.weight;
    int flag = this.flag;
    for (int q = first; q < last; q++) {
      int i = lists[q];
      int head = start[i];
      int firstVariable = head + elements[i];
      int to = head + length[i];
      int out = head;
      int hash = 0;
      long sum = 0;
      for (int p = head; p < firstVariable; p++) {
        int e = lists[p];
        int m = mark[e];
        if (m > flag) {
          sum += m - flag;
          lists[out++] = e;
          hash += e;
        } else if (m != 0) {
          mark[e] = 0;
          length[e] = 0;
        }
      }
      int keptElements = out - head;
      for (int p = firstVariable; p < to; p++) {
        int j = lists[p];
        int w = weight[j];
        if (w > 0) {
          sum += w;
          lists[out++] = j;
          hash += j;
        }
      }
      if (sum == 0) {
        bucketOf[i] = NOTHING_OUTSIDE;
      } else {
        degree[i] = (int) Math.min(degree[i], sum);
        // The pivot goes first; a removed entry, pivot or absorbed element, left room for it.
        lists[out] = lists[head + keptElements];
        lists[head + keptElements] = lists[head];
        lists[head] = pivot;
        elements[i] = keptElements + 1;
        length[i] = out - head + 1;
        bucketOf[i] = (hash ^ (hash >>> 16)) & bucketMask;
      }
    }
  }

  /** Ends the helpers. */
  @Override
  public void close() {
    if (team != null) {
      team.close();
      team = null;
    }
  }
}
