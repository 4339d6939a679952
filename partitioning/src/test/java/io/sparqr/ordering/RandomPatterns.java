/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.ordering;

import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.sparse.SparsityPattern;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;

/** Seeded patterns for the tests of orderings. */
public final class RandomPatterns {

  private RandomPatterns() {}

  /** Rows as given, equal ones once with their multiplicity. */
  public static SparsityPattern of(int columns, List<int[]> rows) {
    TreeMap<int[], Long> distinct = new TreeMap<>(Arrays::compare);
    for (int[] row : rows) {
      distinct.merge(row, 1L, Long::sum);
    }
    long[] start = new long[distinct.size() + 1];
    long[] multiplicity = new long[distinct.size()];
    int k = 0;
    for (var e : distinct.entrySet()) {
      start[k + 1] = start[k] + e.getKey().length;
      multiplicity[k++] = e.getValue();
    }
    int[] index = distinct.keySet().stream().flatMapToInt(Arrays::stream).toArray();
    return new SparsityPattern(columns, start, index, multiplicity).validate();
  }

  public static SparsityPattern of(String gallery) {
    SparsityPattern a = Gallery.generate(gallery).pattern();
    List<int[]> rows = new ArrayList<>();
    for (int r = 0; r < a.patterns(); r++) {
      rows.add(
          Arrays.copyOfRange(a.columnIndex(), (int) a.rowStart()[r], (int) a.rowStart()[r + 1]));
    }
    return of(a.columns(), rows);
  }

  /** m rows of {@code perRow} columns each, evenly. */
  public static SparsityPattern uniform(int m, int n, int perRow, long seed) {
    Random random = new Random(seed);
    List<int[]> rows = new ArrayList<>();
    for (int r = 0; r < m; r++) {
      rows.add(row(random, n, perRow));
    }
    return of(n, rows);
  }

  private static int[] row(Random random, int n, int count) {
    return random.ints(0, n).distinct().limit(Math.min(count, n)).sorted().toArray();
  }

  /** Sizes, densities, empty rows and columns, dense rows, duplicate columns: by the seed. */
  static SparsityPattern anything(long seed) {
    Random random = new Random(seed);
    int n = 1 + random.nextInt(random.nextBoolean() ? 12 : 150);
    int m = random.nextInt(random.nextBoolean() ? 12 : 250);
    int span = random.nextInt(4) == 0 ? Math.max(1, n / 2) : n;
    List<int[]> rows = new ArrayList<>();
    for (int r = 0; r < m; r++) {
      int kind = random.nextInt(40);
      int count = kind == 0 ? span : kind == 1 ? 0 : 1 + random.nextInt(Math.min(span, 6));
      rows.add(row(random, span, count));
    }
    SparsityPattern a = of(n, rows);
    return random.nextInt(5) == 0 ? duplicateColumns(a) : a;
  }

  /** The same rows in another order. */
  public static SparsityPattern shuffleRows(SparsityPattern a, long seed) {
    List<Integer> order = new ArrayList<>();
    for (int r = 0; r < a.patterns(); r++) {
      order.add(r);
    }
    Collections.shuffle(order, new Random(seed));
    long[] start = new long[a.patterns() + 1];
    long[] multiplicity = new long[a.patterns()];
    int[] index = new int[a.columnIndex().length];
    for (int k = 0; k < a.patterns(); k++) {
      int r = order.get(k);
      int length = (int) (a.rowStart()[r + 1] - a.rowStart()[r]);
      System.arraycopy(a.columnIndex(), (int) a.rowStart()[r], index, (int) start[k], length);
      start[k + 1] = start[k] + length;
      multiplicity[k] = a.multiplicity()[r];
    }
    return new SparsityPattern(a.columns(), start, index, multiplicity);
  }

  /** Column j becomes columns 2j and 2j+1. */
  static SparsityPattern duplicateColumns(SparsityPattern a) {
    long[] start = Arrays.stream(a.rowStart()).map(s -> 2 * s).toArray();
    int[] index = new int[2 * a.columnIndex().length];
    for (int k = 0; k < a.columnIndex().length; k++) {
      index[2 * k] = 2 * a.columnIndex()[k];
      index[2 * k + 1] = 2 * a.columnIndex()[k] + 1;
    }
    return new SparsityPattern(2 * a.columns(), start, index, a.multiplicity());
  }

  /** Small members of the gallery's families, and random rows of 2 to 5 columns. */
  public static List<SparsityPattern> structuredAndRandom() {
    List<SparsityPattern> all = new ArrayList<>();
    for (String s :
        List.of("cells2d20", "cells2d33", "cells3d8", "cells3d10", "grad3d8", "ch4-5-b2", "nug5")) {
      all.add(of(Gallery.PREFIX + s));
    }
    for (int seed = 1; seed <= 8; seed++) {
      all.add(uniform(700 + 50 * seed, 500, 2 + seed % 4, seed));
    }
    return all;
  }
}
