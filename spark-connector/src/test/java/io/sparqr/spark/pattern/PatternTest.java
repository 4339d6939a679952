/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.IndexOverflowException;
import io.sparqr.spark.rows.SortedPairs;
import io.sparqr.spark.wire.PatternCodec.Patterns;
import io.sparqr.sparse.SparsityPattern;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Distinct patterns, their order, the sorting of rows, the sums over columns. */
class PatternTest {

  private static final long SEED = Long.getLong("test.seed", 20260107L);
  private final Random random = new Random(SEED);

  private int[] row(int n) {
    return random.ints(random.nextInt(5), 0, n).distinct().sorted().toArray();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void rangesOfThemMergeToTheSame(boolean ridge) {
    int n = 5000;
    var all = new PatternTable();
    for (int i = 0; i < 60_000; i++) {
      int[] r = random.ints(random.nextInt(7), 0, n).distinct().sorted().toArray();
      all.add(r, 0, r.length, 1 + random.nextInt(3));
    }
    int reducers = 3;
    List<List<byte[]>> parts = new ArrayList<>();
    for (int k = 0; k < reducers; k++) {
      var reducer = new PatternTable();
      Patterns its = all.part(k, reducers);
      for (int q = 0; q < its.count(); q++) {
        reducer.add(its.column(), its.start()[q], its.start()[q + 1], its.multiplicity()[q]);
      }
      parts.add(PatternOrder.frames(k, reducer.sorted()));
    }
    assertThat(parts.get(0)).as("frames a reducer").hasSizeGreaterThan(1);
    var one = PatternOrder.merge(parts, all.size(), all.entries(), n, ridge, 1, 1);
    assertThat(one.sum()).isEqualTo(all.sum());
    for (int ranges : new int[] {2, 3, 7, 40}) {
      var some = PatternOrder.merge(parts, all.size(), all.entries(), n, ridge, 2, ranges);
      assertThat(some.sum()).isEqualTo(one.sum());
      assertThat(some.pattern().rowStart()).as("seed %d", SEED).isEqualTo(one.pattern().rowStart());
      assertThat(some.pattern().columnIndex()).isEqualTo(one.pattern().columnIndex());
      assertThat(some.pattern().multiplicity()).isEqualTo(one.pattern().multiplicity());
    }
  }

  @Test
  void patternsAreCountedAndOrderedWhateverWayTheyCome() {
    int n = 9;
    Map<String, Long> expected = new HashMap<>();
    List<int[]> rows = new ArrayList<>();
    for (int i = 0; i < 3000; i++) {
      int[] r = row(n);
      rows.add(r);
      expected.merge(Arrays.toString(r), 1L, Long::sum);
    }
    SparsityPattern first = null;
    for (int reducers : new int[] {1, 2, 5}) {
      java.util.Collections.shuffle(rows, random);
      var table = new PatternTable();
      for (int[] r : rows) {
        table.add(r, 0, r.length, 1);
      }
      assertThat(table.size()).isEqualTo(expected.size());
      List<List<byte[]>> parts = new ArrayList<>();
      for (int k = reducers - 1; k >= 0; k--) {
        var reducer = new PatternTable();
        Patterns its = table.part(k, reducers);
        for (int q = 0; q < its.count(); q++) {
          reducer.add(its.column(), its.start()[q], its.start()[q + 1], its.multiplicity()[q]);
        }
        parts.add(PatternOrder.frames(k, reducer.sorted()));
      }
      var merged = PatternOrder.merge(parts, table.size(), table.entries(), n, false);
      assertThat(merged.sum()).isEqualTo(table.sum());
      SparsityPattern p = merged.pattern().validate();
      assertThat(p.rows()).isEqualTo(3000);
      for (int k = 0; k < p.patterns(); k++) {
        int[] columns =
            Arrays.copyOfRange(p.columnIndex(), (int) p.rowStart()[k], (int) p.rowStart()[k + 1]);
        assertThat(p.multiplicity()[k])
            .as("seed %d", SEED)
            .isEqualTo(expected.get(Arrays.toString(columns)));
      }
      first = first == null ? p : first;
      assertThat(p.columnIndex()).isEqualTo(first.columnIndex());
      assertThat(p.multiplicity()).isEqualTo(first.multiplicity());
    }
  }

  @Test
  void aRidgeAddsOneRowAColumn() {
    var some = new Patterns(new long[] {3, 1}, new int[] {0, 1, 3}, new int[] {1, 0, 2});
    var table = new PatternTable();
    for (int q = 0; q < some.count(); q++) {
      table.add(some.column(), some.start()[q], some.start()[q + 1], some.multiplicity()[q]);
    }
    List<byte[]> frames = PatternOrder.frames(0, table.sorted());
    SparsityPattern p = PatternOrder.merge(List.of(frames), 2, 3, 4, true).pattern().validate();
    assertThat(p.rows()).isEqualTo(8);
    assertThat(p.nonzeros()).isEqualTo(3 + 2 + 4);
    assertThat(p.columnIndex()).containsExactly(0, 2, 0, 1, 2, 3);
    assertThat(p.multiplicity()).containsExactly(1, 1, 4, 1, 1);
  }

  /**
   * Counts are long throughout; an array that would exceed its limit is refused before it is
   * allocated.
   */
  @Test
  void whatNoArrayCanHoldIsRefusedBeforeItComes() {
    for (long[] size : new long[][] {{1L << 31, 1L << 31}, {1L << 30, (1L << 31) + 5}}) {
      assertThatThrownBy(() -> PatternOrder.merge(List.of(), size[0], size[1], 9, false))
          .isInstanceOf(IndexOverflowException.class)
          .hasMessageContaining("the limit is 2^31");
    }
    var most = new DriverMemory.Sizes(1L << 30, 1L << 40, 1L << 43, 1e14, 1L << 43);
    assertThat(most.need()).isGreaterThan(1L << 45);
  }

  @Test
  void pairsAreSortedByKey() {
    for (int count : new int[] {0, 1, 2, 31, 33, 500}) {
      int[] key = random.ints(count, 0, 1 << 30).toArray();
      double[] value = Arrays.stream(key).asDoubleStream().toArray();
      int[] expected = key.clone();
      Arrays.sort(expected);
      SortedPairs.sort(key, value, count);
      assertThat(key).isEqualTo(expected);
      assertThat(value).isEqualTo(Arrays.stream(expected).asDoubleStream().toArray());
    }
  }

  @Test
  void chunksAreMergedInPartitionOrder() {
    List<byte[]> frames = new ArrayList<>();
    double[] values = random.doubles(7, -1, 1).toArray();
    for (int p = 0; p < 7; p++) {
      var chunks = new ColumnChunks();
      chunks.add(5, values[p]);
      chunks.add(20_000, p);
      chunks.encode(p, frames);
    }
    double expected = 0;
    for (double v : values) {
      expected = expected == 0 ? v : expected + v;
    }
    for (int k = 0; k < 5; k++) {
      java.util.Collections.shuffle(frames, random);
      List<byte[]> merged = new ArrayList<>();
      ColumnChunks.merge(new ArrayList<>(frames), Double::sum).encode(0, merged);
      double[] vector = new double[20_001];
      merged.forEach(f -> ColumnChunks.place(f, vector));
      assertThat(vector[5]).as("seed %d", SEED).isEqualTo(expected);
      assertThat(vector[20_000]).isEqualTo(21);
      assertThat(Arrays.stream(vector).filter(v -> v != 0)).hasSize(2);
    }
  }

  @Test
  void normsNeitherOverflowNorUnderflow() {
    var norms = new ChunkedColumnNorms();
    for (int k = 0; k < 4; k++) {
      norms.add(0, 1e300);
      norms.add(1, 1e-300);
      norms.add(2, 3);
    }
    norms.add(3, 1e300);
    norms.add(3, 1);
    double[] n = norms.norms().peek(0);
    assertThat(n[0]).isEqualTo(2e300);
    assertThat(n[1]).isEqualTo(2e-300);
    assertThat(n[2]).isEqualTo(6);
    assertThat(n[3]).isEqualTo(1e300);
  }
}
