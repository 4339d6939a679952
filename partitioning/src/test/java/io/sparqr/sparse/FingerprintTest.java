/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.sparse;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A fingerprint identifies a pattern, and other patterns have other fingerprints. */
class FingerprintTest {

  private static final long SEED = 20261121L;

  @Test
  void theOrderOfTheRowsDoesNotCount() {
    var random = new Random(SEED);
    List<int[]> rows = rows(random, 200, 50);
    var first = pattern(50, rows).fingerprint();
    Collections.shuffle(rows, random);
    assertThat(pattern(50, rows).fingerprint()).as("seed %d", SEED).isEqualTo(first);
    assertThat(first.rows()).isEqualTo(200);
  }

  @Test
  void multiplicitiesCountAsRows() {
    int[] row = {1, 3};
    var twice = new SparsityPattern(4, new long[] {0, 2}, row, new long[] {2});
    assertThat(pattern(4, List.of(row, row)).fingerprint()).isEqualTo(twice.fingerprint());
    assertThat(pattern(4, List.of(row)).fingerprint()).isNotEqualTo(twice.fingerprint());
  }

  @Test
  void everySmallChangeIsSeen() {
    var random = new Random(SEED);
    List<int[]> rows = rows(random, 60, 30);
    var seen = new HashSet<SparsityPattern.Fingerprint>();
    seen.add(pattern(30, rows).fingerprint());
    seen.add(pattern(31, rows).fingerprint());
    int changes = 2;
    for (int i = 0; i < rows.size(); i++) {
      int[] row = rows.get(i);
      var without = new ArrayList<>(rows);
      without.remove(i);
      seen.add(pattern(30, without).fingerprint());
      var shorter = new ArrayList<>(rows);
      shorter.set(i, java.util.Arrays.copyOf(row, row.length - 1));
      seen.add(pattern(30, shorter).fingerprint());
      changes += 2;
    }
    assertThat(seen).as("seed %d", SEED).hasSize(changes);
  }

  /** Distinct rows of 2 to 5 columns. */
  private static List<int[]> rows(Random random, int count, int n) {
    var distinct = new HashSet<List<Integer>>();
    while (distinct.size() < count) {
      distinct.add(random.ints(2 + random.nextInt(4), 0, n).distinct().sorted().boxed().toList());
    }
    return new ArrayList<>(
        distinct.stream().map(r -> r.stream().mapToInt(j -> j).toArray()).toList());
  }

  private static SparsityPattern pattern(int n, List<int[]> rows) {
    long[] start = new long[rows.size() + 1];
    for (int i = 0; i < rows.size(); i++) {
      start[i + 1] = start[i] + rows.get(i).length;
    }
    int[] column = rows.stream().flatMapToInt(java.util.Arrays::stream).toArray();
    long[] one = new long[rows.size()];
    java.util.Arrays.fill(one, 1);
    return new SparsityPattern(n, start, column, one);
  }
}
