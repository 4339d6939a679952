/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.pattern;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.SampledCases;
import io.sparqr.error.IndexOverflowException;
import io.sparqr.error.InsufficientMemoryException;
import io.sparqr.spark.engine.Engine;
import io.sparqr.spark.rows.SortedPairs;
import io.sparqr.spark.wire.PatternCodec.Patterns;
import io.sparqr.sparse.SparsityPattern;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Distinct patterns, their order, the sorting of rows, the sums over columns. */
class PatternTest {

  private static final long SEED = Long.getLong("test.seed", 20260107L);
  private final Random random = new Random(SEED);

  private static PatternOrder.Merged merged(List<List<byte[]>> parts, int n, boolean ridge) {
    var frames = new ArrayList<byte[]>();
    parts.forEach(frames::addAll);
    return new PatternOrder(DistinctPatterns.decoded(frames, 2), n, ridge, 2).merged();
  }

  private int[] row(int n) {
    return random.ints(random.nextInt(5), 0, n).distinct().sorted().toArray();
  }

  /** A pattern in the order that is promised: least column, hash, columns. */
  private record Row(int[] columns) implements Comparable<Row> {
    int first(int n) {
      return columns.length == 0 ? n : columns[0];
    }

    long hash() {
      return PatternTable.hash(columns, 0, columns.length);
    }

    @Override
    public int compareTo(Row o) {
      int c = Integer.compare(first(Integer.MAX_VALUE), o.first(Integer.MAX_VALUE));
      c = c != 0 ? c : Long.compare(hash(), o.hash());
      return c != 0 ? c : Arrays.compare(columns, o.columns);
    }
  }

  /** The pattern by a sorted map; a ridge row that is no pattern ends the rows of its column. */
  private static SparsityPattern expected(List<int[]> rows, int n, boolean ridge) {
    var count = new TreeMap<Row, Long>();
    rows.forEach(r -> count.merge(new Row(r), 1L, Long::sum));
    var all = new ArrayList<Map.Entry<int[], Long>>();
    int column = 0;
    var single = new HashSet<Integer>();
    for (var e : count.entrySet()) {
      int[] r = e.getKey().columns;
      for (; ridge && column < e.getKey().first(n); column++) {
        addRidge(all, column, single);
      }
      if (ridge && r.length == 1) {
        single.add(r[0]);
      }
      all.add(Map.entry(r, e.getValue() + (ridge && r.length == 1 ? 1 : 0)));
    }
    for (; ridge && column < n; column++) {
      addRidge(all, column, single);
    }
    long[] start = new long[all.size() + 1];
    for (int k = 0; k < all.size(); k++) {
      start[k + 1] = start[k] + all.get(k).getKey().length;
    }
    return new SparsityPattern(
        n,
        start,
        all.stream().flatMapToInt(e -> Arrays.stream(e.getKey())).toArray(),
        all.stream().mapToLong(Map.Entry::getValue).toArray());
  }

  private static void addRidge(List<Map.Entry<int[], Long>> all, int j, Set<Integer> single) {
    if (!single.contains(j)) {
      all.add(Map.entry(new int[] {j}, 1L));
    }
  }

  private static List<DistinctPatterns> dealt(List<int[]> rows, int sources) {
    var table = new PatternTable[sources];
    Arrays.setAll(table, k -> new PatternTable());
    for (int i = 0; i < rows.size(); i++) {
      table[i % sources].add(rows.get(i), 0, rows.get(i).length, 1);
    }
    return Arrays.stream(table).map(PatternTable::distinct).collect(Collectors.toList());
  }

  /** Columns of all kinds: a few, many, one that all rows have, some that none has. */
  @SampledCases(oneIn = 3)
  @ParameterizedTest
  @CsvSource({
    "40000, 5000, 6, false",
    "40000, 5000, 6, true",
    "30000, 40, 4, true",
    "90000, 200, 9, false",
    "3000, 100000, 3, true",
    "7, 4, 2, true",
    "1, 1, 0, false"
  })
  void patternsOfManySourcesMergeInOneOrder(int m, int n, int longest, boolean ridge) {
    for (boolean constant : new boolean[] {false, true}) {
      List<int[]> rows = new ArrayList<>();
      for (int i = 0; i < m; i++) {
        int[] r = random.ints(random.nextInt(longest + 1), 0, n).distinct().sorted().toArray();
        if (constant && r.length > 0 && i % 50 != 0) {
          r[0] = 0;
        }
        rows.add(r);
      }
      same(rows, n, ridge);
    }
  }

