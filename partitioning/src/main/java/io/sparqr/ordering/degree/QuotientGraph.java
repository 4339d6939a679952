/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.degree;

import io.sparqr.ordering.StopRequest;
import java.util.Arrays;

/**
 * Minimum degree elimination on a quotient graph: the engine of {@link Colamd} and {@link
 * ApproximateMinimumDegree}. A node is a variable (a column, or a supervariable of columns with the
 * same structure) or an element (a clique of variables: a row of A, or what an elimination left).
 * Each variable i keeps its adjacent elements E_i and variables A_i, each element e its variables
 * L_e. Eliminating the pivot p makes the element L_p = (A_p u U L_e, e in E_p) \ p, which absorbs
 * all of E_p, so that the storage never grows. With d(i) the bound
 *
 * <pre>  min(n - k, d_old(i) + |L_p \ i|, |A_i \ i| + |L_p \ i| + sum over e in E_i of |L_e \ L_p|)
 * </pre>
 *
 * of Amestoy, Davis, Duff, "An approximate minimum degree ordering algorithm", SIAM J. Matrix Anal.
 * Appl. 17 (1996), sections 3 to 5: approximate external degrees, mass elimination, supervariables
 * found by hashing, element absorption, aggressive absorption. Cost O(sum over pivots and i in L_p
 * of |E_i| + |A_i|).
 *
 * <p>A pivot whose only element is large leaves nearly the same element behind. That element then
 * grows in its place, for which the lists of its variables need not change, and only every few
 * pivots the degrees are computed by all three bounds (an incomplete degree update, as in George
 * and Liu, "The evolution of the minimum degree ordering algorithm", SIAM Review 31 (1989), section
 * 2). On quadratic assignment problems this halves the time; the flops change like those of another
 * rule of ties, by up to 10% either way and by nothing on average. Memory: the lists, n ints of
 * elbow room and thirteen ints per node. For a single use: the lists are consumed. Not thread-safe.
 */
final class QuotientGraph {

  private static final int NONE = -1;

  /** The least weight of an element that grows in place of its pivots. */
  private static final int LEAST_GROWN = 128;

  /** How often an element grows before the degrees of its variables are computed again. */
  private static final int MOST_GROWTHS = 5;

  /** And how large it may become. */
  private static final double GROWTH = 1.75;

  private final int variables;

  /** The lists of all nodes; a variable's elements come before its variables. */
  private final int[] lists;

  /** size nodes; offset of a node's list. */
  private final int[] start;

  /** size nodes; length of a node's list, 0 for a node removed. */
  private final int[] length;

  /** size variables; how many entries at the head of a variable's list are elements. */
  private final int[] elements;

  /**
   * size variables; columns that a supervariable stands for, 0 once absorbed or eliminated,
   * negative while the variable is in the pivot's element.
   */
  private final int[] weight;

  /** size nodes; bound on a variable's external degree, or weight of an element's variables. */
  private final int[] degree;

  /** size nodes; 0 for a dead element, else a mark to be compared with {@link #flag}. */
  private final int[] mark;

  /** size nodes; an element's weight when the degrees of its variables were last computed. */
  private final int[] measured;

  /** size nodes; how often the element has grown since. */
  private final int[] growths;

  /** size total weight; first variable of each degree. */
  private final int[] degreeHead;

  /** size variables; links of the degree lists, or of a hash bucket while in the pivot. */
  private final int[] next;

  /** size variables; back links of the degree lists, or the hash bucket while in the pivot. */
  private final int[] previous;

  /** size a power of two; first variable of each hash bucket, all NONE between pivots. */
  private final int[] bucket;

  private final Members members;

  private final boolean firstGoesFirst;
  private final int total;
  private int eliminated;
  private int leastDegree;
  private int free;
  private int flag;
  private int largestElement;

  /** Weight of the pivot's supervariable and of the variables of its element. */
  private int pivotWeight;

  private int pivotDegree;

