/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import io.sparqr.sparse.SparsityPattern;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Random;

/** Exact fill of small problems, independent of the project's own symbolic analysis. */
public final class FillCounter {

  private FillCounter() {}

  /** A symmetric graph without loops: neighbours of i are adj[ptr[i] .. ptr[i+1]), ascending. */
  public record Graph(int n, int[] ptr, int[] adj) {

    public static Graph of(BitSet[] rows) {
      int[] ptr = new int[rows.length + 1];
      for (int i = 0; i < rows.length; i++) {
        ptr[i + 1] = ptr[i] + rows[i].cardinality();
      }
      int[] adj = new int[ptr[rows.length]];
      int k = 0;
      for (BitSet row : rows) {
        for (int j = row.nextSetBit(0); j >= 0; j = row.nextSetBit(j + 1)) {
          adj[k++] = j;
        }
      }
      return new Graph(rows.length, ptr, adj);
    }

    /** Nine-point grid of k x k vertices. */
    public static Graph grid(int k) {
      BitSet[] rows = bitSets(k * k);
      for (int cell = 0; cell < k * k; cell++) {
        for (int q = 0; q < 9; q++) {
          int y = cell / k + q / 3 - 1;
          int x = cell % k + q % 3 - 1;
          if (q != 4 && x >= 0 && y >= 0 && x < k && y < k) {
            rows[cell].set(y * k + x);
          }
        }
      }
      return of(rows);
    }

    public static Graph random(int n, int edges, long seed) {
      Random random = new Random(seed);
      BitSet[] rows = bitSets(n);
      for (int e = 0; e < edges; e++) {
        int i = random.nextInt(n);
        int j = random.nextInt(n);
        if (i != j) {
          rows[i].set(j);
          rows[j].set(i);
        }
      }
      return of(rows);
    }

    /** Graph of A'A. */
    public static Graph of(SparsityPattern a) {
      BitSet[] rows = bitSets(a.columns());
      for (int r = 0; r < a.patterns(); r++) {
        for (long p = a.rowStart()[r]; p < a.rowStart()[r + 1]; p++) {
          for (long q = a.rowStart()[r]; q < a.rowStart()[r + 1]; q++) {
            if (p != q) {
              rows[a.columnIndex()[(int) p]].set(a.columnIndex()[(int) q]);
            }
          }
        }
      }
      return of(rows);
    }

    /** Vertex i becomes a clique of weight[i] vertices with the neighbours of i. */
    public Graph expand(int[] weight) {
      int[] first = new int[n + 1];
      for (int i = 0; i < n; i++) {
        first[i + 1] = first[i] + weight[i];
      }
      BitSet[] rows = bitSets(first[n]);
      for (int i = 0; i < n; i++) {
        for (int v = first[i]; v < first[i + 1]; v++) {
          rows[v].set(first[i], first[i + 1]);
          for (int p = ptr[i]; p < ptr[i + 1]; p++) {
            rows[v].set(first[adj[p]], first[adj[p] + 1]);
          }
          rows[v].clear(v);
        }
      }
      return of(rows);
    }
  }

  public static BitSet[] bitSets(int n) {
    BitSet[] rows = new BitSet[n];
    Arrays.setAll(rows, i -> new BitSet());
    return rows;
  }

  /** The order of the expanded graph that corresponds to a weighted order. */
  public static int[] spread(int[] order, int[] weight) {
    int[] first = new int[weight.length + 1];
    for (int i = 0; i < weight.length; i++) {
      first[i + 1] = first[i] + weight[i];
    }
    int[] out = new int[first[weight.length]];
    int k = 0;
    for (int i : order) {
      for (int v = first[i]; v < first[i + 1]; v++) {
        out[k++] = v;
      }
    }
    return out;
  }

  /**
   * Flops of a Cholesky factorization (the sum of squared column counts), by plain elimination of
   * one vertex after another.
   */
  public static double cholesky(int n, int[] ptr, int[] adj, int[] order) {
    BitSet[] rows = bitSets(n);
    for (int i = 0; i < n; i++) {
      for (int p = ptr[i]; p < ptr[i + 1]; p++) {
        rows[i].set(adj[p]);
      }
    }
    double flops = 0;
    for (int pivot : order) {
      BitSet clique = rows[pivot];
      int count = clique.cardinality() + 1;
      flops += (double) count * count;
      for (int j = clique.nextSetBit(0); j >= 0; j = clique.nextSetBit(j + 1)) {
        rows[j].or(clique);
        rows[j].clear(j);
        rows[j].clear(pivot);
      }
    }
    return flops;
  }
}
