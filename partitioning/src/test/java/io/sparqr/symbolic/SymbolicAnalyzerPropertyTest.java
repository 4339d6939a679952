/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.symbolic;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.Sampling;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.Permutation;
import io.sparqr.sparse.SparsityPattern;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Structure, counts, tree and sizes against brute force on small random matrices. */
class SymbolicAnalyzerPropertyTest {

  private static final long SEED = Long.getLong("test.seed", 20150101L);
  private static final int[] ITERATIONS = Sampling.numbers("test.iters", 600).toArray();

  private record Case(SparsityPattern a, SymbolicAnalysis s, String name) {}

  private static Case draw(int iteration, Amalgamation rules) {
    Random random = new Random(SEED + iteration);
    int n = 1 + random.nextInt(24);
    int m = random.nextInt(40);
    SparsityPattern a = Patterns.random(random, m, n, 1 + random.nextInt(5));
    List<Integer> order = new ArrayList<>();
    for (int j = 0; j < n; j++) {
      order.add(j);
    }
    Collections.shuffle(order, random);
    SymbolicOptions options =
        SymbolicOptions.defaults()
            .withSingletons(random.nextInt(3) > 0)
            .withAmalgamation(rules)
            .withOrdering(OrderingMethod.NATURAL);
    if (random.nextBoolean()) {
      options =
          options.withGiven(new Permutation(order.stream().mapToInt(Integer::intValue).toArray()));
    }
    String name = "seed " + SEED + ", iteration " + iteration;
    return new Case(a, SymbolicAnalyzer.analyze(a, options), name);
  }

  @Test
  void fundamentalSupernodesHaveTheStructureOfTheCholeskyFactor() {
    for (int it : ITERATIONS) {
      Case c = draw(it, Amalgamation.none());
      SymbolicAnalysis s = c.s;
      StructureOracle oracle =
          StructureOracle.of(c.a, s.permutation().inverseArray(), s.singletons());
      int[] children = new int[c.a.columns()];
      for (int j = s.singletons(); j < c.a.columns(); j++) {
        if (oracle.parent(j) >= 0) {
          children[oracle.parent(j)]++;
        }
      }
      for (int f = 0; f < s.fronts(); f++) {
        if (s.fm(f) == 0) {
          continue;
        }
        List<Integer> tail = tail(s, f);
        int last = s.firstPivot(f + 1) - 1;
        for (int j = last; j >= s.firstPivot(f); j--) {
          assertThat(oracle.beyond(j)).as(c.name + ", row %d of R", j).isEqualTo(tail);
          tail.add(0, j);
          assertThat(j == s.firstPivot(f) || children[j] == 1).as(c.name).isTrue();
        }
        int next = oracle.parent(last);
        boolean couldGrow =
            next == last + 1
                && children[next] == 1
                && oracle.beyond(next).size() + 1 == oracle.beyond(last).size();
        assertThat(couldGrow).as(c.name + ", front %d is maximal", f).isFalse();
      }
    }
  }

  @Test
  void amalgamatedFrontsCoverTheStructureAndKeepTheTree() {
    for (int it : ITERATIONS) {
      Case c = draw(it, Amalgamation.defaults());
      SymbolicAnalysis s = c.s;
      StructureOracle oracle =
          StructureOracle.of(c.a, s.permutation().inverseArray(), s.singletons());
      for (int f = 0; f < s.fronts(); f++) {
        List<Integer> columns = columns(s, f);
        List<Integer> tail = tail(s, f);
        assertThat(columns).as(c.name).isSorted();
        int last = s.firstPivot(f + 1) - 1;
        if (s.fm(f) > 0) {
          assertThat(oracle.beyond(last)).as(c.name).isEqualTo(tail);
        }
        for (int j = s.firstPivot(f); j <= last; j++) {
          assertThat(columns).as(c.name).containsAll(oracle.beyond(j));
        }
        int up = tail.isEmpty() ? -1 : s.frontOfPosition(tail.get(0));
        assertThat(s.parent(f)).as(c.name).isEqualTo(up);
        if (up >= 0) {
          assertThat(columns(s, up)).as(c.name).containsAll(tail);
        }
      }
    }
  }