  /**
   * Takes over the arrays.
   *
   * @param variables n; nodes 0..n-1 are variables, the rest elements
   * @param lists node lists; filled up to {@code free}, with room for at least {@code variables}
   *     more entries
   * @param start size nodes
   * @param length size nodes
   * @param elements size n; elements at the head of each variable's list
   * @param weight size n; positive for variables to be ordered, 0 for those left out (which must be
   *     in no list and have length 0)
   * @param firstGoesFirst the tie-breaking among the variables of an element: whether the first in
   *     the list is the first candidate for the next pivot, or the last
   */
  QuotientGraph(
      int variables,
      int[] lists,
      int free,
      int[] start,
      int[] length,
      int[] elements,
      int[] weight,
      boolean firstGoesFirst) {
    this.variables = variables;
    this.lists = lists;
    this.free = free;
    this.start = start;
    this.length = length;
    this.elements = elements;
    this.weight = weight;
    this.firstGoesFirst = firstGoesFirst;
    int sum = 0;
    for (int w : weight) {
      sum += w;
    }
    total = sum;
    degree = new int[start.length];
    mark = new int[start.length];
    measured = new int[start.length];
    growths = new int[start.length];
    degreeHead = new int[total + 1];
    next = new int[variables];
    previous = new int[variables];
    bucket = new int[Math.max(16, Integer.highestOneBit(Math.max(1, variables)) * 2)];
    members = new Members(variables);
  }

  /**
   * Eliminates all variables of positive weight.
   *
   * @param order receives the variables in order of elimination, from {@code order[0]} on
   * @return how many there are
   * @throws java.util.concurrent.CancellationException if it is to stop
   */
  int eliminate(int[] order, StopRequest stop) {
    initialize();
    int count = 0;
    while (eliminated < total) {
      stop.check();
      int pivot = takeLeastDegree();
      if (mayGrow(pivot)) {
        growElement(pivot);
        count = members.write(pivot, order, count);
        continue;
      }
      formElement(pivot);
      largestElement = Math.max(largestElement, pivotDegree);
      advanceFlag(0);
      measureElements(pivot);
      updateVariables(pivot);
      advanceFlag(largestElement);
      mergeIndistinguishable(pivot);
      finishElement(pivot);
      count = members.write(pivot, order, count);
    }
    return count;
  }

  private void initialize() {
    Arrays.fill(degreeHead, NONE);
    Arrays.fill(bucket, NONE);
    Arrays.fill(mark, 1);
    flag = 2;
    for (int e = variables; e < start.length; e++) {
      int sum = 0;
      for (int p = start[e]; p < start[e] + length[e]; p++) {
        sum += weight[lists[p]];
      }
      degree[e] = sum;
      measured[e] = sum;
      largestElement = Math.max(largestElement, sum);
    }
    leastDegree = total;
    // Ascending, so that the last of equals goes first: on regular grids with ascending lists this
    // tie-breaking gives a third of the flops of the opposite one.
    for (int i = 0; i < variables; i++) {
      if (weight[i] > 0) {
        insert(i, initialDegree(i));
      }
    }
  }

  private int initialDegree(int i) {
    long sum = outside(i);
    for (int p = start[i]; p < start[i] + elements[i]; p++) {
      sum += degree[lists[p]] - weight[i];
    }
    return (int) Math.min(sum, total - weight[i]);
  }

  private void insert(int i, int d) {
    int first = degreeHead[d];
    next[i] = first;
    previous[i] = NONE;
    if (first != NONE) {
      previous[first] = i;
    }
    degreeHead[d] = i;
    degree[i] = d;
    if (d < leastDegree) {
      leastDegree = d;
    }
  }

  private int takeLeastDegree() {
    while (degreeHead[leastDegree] == NONE) {
      leastDegree++;
    }
    int pivot = degreeHead[leastDegree];
    int second = next[pivot];
    degreeHead[leastDegree] = second;
    if (second != NONE) {
      previous[second] = NONE;
    }
    return pivot;
  }

  /** Moves the flag past all marks in use; starts again when an int would overflow. */
  private void advanceFlag(int step) {
    if (flag > Integer.MAX_VALUE - 2 * (total + 2) - step) {
      for (int k = 0; k < mark.length; k++) {
        if (mark[k] != 0) {
          mark[k] = 1;
        }
      }
      flag = 2;
    } else {
      flag += step;
    }
  }

  /** Forms L_p, in place if p has no elements, else at the free end; absorbs E_p. */
  private void formElement(int pivot) {
    pivotWeight = weight[pivot];
    pivotDegree = 0;
    eliminated += pivotWeight;
    weight[pivot] = -pivotWeight;
    int adjacent = elements[pivot];
    if (adjacent == 0) {
      length[pivot] = collect(start[pivot], length[pivot], start[pivot]) - start[pivot];
    } else {
      long bound = length[pivot] - adjacent;
      for (int p = start[pivot]; p < start[pivot] + adjacent; p++) {
        bound += length[lists[p]];
      }
      reserve((int) Math.min(bound, variables));
      int out = free;
      int from = start[pivot];
      for (int p = from; p < from + adjacent; p++) {
        int e = lists[p];
        out = collect(start[e], length[e], out);
        mark[e] = 0;
        length[e] = 0;
      }
      out = collect(from + adjacent, length[pivot] - adjacent, out);
      start[pivot] = free;
      length[pivot] = out - free;
      free = out;
    }
    mark[pivot] = 1;
  }

