/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.sparse.SparsityPattern;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;

/** Small and large patterns for tests. */
final class Patterns {

  private Patterns() {}

  /** A pattern of the given rows (ascending columns), each once. */
  static SparsityPattern of(int columns, List<int[]> rows) {
    long[] start = new long[rows.size() + 1];
    for (int i = 0; i < rows.size(); i++) {
      start[i + 1] = start[i] + rows.get(i).length;
    }
    int[] index = new int[(int) start[rows.size()]];
    for (int i = 0; i < rows.size(); i++) {
      System.arraycopy(rows.get(i), 0, index, (int) start[i], rows.get(i).length);
    }
    long[] once = new long[rows.size()];
    Arrays.fill(once, 1);
    return new SparsityPattern(columns, start, index, once);
  }

  /** Random rows with 0 to most entries and multiplicities 1 to 3 (mostly 1). */
  static SparsityPattern random(Random random, int rows, int columns, int most) {
    List<int[]> list = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      TreeSet<Integer> set = new TreeSet<>();
      int length = random.nextInt(most + 1);
      for (int k = 0; k < length; k++) {
        set.add(random.nextInt(columns));
      }
      list.add(set.stream().mapToInt(Integer::intValue).toArray());
    }
    SparsityPattern once = of(columns, list);
    long[] multiplicity = new long[rows];
    for (int i = 0; i < rows; i++) {
      multiplicity[i] = random.nextInt(4) == 0 ? 1 + random.nextInt(3) : 1;
    }
    return new SparsityPattern(columns, once.rowStart(), once.columnIndex(), multiplicity);
  }

  /** Rows {i, i+1} and {i}: a path. */
  static SparsityPattern tridiagonal(int n) {
    long[] start = new long[2 * n];
    int[] index = new int[3 * n - 2];
    long[] once = new long[2 * n - 1];
    Arrays.fill(once, 1);
    int k = 0;
    for (int i = 0; i < n; i++) {
      index[k++] = i;
      start[2 * i + 1] = k;
      if (i + 1 < n) {
        index[k++] = i;
        index[k++] = i + 1;
        start[2 * i + 2] = k;
      }
    }
    return new SparsityPattern(n, start, index, once);
  }

  /** Rows {i, n-1}, each twice: a star with hub n-1. */
  static SparsityPattern arrow(int n) {
    long[] start = new long[n];
    int[] index = new int[2 * (n - 1)];
    long[] twice = new long[n - 1];
    Arrays.fill(twice, 2);
    for (int i = 0; i < n - 1; i++) {
      index[2 * i] = i;
      index[2 * i + 1] = n - 1;
      start[i + 1] = 2L * i + 2;
    }
    return new SparsityPattern(n, start, index, twice);
  }
}
