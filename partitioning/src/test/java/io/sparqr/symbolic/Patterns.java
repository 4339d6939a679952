/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;

/** Small and large patterns for tests. */
public final class Patterns {

  private Patterns() {}

  /** A pattern of the given rows (ascending columns), each once. */
  public static SparsityPattern of(int columns, List<int[]> rows) {
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
  public static SparsityPattern random(Random random, int rows, int columns, int most) {
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
  public static SparsityPattern tridiagonal(int n) {
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
  public static SparsityPattern arrow(int n) {
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

  /** Rows {i}, and one row of all columns: R is a dense triangle. */
  public static SparsityPattern denseRow(int n) {
    long[] start = new long[n + 2];
    int[] index = new int[2 * n];
    long[] once = new long[n + 1];
    Arrays.fill(once, 1);
    for (int i = 0; i < n; i++) {
      index[i] = i;
      index[n + i] = i;
      start[i + 1] = i + 1;
    }
    start[n + 1] = 2L * n;
    return new SparsityPattern(n, start, index, once);
  }

  /** One row an edge and one a node of a k x k grid. */
  public static SparsityPattern grid(int k) {
    List<int[]> rows = new ArrayList<>();
    for (int i = 0; i < k; i++) {
      for (int j = 0; j < k; j++) {
        rows.add(new int[] {i * k + j});
        if (j + 1 < k) {
          rows.add(new int[] {i * k + j, i * k + j + 1});
        }
        if (i + 1 < k) {
          rows.add(new int[] {i * k + j, i * k + k + j});
        }
      }
    }
    return of(k * k, rows);
  }

  /** Nested dissection of a k x k grid by coordinates. */
  public static Permutation dissectGrid(int k) {
    List<Integer> order = new ArrayList<>();
    dissect(k, 0, k, 0, k, order);
    return new Permutation(order.stream().mapToInt(Integer::intValue).toArray());
  }

  private static void dissect(int k, int i0, int i1, int j0, int j1, List<Integer> order) {
    boolean leaf = (long) (i1 - i0) * (j1 - j0) <= 4;
    boolean tall = i1 - i0 >= j1 - j0;
    int mid = tall ? (i0 + i1) / 2 : (j0 + j1) / 2;
    if (!leaf && tall) {
      dissect(k, i0, mid, j0, j1, order);
      dissect(k, mid + 1, i1, j0, j1, order);
    } else if (!leaf) {
      dissect(k, i0, i1, j0, mid, order);
      dissect(k, i0, i1, mid + 1, j1, order);
    }
    for (int i = leaf || !tall ? i0 : mid; i < (leaf || !tall ? i1 : mid + 1); i++) {
      for (int j = leaf || tall ? j0 : mid; j < (leaf || tall ? j1 : mid + 1); j++) {
        order.add(i * k + j);
      }
    }
  }

  /** The pattern with n more rows {j}: full rank for almost any values. */
  public static SparsityPattern withDiagonal(SparsityPattern a) {
    int n = a.columns();
    int patterns = a.patterns();
    long[] start = Arrays.copyOf(a.rowStart(), patterns + n + 1);
    int entries = a.columnIndex().length;
    int[] index = Arrays.copyOf(a.columnIndex(), entries + n);
    long[] multiplicity = Arrays.copyOf(a.multiplicity(), patterns + n);
    for (int j = 0; j < n; j++) {
      index[entries + j] = j;
      multiplicity[patterns + j] = 1;
      start[patterns + j + 1] = entries + j + 1;
    }
    return new SparsityPattern(n, start, index, multiplicity);
  }
}
