/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.dissection;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.ordering.graph.WeightedGraph;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class RowMergeTest {

  /** Places start near the largest int, so that they begin anew in the middle of the uses. */
  @Test
  void rowsAreMergedWithoutInnerEdgesFromOneUseToTheNext() {
    for (int seed = 1; seed <= 20; seed++) {
      Random random = new Random(seed);
      RowMerge rows = new RowMerge(Integer.MAX_VALUE - 300 - random.nextInt(200));
      for (int use = 0; use < 12; use++) {
        int n = 2 + random.nextInt(4 + 3 * use);
        WeightedGraph g = complete(n, random);
        int coarse = 1 + random.nextInt(n);
        int[] map = random.ints(n, 0, coarse).toArray();
        int from = random.nextInt(40);
        int[] neighbor = new int[from + g.entries() + 1];
        int[] weight = new int[neighbor.length];
        rows.begin(coarse, g.entries(), neighbor, weight, from);
        for (int c = 0; c < coarse; c++) {
          Map<Integer, Integer> expected = new TreeMap<>();
          int first = rows.end();
          rows.startRow(c);
          for (int v = 0; v < n; v++) {
            if (map[v] == c) {
              rows.add(g, v, map);
              for (int e = g.start[v]; e < g.start[v + 1]; e++) {
                if (map[g.neighbor[e]] != c) {
                  expected.merge(map[g.neighbor[e]], g.edgeWeight[e], Integer::sum);
                }
              }
            }
          }
          rows.endRow();
          Map<Integer, Integer> found = new TreeMap<>();
          for (int i = first; i < rows.end(); i++) {
            found.merge(neighbor[i], weight[i], Integer::sum);
          }
          assertThat(found).as("seed %d, use %d, row %d", seed, use, c).isEqualTo(expected);
          assertThat(rows.end() - first).as("seed %d: doubles", seed).isEqualTo(expected.size());
        }
        assertThat(rows.finish()).isEqualTo(rows.end());
      }
    }
  }

  private static WeightedGraph complete(int n, Random random) {
    int[] start = new int[n + 1];
    int[] neighbor = new int[n * (n - 1)];
    int[] weight = new int[n * (n - 1)];
    int end = 0;
    for (int v = 0; v < n; v++) {
      for (int u = 0; u < n; u++) {
        if (u != v) {
          neighbor[end] = u;
          weight[end++] = 1 + random.nextInt(9);
        }
      }
      start[v + 1] = end;
    }
    int[] ones = new int[n];
    java.util.Arrays.fill(ones, 1);
    return new WeightedGraph(n, start, neighbor, weight, ones);
  }
}
