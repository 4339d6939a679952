/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Contents;
import io.sparqr.Sampled;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The analysis of the graph of A'A equals that of the rows. */
class RowGraphTest {

  private static final long SEED = Long.getLong("test.seed", 20260201L);

  /** Distinct rows; some empty, of one entry, dense; some columns without any. */
  private static SparsityPattern rows(Random random) {
    int n = 3 + random.nextInt(40);
    int used = 1 + random.nextInt(n);
    var distinct = new TreeSet<int[]>(Arrays::compare);
    for (int r = random.nextInt(80); r >= 0; r--) {
      int length = r == 0 ? used : random.nextInt(Math.min(5, used) + 1);
      distinct.add(random.ints(100, 0, used).distinct().limit(length).sorted().toArray());
    }
    return pattern(n, new ArrayList<>(distinct), random);
  }

  private static SparsityPattern pattern(int n, List<int[]> rows, Random random) {
    long[] start = new long[rows.size() + 1];
    for (int r = 0; r < rows.size(); r++) {
      start[r + 1] = start[r] + rows.get(r).length;
    }
    int[] column = rows.stream().flatMapToInt(Arrays::stream).toArray();
    return new SparsityPattern(n, start, column, random.longs(rows.size(), 1, 9).toArray());
  }

  private static int[] row(SparsityPattern a, int r) {
    return Arrays.copyOfRange(a.columnIndex(), (int) a.rowStart()[r], (int) a.rowStart()[r + 1]);
  }

  /** One row for each edge; a column without neighbours gets a row of its own. */
  private static SparsityPattern graph(SparsityPattern a, Random random) {
    var edges = new TreeSet<int[]>(Arrays::compare);
    for (int r = 0; r < a.patterns(); r++) {
      int[] row = row(a, r);
      if (row.length == 1) {
        edges.add(row);
      }
      for (int i = 0; i < row.length; i++) {
        for (int j = i + 1; j < row.length; j++) {
          edges.add(new int[] {row[i], row[j]});
        }
      }
    }
    var list = new ArrayList<>(edges);
    Collections.shuffle(list, random);
    return pattern(a.columns(), list, random);
  }

  private static long[] leftmost(SparsityPattern a, Permutation order) {
    long[] count = new long[a.columns()];
    for (int r = 0; r < a.patterns(); r++) {
      int first = IntStream.of(row(a, r)).map(order::position).min().orElse(-1);
      if (first >= 0) {
        count[first] += a.multiplicity()[r];
      }
    }
    return count;
  }

  @Sampled(oneIn = 3)
  @Test
  void underTheSameOrderTheAnalysisIsTheSame() {
    var random = new Random(SEED);
    for (int round = 0; round < 300; round++) {
      SparsityPattern a = rows(random);
      long empty = 0;
      for (int r = 0; r < a.patterns(); r++) {
        empty += a.rowStart()[r] == a.rowStart()[r + 1] ? a.multiplicity()[r] : 0;
      }
      var graph =
          new RowGraph(
              graph(a, random),
              a.fingerprint(),
              a.rows(),
              empty,
              a.nonzeros(),
              order -> leftmost(a, order));
      List<Integer> shuffled = new ArrayList<>(IntStream.range(0, a.columns()).boxed().toList());
      Collections.shuffle(shuffled, random);
      var given = new Permutation(shuffled.stream().mapToInt(j -> j).toArray());
      SymbolicOptions options = SymbolicOptions.defaults().withGiven(given);
      SymbolicAnalysis of = SymbolicAnalyzer.analyze(graph, options);
      SymbolicAnalysis expected = SymbolicAnalyzer.analyze(a, options.withSingletons(false));
      Contents.requireSame(
          of.data(),
          expected.data(),
          "seed %d, round %d".formatted(SEED, round),
          "seconds",
          "reason");
      assertThat(of.isOf(a)).isTrue();
      for (OrderingMethod method : OrderingMethod.values()) {
        if (method != OrderingMethod.GIVEN) {
          SymbolicAnalysis other =
              SymbolicAnalyzer.analyze(graph, SymbolicOptions.defaults().withOrdering(method));
          assertThat(other.orderingReason()).startsWith("on the graph of A'A, without");
          long begun = IntStream.range(0, a.columns()).mapToLong(other::leftmostCount).sum();
          assertThat(begun).isEqualTo(a.rows() - empty);
        }
      }
    }
  }
}