  private void same(List<int[]> rows, int n, boolean ridge) {
    SparsityPattern expected = expected(rows, n, ridge);
    long sum = 0;
    for (int[] r : rows) {
      sum += PatternTable.hash(r, 0, r.length);
    }
    for (int[] way : new int[][] {{1, 1}, {1, 2}, {3, 1}, {40, 3}}) {
      var order = new PatternOrder(dealt(rows, way[0]), n, ridge, way[1]);
      long patterns = order.patterns();
      long entries = order.entries();
      double squares = order.squares();
      var merged = order.merged();
      SparsityPattern found = merged.pattern();
      assertThat(found.rowStart()).as("seed %d", SEED).isEqualTo(expected.rowStart());
      assertThat(found.columnIndex()).as("seed %d", SEED).isEqualTo(expected.columnIndex());
      assertThat(found.multiplicity()).as("seed %d", SEED).isEqualTo(expected.multiplicity());
      assertThat(merged.sum()).isEqualTo(sum);
      SparsityPattern without = expected(rows, n, false);
      assertThat(patterns).isEqualTo(without.patterns());
      assertThat(entries).isEqualTo(without.patternEntries());
      double expectedSquares = 0;
      for (int p = 0; p < without.patterns(); p++) {
        double length = without.rowStart()[p + 1] - without.rowStart()[p];
        expectedSquares += length * length;
      }
      assertThat(squares).isEqualTo(expectedSquares);
    }
  }

  /** A table whose hashes agree in the bits that choose a reducer. */
  @Test
  void aReducersTableFindsWhatItHas() {
    var all = new PatternTable();
    for (int i = 0; i < 40_000; i++) {
      int[] r = random.ints(4, 0, 5000).distinct().sorted().toArray();
      all.add(r, 0, r.length, 1);
    }
    DistinctPatterns distinct = all.distinct();
    for (int parts : new int[] {1, 2, 16, 128}) {
      var last = new ArrayList<Patterns>();
      distinct.cut(parts, (k, part) -> last.add(part));
      assertThat(last).hasSize(parts);
      assertThat(last.stream().mapToInt(Patterns::count).sum()).isEqualTo(distinct.count());
      Patterns its = last.get(parts - 1);
      var table = new PatternTable();
      for (int twice = 0; twice < 2; twice++) {
        for (int q = 0; q < its.count(); q++) {
          table.add(its.column(), its.start()[q], its.start()[q + 1], 3 * its.multiplicity()[q]);
        }
      }
      DistinctPatterns found = table.distinct();
      assertThat(found.count()).as("seed %d", SEED).isEqualTo(its.count());
      for (int q = 0; q < its.count(); q++) {
        assertThat(found.multiplicity()[q]).isEqualTo(6 * its.multiplicity()[q]);
      }
      assertThat(Arrays.copyOf(found.column(), found.start()[its.count()])).isEqualTo(its.column());
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
      table
          .distinct()
          .cut(
              reducers,
              (k, its) -> {
                var reducer = new PatternTable();
                for (int q = 0; q < its.count(); q++) {
                  reducer.add(
                      its.column(), its.start()[q], its.start()[q + 1], its.multiplicity()[q]);
                }
                parts.add(0, PatternOrder.frames(k, reducer.sorted()));
              });
      var merged = merged(parts, n, false);
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
    SparsityPattern p = merged(List.of(frames), 4, true).pattern().validate();
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
      assertThatThrownBy(() -> PatternOrder.requireIndexable(size[0], size[1]))
          .isInstanceOf(IndexOverflowException.class)
          .hasMessageContaining("the limit is 2^31");
    }
    int many = Integer.MAX_VALUE - 8;
    var huge = new DistinctPatterns(many, new int[0], new int[0], new long[0], new long[0]);
    assertThatThrownBy(() -> new PatternOrder(new ArrayList<>(List.of(huge, huge)), 9, false, 1))
        .isInstanceOf(IndexOverflowException.class)
        .hasMessageContaining("the limit is 2^31");
    var most = new DriverMemory.Sizes(1L << 30, 1L << 40, 1L << 43, 1e14, 1L << 43);
    assertThat(most.need()).isGreaterThan(1L << 45);
  }

  @Test
  void whatCanBeDoneWithoutGivesWayToTheAnalysis() {
    var dropped = new AtomicInteger();
    DriverMemory.require(
        Engine.LOCAL, new DriverMemory.Sizes(9, 9, 20, 40, 0), dropped::incrementAndGet);
    assertThat(dropped).hasValue(0);
    var many = new DriverMemory.Sizes(1 << 30, 1L << 31, 1L << 31, 1e14, 0);
    assertThatThrownBy(() -> DriverMemory.require(Engine.LOCAL, many, dropped::incrementAndGet))
        .isInstanceOf(InsufficientMemoryException.class);
    assertThat(dropped).hasValue(1);
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
