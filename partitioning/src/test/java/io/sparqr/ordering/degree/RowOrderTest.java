/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering.degree;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RowOrderTest {

  /** The first row with the column: that with the smaller column where two rows differ. */
  private static int compare(List<Integer> a, List<Integer> b) {
    for (int j = 0; j < 100; j++) {
      if (a.contains(j) != b.contains(j)) {
        return a.contains(j) ? -1 : 1;
      }
    }
    return 0;
  }

  @Test
  void sortsAndDropsEqualRowsWhateverOrderTheyCameIn() {
    for (int seed = 1; seed <= 300; seed++) {
      Random random = new Random(seed);
      int n = 1 + random.nextInt(8);
      List<List<Integer>> rows = new ArrayList<>();
      for (int r = 1 + random.nextInt(30); r > 0; r--) {
        List<Integer> row = new ArrayList<>();
        for (int j = 0; j < n; j++) {
          if (random.nextInt(3) == 0) {
            row.add(j);
          }
        }
        rows.add(row);
      }
      int[] order = sorted(rows, n);
      Map<List<Integer>, Integer> firstOf = new HashMap<>();
      for (int r = rows.size() - 1; r >= 0; r--) {
        firstOf.put(rows.get(r), r);
      }
      List<Integer> expected = new ArrayList<>(firstOf.values());
      expected.sort((a, b) -> compare(rows.get(a), rows.get(b)));
      assertThat(order)
          .as("seed %d", seed)
          .containsExactly(expected.stream().mapToInt(Integer::intValue).toArray());
    }
  }

  @Test
  void oneClassThatSplitsAgainAndAgain() {
    List<List<Integer>> rows = new ArrayList<>();
    for (int j = 0; j < 99; j++) {
      rows.add(List.of(j, 99));
    }
    Collections.shuffle(rows, new Random(1));
    int[] order = sorted(rows, 100);
    for (int k = 0; k < 99; k++) {
      assertThat(rows.get(order[k]).get(0)).isEqualTo(k);
    }
  }

  private static int[] sorted(List<List<Integer>> rows, int n) {
    int[] start = new int[n + 1];
    List<Integer> of = new ArrayList<>();
    for (int j = 0; j < n; j++) {
      for (int r = 0; r < rows.size(); r++) {
        if (rows.get(r).contains(j)) {
          of.add(r);
        }
      }
      start[j + 1] = of.size();
    }
    return RowOrder.distinct(rows.size(), start, of.stream().mapToInt(Integer::intValue).toArray());
  }
}