  /** Moves the live variables of a list, not yet in the pivot's element, to {@code out}. */
  private int collect(int from, int count, int out) {
    int[] lists = this.lists;
    int[] weight = this.weight;
    int sum = 0;
    for (int p = from; p < from + count; p++) {
      int i = lists[p];
      int w = weight[i];
      if (w > 0) {
        weight[i] = -w;
        sum += w;
        lists[out++] = i;
        unlink(i);
      }
    }
    pivotDegree += sum;
    return out;
  }

  /**
   * Whether the pivot's only element may take its place: it is large, and since the degrees of its
   * variables were last computed it has been used so less than {@value #MOST_GROWTHS} times and
   * would not be more than {@link #GROWTH} times as large.
   */
  private boolean mayGrow(int pivot) {
    if (elements[pivot] != 1) {
      return false;
    }
    int from = start[pivot];
    int e = lists[from];
    if (degree[e] < LEAST_GROWN || growths[e] >= MOST_GROWTHS) {
      return false;
    }
    long sum = degree[e] - weight[pivot];
    for (int p = from + 1; p < from + length[pivot]; p++) {
      sum += Math.max(0, weight[lists[p]]);
    }
    return sum <= GROWTH * measured[e];
  }

  /**
   * Eliminates a pivot whose only element e becomes L_e u A_p \ p under its old name. The lists of
   * the variables that e had before stay as they are; degrees follow by the second of the three
   * bounds. What that leaves undone (entries of A_i now in e, the third bound, supervariables) is
   * done at the next pivot that forms its element anew.
   */
  private void growElement(int pivot) {
    int e = lists[start[pivot]];
    int variablesOfPivot = length[pivot] - 1;
    pivotWeight = weight[pivot];
    pivotDegree = 0;
    eliminated += pivotWeight;
    weight[pivot] = -pivotWeight;
    reserve((int) Math.min((long) length[e] + variablesOfPivot, variables));
    int known = collect(start[e], length[e], free);
    int before = pivotDegree;
    int end = collect(start[pivot] + 1, variablesOfPivot, known);
    weight[pivot] = 0;
    length[pivot] = 0;
    mark[pivot] = 0;
    for (int q = known; q < end; q++) {
      addElement(lists[q], e);
    }
    reinsert(known, end, pivotDegree - before);
    start[e] = free;
    length[e] = end - free;
    free = end;
    degree[e] = pivotDegree;
    largestElement = Math.max(largestElement, pivotDegree);
    growths[e]++;
  }

  /**
   * Puts the variables of the grown element back into the degree lists. A variable of no other
   * element, a candidate for the next pivot, gets its exact degree.
   *
   * @param known end of the variables that the element had before
   * @param added weight of the others
   */
  private void reinsert(int known, int end, int added) {
    int remaining = total - eliminated;
    for (int q = free; q < end; q++) {
      int i = lists[q];
      long d = (long) degree[i] - pivotWeight + (q < known ? added : pivotDegree + weight[i]);
      if (elements[i] == 1) {
        d = Math.min(d, outside(i) + pivotDegree + weight[i]);
      }
      degree[i] = (int) Math.min(d, remaining + weight[i]);
    }
    for (int k = 0; k < end - free; k++) {
      int i = lists[firstGoesFirst ? end - 1 - k : free + k];
      weight[i] = -weight[i];
      insert(i, degree[i]);
    }
  }

  /** The weight of A_i; outside of the pivot's element, as long as weights there are negative. */
  private long outside(int i) {
    long sum = 0;
    for (int p = start[i] + elements[i]; p < start[i] + length[i]; p++) {
      sum += Math.max(0, weight[lists[p]]);
    }
    return sum;
  }

  /** Puts an element into a variable's list and removes what it covers, at least the pivot. */
  private void addElement(int i, int e) {
    int from = start[i];
    int out = from + elements[i];
    for (int p = out; p < from + length[i]; p++) {
      if (weight[lists[p]] > 0) {
        lists[out++] = lists[p];
      }
    }
    lists[out] = lists[from + elements[i]];
    lists[from + elements[i]] = e;
    elements[i]++;
    length[i] = out + 1 - from;
  }

  private void unlink(int i) {
    int after = next[i];
    int before = previous[i];
    if (after != NONE) {
      previous[after] = before;
    }
    if (before != NONE) {
      next[before] = after;
    } else {
      degreeHead[degree[i]] = after;
    }
  }

