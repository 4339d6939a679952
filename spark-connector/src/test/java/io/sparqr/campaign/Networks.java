/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.campaign;

import io.sparqr.sparse.CsrMatrix;
import java.util.Arrays;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;

/**
 * Networks without a fixed node, whose rank is known by construction: n nodes in c components have
 * rank n - c (levelling: a row is w (h_j - h_i)) or 3 (n - c) (poses in the plane: three rows an
 * edge). Weights are 10^u, u uniform.
 */
final class Networks {

  private Networks() {}

  /**
   * A network.
   *
   * @param a its rows
   * @param rank by construction
   * @param kind in words
   */
  record Network(CsrMatrix a, int rank, String kind) {}

  /**
   * Edges of a graph.
   *
   * @param nodes their number
   * @param from by edge
   * @param to by edge, another node
   */
  record Graph(int nodes, int[] from, int[] to) {

    int edges() {
      return from.length;
    }

    /** Connected components, by union and find. */
    int components() {
      int[] parent = new int[nodes];
      Arrays.setAll(parent, i -> i);
      int count = nodes;
      for (int e = 0; e < from.length; e++) {
        int p = root(parent, from[e]);
        int q = root(parent, to[e]);
        if (p != q) {
          parent[p] = q;
          count--;
        }
      }
      return count;
    }

