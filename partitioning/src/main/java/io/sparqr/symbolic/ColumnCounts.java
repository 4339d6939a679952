/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.threads.ParallelLoop;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Row counts of R (column counts of the Cholesky factor of A'A), from A alone: count(j) = |{ k :
 * r_jk != 0 }|, the diagonal included. Skeleton edges of the star graph are found in postorder by
 * first descendants; least common ancestors by disjoint sets with path halving (Gilbert, Ng and
 * Peyton 1994, figure 3; for A'A Gilbert, Li, Ng and Peyton 2001). O(nnz(A) log n), in practice
 * linear.
 *
 * <p>Subtrees are counted in parallel. An edge leads to an ancestor: of those to the top, above all
 * {@link Subtrees}, a subtree keeps its own last neighbours and last leaves, and what a later
 * subtree needs of them, one {@link Events event} for each column of the top, is replayed in
 * postorder.
 */
final class ColumnCounts {

  private final StarGraph graph;
  private final ColumnEliminationTree tree;
  private final Subtrees subtrees;

  /** Size n, by post number, like all that follow. */
  private final int[] firstDescendant;

  private final int[] weight;

  /** The disjoint sets: an ancestor of the same set, or itself. */
  private final int[] set;

  /** Post number + 1 of the last neighbour among the columns counted, 0 if there is none yet. */
  private final int[] lastNeighbour;

  /** Post number + 1 of the last leaf of the row subtree, or of the root of the leaf's subtree. */
  private final int[] lastLeaf;

  /** The number of a column of the top among those. */
  private final int[] numberInTop;

  private int columnsOfTop;

  private ColumnCounts(StarGraph graph, ColumnEliminationTree tree, Subtrees subtrees) {
    int n = graph.n;
    this.graph = graph;
    this.tree = tree;
    this.subtrees = subtrees;
    firstDescendant = new int[n];
    weight = new int[n];
    set = new int[n];
    lastNeighbour = new int[n];
    lastLeaf = new int[n];
    numberInTop = new int[n];
    Arrays.fill(weight, 1);
    for (int j = 0; j < n; j++) {
      firstDescendant[j] = j;
      set[j] = j;
      numberInTop[j] = subtrees.rangeOf[j] < 0 ? columnsOfTop++ : 0;
    }
    for (int j = 0; j < n; j++) {
      int p = tree.parent[j];
      if (p >= 0) {
        firstDescendant[p] = Math.min(firstDescendant[p], firstDescendant[j]);
        weight[p] = 0;
      }
    }
  }

  /** Counts by post number, size n. */
  static int[] of(StarGraph graph, ColumnEliminationTree tree) {
    return of(graph, tree, ParallelLoop.several() ? Subtrees.LEAST : Integer.MAX_VALUE);
  }

  /** As above, with subtrees of up to {@code least} work, however small the problem. */
  static int[] of(StarGraph graph, ColumnEliminationTree tree, long least) {
    var subtrees = new Subtrees(tree.parent, work(graph, tree), least);
    return new ColumnCounts(graph, tree, subtrees).count();
  }

  private static int[] work(StarGraph graph, ColumnEliminationTree tree) {
    int[] before = new int[graph.n + 1];
    for (int k = 0; k < graph.n; k++) {
      int j = tree.label[k];
      long sum = 1L + before[k] + graph.highStart[j + 1] - graph.highStart[j];
      before[k + 1] = (int) Math.min(sum, Integer.MAX_VALUE);
    }
    return before;
  }

  private int[] count() {
    int n = graph.n;
    Events[] events = new Events[subtrees.count];
    var idle = new ConcurrentLinkedQueue<Events>();
    ParallelLoop.onAll(
        subtrees.count,
        r -> {
          events[r] = new Events(idle, columnsOfTop);
          countRange(r, events[r]);
          idle.add(events[r]);
        });
    for (int k = 0; k < n; ) {
      int range = subtrees.rangeOf[k];
      if (range < 0) {
        ofTop(k++);
      } else {
        replay(events[range]);
        k = subtrees.end[range];
      }
    }
    for (int k = 0; k < n; k++) {
      if (tree.parent[k] >= 0) {
        weight[tree.parent[k]] += weight[k];
      }
    }
    return weight;
  }

  private void countRange(int range, Events events) {
    int[] parent = tree.parent;
    int[] post = tree.post;
    int[] high = graph.high;
    int[] weight = this.weight;
    int[] neighbour = lastNeighbour;
    int end = subtrees.end[range];
    for (int k = subtrees.first[range]; k < end; k++) {
      int p = parent[k];
      boolean root = p < 0 || p >= end;
      if (!root) {
        weight[p]--;
      }
      int j = tree.label[k];
      int first = firstDescendant[k] + 1;
      for (int e = graph.highStart[j]; e < graph.highStart[j + 1]; e++) {
        int u = post[high[e]];
        if (u >= end) {
          events.edge(k, first, u, this);
          continue;
        }
        if (first > neighbour[u]) {
          newLeaf(k, lastLeaf, u);
        }
        neighbour[u] = k + 1;
      }
      if (root) {
        events.close(k, numberInTop);
      } else {
        set[k] = p;
      }
    }
  }

  private void ofTop(int k) {
    int p = tree.parent[k];
    if (p >= 0) {
      weight[p]--;
    }
    int j = tree.label[k];
    for (int e = graph.highStart[j]; e < graph.highStart[j + 1]; e++) {
      int u = tree.post[graph.high[e]];
      if (firstDescendant[k] + 1 > lastNeighbour[u]) {
        newLeaf(k, lastLeaf, u);
      }
      lastNeighbour[u] = k + 1;
    }
    if (p >= 0) {
      set[k] = p;
    }
  }

  /** k is a new leaf of the row subtree whose last leaf is at this index. */
  private void newLeaf(int k, int[] leaf, int at) {
    weight[k]++;
    if (leaf[at] > 0) {
      weight[find(leaf[at] - 1)]--;
    }
    leaf[at] = k + 1;
  }

  /** Enters a range's subtrees into the state of the top. */
  private void replay(Events events) {
    for (int i = 0; i < events.size; i += Events.WORDS) {
      int root = events.word[i];
      int u = events.word[i + 1];
      if (u < 0) {
        int p = tree.parent[root];
        if (p >= 0) {
          weight[p]--;
          set[root] = p;
        }
        continue;
      }
      // the first leaf below this root has counted itself already
      if (lastLeaf[u] > 0) {
        weight[find(lastLeaf[u] - 1)]--;
      }
      lastLeaf[u] = root + 1;
      lastNeighbour[u] = events.word[i + 2];
    }
  }

  private int find(int start) {
    int k = start;
    while (set[k] != k) {
      set[k] = set[set[k]];
      k = set[k];
    }
    return k;
  }

  /** What the subtrees of a range leave for the top, and the state of the one being counted. */
  private static final class Events {
    static final int WORDS = 3;

    /** Root, column of the top, its last neighbour + 1; the column is -1 at the root's end. */
    private int[] word = new int[16 * WORDS];

    private int size;

    /** By number in the top; 0 but for the columns in {@code touched}. */
    private final int[] lastNeighbour;

    private final int[] lastLeaf;
    private final int[] touched;
    private int touchedCount;

    /** Takes over the arrays of one that is complete. */
    Events(Queue<Events> idle, int columnsOfTop) {
      Events before = idle.poll();
      lastNeighbour = before == null ? new int[columnsOfTop] : before.lastNeighbour;
      lastLeaf = before == null ? new int[columnsOfTop] : before.lastLeaf;
      touched = before == null ? new int[columnsOfTop] : before.touched;
    }

    /** An edge from k, whose first descendant is first - 1, to a column of the top. */
    void edge(int k, int first, int u, ColumnCounts counts) {
      int at = counts.numberInTop[u];
      if (lastNeighbour[at] == 0) {
        touched[touchedCount++] = u;
      }
      if (first > lastNeighbour[at]) {
        counts.newLeaf(k, lastLeaf, at);
      }
      lastNeighbour[at] = k + 1;
    }

    /** Turns the state at a root into events. */
    void close(int root, int[] numberInTop) {
      if (word.length - size < (touchedCount + 1) * WORDS) {
        int larger = Math.addExact(size + size / 2, Math.multiplyExact(touchedCount + 1, WORDS));
        word = Arrays.copyOf(word, larger);
      }
      for (int i = 0; i < touchedCount; i++) {
        int at = numberInTop[touched[i]];
        add(root, touched[i], lastNeighbour[at]);
        lastNeighbour[at] = 0;
        lastLeaf[at] = 0;
      }
      add(root, -1, 0);
      touchedCount = 0;
    }

    private void add(int root, int u, int neighbour) {
      word[size++] = root;
      word[size++] = u;
      word[size++] = neighbour;
    }
  }
}