  /** Makes room for a list of {@code count} entries at the free end. */
  private void reserve(int count) {
    if (free <= lists.length - count) {
      return;
    }
    free = ListStorage.compact(lists, free, start, length);
  }

  /** mark[e] = flag + |L_e \ L_p| for every element e that shares a variable with the pivot's. */
  private void measureElements(int pivot) {
    int[] lists = this.lists;
    int[] mark = this.mark;
    int flag = this.flag;
    int end = start[pivot] + length[pivot];
    for (int q = start[pivot]; q < end; q++) {
      int i = lists[q];
      int w = -weight[i];
      int fresh = flag - w;
      int from = start[i];
      int to = from + elements[i];
      for (int p = from; p < to; p++) {
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

  /**
   * For each i in L_p: removes nodes absorbed or covered by the pivot from its lists, sums the
   * degree outside the pivot, eliminates i with the pivot if that is zero, else hashes it.
   */
  private void updateVariables(int pivot) {
    int[] lists = this.lists;
    int[] mark = this.mark;
    int[] weight = this.weight;
    int flag = this.flag;
    int end = start[pivot] + length[pivot];
    for (int q = start[pivot]; q < end; q++) {
      int i = lists[q];
      int from = start[i];
      int firstVariable = from + elements[i];
      int to = from + length[i];
      int out = from;
      int hash = 0;
      long sum = 0;
      for (int p = from; p < firstVariable; p++) {
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
      int keptElements = out - from;
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
        eliminateWith(pivot, i);
      } else {
        degree[i] = (int) Math.min(degree[i], sum);
        // The pivot goes first; a removed entry, pivot or absorbed element, left room for it.
        lists[out] = lists[from + keptElements];
        lists[from + keptElements] = lists[from];
        lists[from] = pivot;
        elements[i] = keptElements + 1;
        length[i] = out - from + 1;
        int b = (hash ^ (hash >>> 16)) & (bucket.length - 1);
        next[i] = bucket[b];
        bucket[b] = i;
        previous[i] = b;
      }
    }
  }

  private void eliminateWith(int pivot, int i) {
    int w = -weight[i];
    pivotDegree -= w;
    pivotWeight += w;
    eliminated += w;
    weight[i] = 0;
    length[i] = 0;
    members.append(pivot, i);
  }

  /** Variables of the pivot's element with the same lists become one supervariable. */
  private void mergeIndistinguishable(int pivot) {
    int end = start[pivot] + length[pivot];
    for (int q = start[pivot]; q < end; q++) {
      int v = lists[q];
      if (weight[v] == 0) {
        continue;
      }
      int b = previous[v];
      int i = bucket[b];
      bucket[b] = NONE;
      while (i != NONE && next[i] != NONE) {
        mergeInto(i);
        flag++;
        i = next[i];
      }
    }
  }

  /** Absorbs all that follow i in its hash chain and have i's lists. */
  private void mergeInto(int i) {
    int[] lists = this.lists;
    int[] mark = this.mark;
    int flag = this.flag;
    int count = length[i];
    int elementCount = elements[i];
    int from = start[i];
    for (int p = from + 1; p < from + count; p++) {
      mark[lists[p]] = flag;
    }
    int last = i;
    int j = next[i];
    while (j != NONE) {
      int after = next[j];
      boolean same = length[j] == count && elements[j] == elementCount;
      int other = start[j];
      for (int p = other + 1; same && p < other + count; p++) {
        same = mark[lists[p]] == flag;
      }
      if (same) {
        weight[i] += weight[j];
        weight[j] = 0;
        length[j] = 0;
        members.append(i, j);
        next[last] = after;
      } else {
        last = j;
      }
      j = after;
    }
  }

  /** Puts the variables of the pivot's element back into the degree lists. */
  private void finishElement(int pivot) {
    int from = start[pivot];
    int end = from + length[pivot];
    int out = from;
    int remaining = total - eliminated;
    for (int q = from; q < end; q++) {
      int i = lists[q];
      if (weight[i] != 0) {
        lists[out++] = i;
      }
    }
    for (int k = 0; k < out - from; k++) {
      int i = lists[firstGoesFirst ? out - 1 - k : from + k];
      int w = -weight[i];
      weight[i] = w;
      insert(i, Math.min(degree[i] + pivotDegree - w, remaining - w));
    }
    weight[pivot] = 0;
    degree[pivot] = pivotDegree;
    measured[pivot] = pivotDegree;
    length[pivot] = out - from;
    if (end == free) {
      free = out;
    }
    if (length[pivot] == 0) {
      mark[pivot] = 0;
    }
  }
}
