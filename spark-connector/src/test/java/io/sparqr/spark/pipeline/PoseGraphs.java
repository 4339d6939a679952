/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pipeline;

import io.sparqr.spark.model.SparseRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Random networks whose gauge is free, as in geodesy and in mapping by robots. Height networks have
 * one column for each node and a row w (h_j - h_i) for each edge; their null space has the
 * constants of each component. Pose graphs have the columns x, y and angle for each node and three
 * rows for each edge, the linearized position of node j seen from node i; their null space has two
 * translations and a rotation for each component.
 */
final class PoseGraphs {

  private PoseGraphs() {}

  /**
   * A network as a dense least-squares problem.
   *
   * @param a m x n
   * @param b size m
   * @param gauge n x d: a basis of the null space of the network with exact coefficients
   * @param keep columns to keep
   * @param drop columns to drop first
   * @param what for messages
   */
  record Network(double[][] a, double[] b, double[][] gauge, int[] keep, int[] drop, String what) {

    int columns() {
      return gauge.length;
    }

    List<SparseRow> rows() {
      var rows = new ArrayList<SparseRow>();
      for (int i = 0; i < a.length; i++) {
        double[] row = a[i];
        int[] index = IntStream.range(0, row.length).filter(j -> row[j] != 0).toArray();
        double[] value = Arrays.stream(index).mapToDouble(j -> row[j]).toArray();
        rows.add(new SparseRow(index, value, new double[] {b[i]}, 1, row.length));
      }
      return rows;
    }

    /** Norms of the columns. */
    double[] norms() {
      double[] norm = new double[columns()];
      for (double[] row : a) {
        for (int j = 0; j < norm.length; j++) {
          norm[j] = Math.hypot(norm[j], row[j]);
        }
      }
      return norm;
    }
  }

  /** The network of a seed. */
  static Network random(long seed) {
    var random = new Random(seed);
    boolean poses = random.nextInt(3) > 0;
    boolean weighted = random.nextInt(3) > 0;
    int nodes = 3 + random.nextInt(random.nextBoolean() ? 10 : 58);
    int components = random.nextInt(3) == 0 ? 1 + random.nextInt(Math.max(1, nodes / 3)) : 1;
    int[] of = new int[nodes];
    List<int[]> edges = edges(nodes, components, of, random);
    double weights = weighted ? 4 : 0;
    double far = Math.pow(10, 4 * random.nextDouble());
    var network =
        poses
            ? poses(nodes, edges, of, weights, far, random)
            : heights(nodes, edges, of, weights, random);
    int n = network.columns();
    int[] keep = new int[0];
    int[] drop = new int[0];
    if (random.nextInt(4) == 0) {
      int[] some = random.ints(0, n).distinct().limit(Math.min(n, 4)).toArray();
      keep = Arrays.copyOf(some, 2);
      drop = Arrays.copyOfRange(some, 2, some.length);
    }
    String what =
        "%s of %d nodes, %d edges, %d components, weights 10^+-%.0f, seed %d"
            .formatted(poses ? "poses" : "heights", nodes, edges.size(), components, weights, seed);
    return new Network(network.a, network.b, network.gauge, keep, drop, what);
  }

  /** A random tree or chain for each component, and further edges. */
  private static List<int[]> edges(int nodes, int components, int[] of, Random random) {
    boolean chain = random.nextBoolean();
    var edges = new ArrayList<int[]>();
    int[] last = new int[components];
    Arrays.fill(last, -1);
    List<List<Integer>> members = new ArrayList<>();
    for (int c = 0; c < components; c++) {
      members.add(new ArrayList<>());
    }
    for (int v = 0; v < nodes; v++) {
      int c = v < components ? v : random.nextInt(components);
      of[v] = c;
      List<Integer> before = members.get(c);
      if (!before.isEmpty()) {
        int u = chain ? last[c] : before.get(random.nextInt(before.size()));
        edges.add(random.nextBoolean() ? new int[] {u, v} : new int[] {v, u});
      }
      before.add(v);
      last[c] = v;
    }
    int further = random.nextInt(3) == 0 ? 0 : random.nextInt(nodes);
    for (int k = 0; k < further; k++) {
      int u = random.nextInt(nodes);
      List<Integer> others = members.get(of[u]);
      int v = others.get(random.nextInt(others.size()));
      if (u != v) {
        edges.add(new int[] {u, v});
      }
    }
    if (random.nextBoolean()) {
      java.util.Collections.shuffle(edges, random);
    }
    // A node alone has columns without entries, each of them dependent by itself.
    return edges;
  }

  private static double weight(double weights, Random random) {
    return Math.pow(10, weights * (2 * random.nextDouble() - 1));
  }

  private static double[] labels(int m, Random random) {
    double[] b = new double[m];
    for (int i = 0; i < m; i++) {
      b[i] = Math.rint(1000 * random.nextGaussian()) / 1000;
    }
    return b;
  }

  private static Network heights(
      int nodes, List<int[]> edges, int[] of, double weights, Random random) {
    double[][] a = new double[edges.size()][nodes];
    for (int e = 0; e < a.length; e++) {
      double w = weight(weights, random);
      a[e][edges.get(e)[0]] = -w;
      a[e][edges.get(e)[1]] = w;
    }
    int components = Arrays.stream(of).max().orElse(0) + 1;
    double[][] gauge = new double[nodes][components];
    for (int v = 0; v < nodes; v++) {
      gauge[v][of[v]] = 1;
    }
    return new Network(a, labels(a.length, random), gauge, null, null, "");
  }

  private static Network poses(
      int nodes, List<int[]> edges, int[] of, double weights, double far, Random random) {
    double[] x = new double[nodes];
    double[] y = new double[nodes];
    double[] angle = new double[nodes];
    for (int v = 0; v < nodes; v++) {
      x[v] = Math.rint(far * random.nextGaussian());
      y[v] = Math.rint(far * random.nextGaussian());
      angle[v] = Math.PI * (2 * random.nextDouble() - 1);
    }
    double[][] a = new double[3 * edges.size()][3 * nodes];
    for (int e = 0; e < edges.size(); e++) {
      int i = edges.get(e)[0];
      int j = edges.get(e)[1];
      double c = Math.cos(angle[i]);
      double s = Math.sin(angle[i]);
      double dx = x[j] - x[i];
      double dy = y[j] - y[i];
      double[][] row = {
        {-c, -s, -s * dx + c * dy, c, s, 0},
        {s, -c, -c * dx - s * dy, -s, c, 0},
        {0, 0, -1, 0, 0, 1}
      };
      for (int k = 0; k < 3; k++) {
        double w = weight(weights, random);
        for (int q = 0; q < 6; q++) {
          a[3 * e + k][3 * (q < 3 ? i : j) + q % 3] = w * row[k][q];
        }
      }
    }
    int components = Arrays.stream(of).max().orElse(0) + 1;
    double[][] gauge = new double[3 * nodes][3 * components];
    for (int v = 0; v < nodes; v++) {
      gauge[3 * v][3 * of[v]] = 1;
      gauge[3 * v + 1][3 * of[v] + 1] = 1;
      // A rotation about the origin.
      gauge[3 * v][3 * of[v] + 2] = -y[v];
      gauge[3 * v + 1][3 * of[v] + 2] = x[v];
      gauge[3 * v + 2][3 * of[v] + 2] = 1;
    }
    return new Network(a, labels(a.length, random), gauge, null, null, "");
  }
}
