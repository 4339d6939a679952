/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.dissection;

import io.sparqr.ordering.StopRequest;
import io.sparqr.ordering.graph.WeightedGraph;
import io.sparqr.threads.ParallelLoop;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CountedCompleter;
import org.jspecify.annotations.Nullable;

/**
 * The recursion of nested dissection over one graph. A node of it is a set of vertices and the
 * range of positions that they fill: separators go to the end of the range, the two sides to its
 * start, and become nodes themselves. Large nodes are separate tasks, small ones go on an explicit
 * stack; a node's seed and range depend only on its place in the recursion, and hence so does the
 * order.
 */
final class DissectionTask extends CountedCompleter<Void> {
  private static final long serialVersionUID = 1;

  /** Nodes with at least this many vertices are handed to other threads. */
  private static final int FORK_FROM = 2000;

  /** A separator heavier than this fraction of the weight is not worth a split. */
  private static final double HOPELESS_SEPARATOR = 0.5;

  /** The state shared by all tasks of one dissection. */
  static final class Shared {
    final WeightedGraph graph;
    final int leafSize;
    final StopRequest stop;

    /** Size graph.n; at the end the vertices in elimination order. */
    final int[] order;

    /**
     * The adjacencies of the subgraphs at odd and at even depths of the recursion. The parts of a
     * node have at most its entries and lie where it lies, in the arrays of the other parity: those
     * of its parent, which has been split by then. Nodes side by side never share a place.
     */
    private final int[][] neighbor = new int[2][];

    private final int[][] edgeWeight = new int[2][];

    private final Deque<Scratch> idle = new ConcurrentLinkedDeque<>();
    private final Deque<MultilevelSeparator> helpers = new ConcurrentLinkedDeque<>();

    Shared(WeightedGraph graph, int leafSize, StopRequest stop) {
      this.stop = stop;
      this.graph = graph;
      this.leafSize = leafSize;
      this.order = new int[graph.n];
      for (int v = 0; v < graph.n; v++) {
        order[v] = v;
      }
      if (graph.n > leafSize) {
        // side by side: clearing large arrays takes a while
        ParallelLoop.run(4, k -> (k < 2 ? neighbor : edgeWeight)[k & 1] = new int[graph.entries()]);
      }
    }

    private Scratch borrow() {
      Scratch scratch = idle.poll();
      return scratch != null ? scratch : new Scratch(graph, helpers);
    }
  }

  /** The scratch arrays of one thread. */
  private static final class Scratch {
    final MultilevelSeparator separator;
    final LeafOrdering leaves;
    int[] local = new int[0];
    int[] part = local;
    int[] queue = local;

    Scratch(WeightedGraph graph, Deque<MultilevelSeparator> helpers) {
      separator = new MultilevelSeparator(helpers);
      leaves = new LeafOrdering(graph);
    }

    void reserve(int n) {
      if (local.length < n) {
        local = new int[n];
        part = new int[n];
        queue = new int[n];
      }
    }
  }

  /**
   * The subgraph on {@code order[first .. first + graph.n)}, local vertex i at first + i.
   *
   * @param parity of its depth
   */
  private record Node(WeightedGraph graph, int first, long seed, int parity) {}

  private final transient Shared shared;
  private final transient Node root;
  private final transient ArrayDeque<Node> stack = new ArrayDeque<>();

  /** The task that orders the whole graph. */
  DissectionTask(Shared shared, long seed) {
    this(null, shared, new Node(shared.graph, 0, seed, 0));
  }

  private DissectionTask(@Nullable CountedCompleter<?> parent, Shared shared, Node root) {
    super(parent);
    this.shared = shared;
    this.root = root;
  }

  @Override
  public void compute() {
    Scratch scratch = shared.borrow();
    stack.push(root);
    while (!stack.isEmpty()) {
      shared.stop.check();
      dissect(stack.pop(), scratch);
    }
    shared.idle.push(scratch);
    tryComplete();
  }

  private void dissect(Node node, Scratch scratch) {
    WeightedGraph g = node.graph();
    if (g.n <= shared.leafSize) {
      scratch.leaves.order(shared.order, node.first(), node.first() + g.n);
      return;
    }
    scratch.reserve(g.n);
    MultilevelSeparator separator = scratch.separator;
    if (!separator.separate(g, node.seed())) {
      int components = g.components(scratch.part, scratch.queue);
      distribute(node, scratch, scratch.part, components, components);
      return;
    }
    int[] weight = separator.weight();
    if (weight[0] == 0
        || weight[1] == 0
        || weight[SeparatorState.SEPARATOR] > HOPELESS_SEPARATOR * g.totalWeight) {
      scratch.leaves.order(shared.order, node.first(), node.first() + g.n);
      return;
    }
    distribute(node, scratch, separator.part(), 3, 2);
  }

  /**
   * Sorts the node's range of the order by part and recurses into the first {@code nodes} parts;
   * the separator after them stays as it is.
   */
  private void distribute(Node node, Scratch scratch, int[] part, int parts, int nodes) {
    WeightedGraph g = node.graph();
    int[] first = new int[parts + 1];
    for (int v = 0; v < g.n; v++) {
      first[part[v] + 1]++;
    }
    for (int p = 0; p < parts; p++) {
      first[p + 1] += first[p];
    }
    int[] next = first.clone();
    int[] sorted = scratch.queue;
    for (int v = 0; v < g.n; v++) {
      sorted[next[part[v]]++] = shared.order[node.first() + v];
    }
    System.arraycopy(sorted, 0, shared.order, node.first(), g.n);
    int[] number = next;
    int large = 0;
    for (int p = 0; p < parts; p++) {
      int size = first[p + 1] - first[p];
      number[p] = p < nodes && size > shared.leafSize ? large++ : -1;
      if (p < nodes && number[p] < 0) {
        scratch.leaves.order(shared.order, node.first() + first[p], node.first() + first[p + 1]);
      }
    }
    for (int v = 0; v < g.n; v++) {
      part[v] = number[part[v]];
    }
    int parity = 1 - node.parity();
    WeightedGraph[] graphs =
        g.induced(
            part,
            large,
            scratch.local,
            shared.neighbor[parity],
            shared.edgeWeight[parity],
            g.start[0]);
    for (int p = 0; p < nodes; p++) {
      if (number[p] >= 0) {
        long seed = DissectionRandom.mix(node.seed(), p);
        proceed(new Node(graphs[number[p]], node.first() + first[p], seed, parity));
      }
    }
  }

  private void proceed(Node node) {
    if (node.graph().n >= FORK_FROM) {
      addToPendingCount(1);
      new DissectionTask(this, shared, node).fork();
    } else {
      stack.push(node);
    }
  }
}