  @Test
  void denseQrOfRandomValuesFillsNothingThatTheFrontsDoNotHold() {
    for (int it : Sampling.numbers(100).toArray()) {
      Random random = new Random(SEED + it);
      int n = 2 + random.nextInt(14);
      SparsityPattern sparse = Patterns.random(random, 20, n, 3);
      SparsityPattern a = Patterns.withDiagonal(sparse);
      SymbolicAnalysis s =
          SymbolicAnalyzer.analyze(
              a, SymbolicOptions.defaults().withAmalgamation(Amalgamation.none()));
      int[] position = s.permutation().inverseArray();
      double[][] dense = new double[a.patterns()][n];
      boolean[][] held = new boolean[n][n];
      for (int p = 0; p < a.patterns(); p++) {
        List<Integer> row = StructureOracle.row(a, p, position);
        for (int j : row) {
          dense[p][j] = 1 + random.nextDouble();
        }
        for (int j : row) {
          held[row.get(0)][j] |= row.get(0) < s.singletons();
        }
      }
      for (int f = 0; f < s.fronts(); f++) {
        List<Integer> columns = columns(s, f);
        for (int k = 0; k < s.fp(f); k++) {
          for (int j : columns.subList(k, columns.size())) {
            held[columns.get(k)][j] = true;
          }
        }
      }
      triangularize(dense, n);
      // an entry takes part in fewer rotations than there are entries
      double rounding = a.patterns() * n * Math.ulp(2.0);
      for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++) {
          assertThat(held[i][j] || Math.abs(dense[i][j]) < rounding)
              .as("seed %d, iteration %d, R(%d,%d) = %g", SEED, it, i, j, dense[i][j])
              .isTrue();
        }
      }
    }
  }

  /** Givens rotations, column by column. */
  private static void triangularize(double[][] a, int n) {
    for (int k = 0; k < n; k++) {
      for (int i = k + 1; i < a.length; i++) {
        double h = Math.hypot(a[k][k], a[i][k]);
        if (a[i][k] == 0) {
          continue;
        }
        double c = a[k][k] / h;
        double t = a[i][k] / h;
        for (int j = k; j < n; j++) {
          double top = c * a[k][j] + t * a[i][j];
          a[i][j] = c * a[i][j] - t * a[k][j];
          a[k][j] = top;
        }
        a[i][k] = 0;
      }
    }
  }

  @Test
  void sizesStaircaseAndFlopsAreThoseOfAnAssemblyByHand() {
    for (int it : ITERATIONS) {
      Case c = draw(it, it % 2 == 0 ? Amalgamation.none() : Amalgamation.defaults());
      SymbolicAnalysis s = c.s;
      int[] position = s.permutation().inverseArray();
      List<List<Integer>> leftmost = new ArrayList<>();
      for (int f = 0; f < s.fronts(); f++) {
        leftmost.add(new ArrayList<>());
      }
      long empty = 0;
      int[] singletonRows = new int[s.singletons()];
      for (int p = 0; p < c.a.patterns(); p++) {
        List<Integer> row = StructureOracle.row(c.a, p, position);
        if (row.isEmpty()) {
          empty += c.a.multiplicity()[p];
        } else if (row.get(0) < s.singletons()) {
          singletonRows[row.get(0)] += (int) c.a.multiplicity()[p];
        } else {
          int f = s.frontOfPosition(row.get(0));
          assertThat(columns(s, f)).as(c.name).containsAll(row);
          leftmost.get(f).addAll(Collections.nCopies((int) c.a.multiplicity()[p], row.get(0)));
        }
      }
      assertThat(s.emptyRows()).as(c.name).isEqualTo(empty);
      assertThat(Arrays.stream(singletonRows).allMatch(k -> k == 1)).as(c.name).isTrue();
      for (int f = 0; f < s.fronts(); f++) {
        List<Integer> columns = columns(s, f);
        List<Integer> rows = leftmost.get(f);
        Collections.sort(rows);
        assertThat(s.fm(f)).as(c.name).isEqualTo(rows.size());
        long cm = Math.min(Math.max(rows.size() - s.fp(f), 0), s.cn(f));
        assertThat(s.cm(f)).as(c.name).isEqualTo(cm);
        for (int i = 0; i < cm; i++) {
          leftmost.get(s.parent(f)).add(columns.get(s.fp(f) + i));
        }
        long[] stair = Staircase.of(s, f);
        double flops = 0;
        for (int k = 0; k < s.fn(f); k++) {
          int column = columns.get(k);
          int reach = (int) rows.stream().filter(x -> x <= column).count();
          assertThat(stair[k]).as(c.name).isEqualTo(reach);
          int h = Math.max(reach - k, 1);
          flops += k < rows.size() ? 3.0 * h + 4.0 * h * (s.fn(f) - k - 1) : 0;
        }
        assertThat(s.frontFlops(f)).as(c.name).isEqualTo(flops);
      }
    }
  }

  @Test
  void singletonsAreTriangularMaximalAndNeverTakeABarredColumn() {
    for (int it : ITERATIONS) {
      Random random = new Random(SEED + it);
      int n = 1 + random.nextInt(20);
      SparsityPattern a = Patterns.random(random, random.nextInt(25), n, 3);
      int barred = random.nextInt(n);
      SymbolicOptions options =
          SymbolicOptions.defaults()
              .withOrdering(OrderingMethod.NATURAL)
              .withNotSingletons(new int[] {barred});
      SymbolicAnalysis s = SymbolicAnalyzer.analyze(a, options);
      int[] position = s.permutation().inverseArray();
      String name = "seed " + SEED + ", iteration " + it;
      assertThat(position[barred]).as(name).isGreaterThanOrEqualTo(s.singletons());
      long[] entries = new long[n];
      long[] leastOf = new long[n];
      for (int p = 0; p < a.patterns(); p++) {
        List<Integer> row = StructureOracle.row(a, p, position);
        if (row.isEmpty()) {
          continue;
        }
        leastOf[row.get(0)] += a.multiplicity()[p];
        for (int j : row) {
          entries[j] += row.get(0) >= s.singletons() ? a.multiplicity()[p] : 0;
        }
      }
      for (int j = 0; j < n; j++) {
        assertThat(s.leftmostCount(j)).as(name).isEqualTo(leastOf[j]);
        if (j < s.singletons()) {
          assertThat(leastOf[j]).as(name).isEqualTo(1);
        } else if (j != position[barred]) {
          assertThat(entries[j]).as(name + ", a singleton is left").isNotEqualTo(1);
        }
      }
    }
  }

  private static List<Integer> columns(SymbolicAnalysis s, int f) {
    List<Integer> list = new ArrayList<>();
    for (int k = 0; k < s.fn(f); k++) {
      list.add(s.column(f, k));
    }
    return list;
  }

  private static List<Integer> tail(SymbolicAnalysis s, int f) {
    int[] tails = s.data().tailColumns();
    int from = s.data().tailStart()[f];
    int to = s.data().tailStart()[f + 1];
    return new ArrayList<>(Arrays.stream(tails, from, to).boxed().toList());
  }
}