    private static int root(int[] parent, int start) {
      int i = start;
      while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
      }
      return i;
    }
  }

  /** A tree, a path or a cycle, with some more edges; or edges at random, in several components. */
  static Graph graph(int n, Random random) {
    int style = random.nextInt(5);
    int more = style == 4 ? n / 2 + random.nextInt(n + 1) : random.nextInt(n + 1);
    int base = style == 4 ? 0 : n - 1;
    int closed = style == 2 ? 1 : 0;
    int[] from = new int[base + closed + more];
    int[] to = new int[from.length];
    int[] label = random.nextBoolean() ? identity(n) : shuffled(n, random);
    for (int i = 1; i <= base; i++) {
      int before =
          style == 0
              ? random.nextInt(i)
              : style == 3 ? Math.max(0, i - 1 - random.nextInt(3)) : i - 1;
      from[i - 1] = label[before];
      to[i - 1] = label[i];
    }
    if (closed == 1) {
      from[base] = label[n - 1];
      to[base] = label[0];
    }
    for (int e = base + closed; e < from.length; e++) {
      from[e] = random.nextInt(n);
      int near = 1 + random.nextInt(random.nextBoolean() ? Math.min(n - 1, 5) : n - 1);
      to[e] = (from[e] + near) % n;
    }
    return new Graph(n, from, to);
  }

  private static int[] identity(int n) {
    int[] label = new int[n];
    Arrays.setAll(label, i -> i);
    return label;
  }

  private static int[] shuffled(int n, Random random) {
    int[] label = identity(n);
    for (int i = n - 1; i > 0; i--) {
      int j = random.nextInt(i + 1);
      int l = label[i];
      label[i] = label[j];
      label[j] = l;
    }
    return label;
  }

  /** 10^u with u in [-spread, spread]. */
  private static DoubleUnaryOperator weights(double spread) {
    return u -> Math.pow(10, spread * (2 * u - 1));
  }

  /** Height differences: n unknowns, a row an edge, in a random order of edges. */
  static Network levelling(int n, double spread, Random random) {
    Graph g = graph(n, random);
    DoubleUnaryOperator weight = weights(spread);
    int[] start = new int[g.edges() + 1];
    int[] index = new int[2 * g.edges()];
    double[] values = new double[2 * g.edges()];
    int[] order = shuffled(g.edges(), random);
    for (int i = 0; i < order.length; i++) {
      int e = order[i];
      double w = weight.applyAsDouble(random.nextDouble());
      boolean up = g.from[e] < g.to[e];
      index[2 * i] = Math.min(g.from[e], g.to[e]);
      index[2 * i + 1] = Math.max(g.from[e], g.to[e]);
      values[2 * i] = up ? -w : w;
      values[2 * i + 1] = up ? w : -w;
      start[i + 1] = 2 * (i + 1);
    }
    var a = new CsrMatrix(g.edges(), n, start, index, values);
    return new Network(a, n - g.components(), "levelling");
  }

  /**
   * Relative poses in the plane, linearized: 3 n unknowns x, y, heading; three rows an edge.
   *
   * @param exact whether positions are integers, headings multiples of 90 degrees, and weights
   *     floats, so that the dependencies hold without rounding
   */
  static Network poses(int n, double spread, boolean exact, Random random) {
    Graph g = graph(n, random);
    double[] x = new double[n];
    double[] y = new double[n];
    double[] cos = new double[n];
    double[] sin = new double[n];
    double extent = Math.pow(10, random.nextInt(3)) * Math.sqrt(n);
    for (int i = 0; i < n; i++) {
      x[i] = extent * random.nextGaussian();
      y[i] = extent * random.nextGaussian();
      double heading = 2 * Math.PI * random.nextDouble();
      int quarter = random.nextInt(4);
      cos[i] = exact ? new int[] {1, 0, -1, 0}[quarter] : Math.cos(heading);
      sin[i] = exact ? new int[] {0, 1, 0, -1}[quarter] : Math.sin(heading);
      x[i] = exact ? Math.rint(x[i]) : x[i];
      y[i] = exact ? Math.rint(y[i]) : y[i];
    }
    DoubleUnaryOperator some = weights(spread);
    DoubleUnaryOperator weight = exact ? u -> (float) some.applyAsDouble(u) : some;
    var rows = new PoseRows(g.edges(), n);
    for (int e : shuffled(g.edges(), random)) {
      int i = g.from[e];
      int j = g.to[e];
      double dx = x[j] - x[i];
      double dy = y[j] - y[i];
      double w1 = weight.applyAsDouble(random.nextDouble());
      double w2 = weight.applyAsDouble(random.nextDouble());
      double w3 = weight.applyAsDouble(random.nextDouble());
      double c = cos[i];
      double s = sin[i];
      rows.add(i, j, w1 * c, w1 * s, w1 * (c * dy - s * dx));
      rows.add(i, j, -w2 * s, w2 * c, -w2 * (c * dx + s * dy));
      rows.add(i, j, w3);
    }
    return new Network(rows.matrix(), 3 * (n - g.components()), exact ? "poses, exact" : "poses");
  }

  /** The rows of a pose graph. */
  private static final class PoseRows {
    private final int n;
    private final int[] start;
    private final int[] index;
    private final double[] values;
    private int row;
    private int at;

    PoseRows(int edges, int n) {
      this.n = n;
      this.start = new int[3 * edges + 1];
      this.index = new int[12 * edges];
      this.values = new double[index.length];
    }

    /** (p, q) (t_j - t_i) + turn heading_i. */
    void add(int i, int j, double p, double q, double turn) {
      boolean up = i < j;
      if (up) {
        put(3 * i, -p, -q, turn);
        put(3 * j, p, q, 0);
      } else {
        put(3 * j, p, q, 0);
        put(3 * i, -p, -q, turn);
      }
      start[++row] = at;
    }

    /** w (heading_j - heading_i). */
    void add(int i, int j, double w) {
      put(3 * Math.min(i, j), 0, 0, i < j ? -w : w);
      put(3 * Math.max(i, j), 0, 0, i < j ? w : -w);
      start[++row] = at;
    }

    private void put(int first, double... v) {
      for (int k = 0; k < v.length; k++) {
        if (v[k] != 0) {
          index[at] = first + k;
          values[at++] = v[k];
        }
      }
    }

    CsrMatrix matrix() {
      return new CsrMatrix(row, 3 * n, start, Arrays.copyOf(index, at), Arrays.copyOf(values, at));
    }
  }
}
