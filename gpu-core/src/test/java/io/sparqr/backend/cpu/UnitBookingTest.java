/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.numeric.FactorOptions;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import io.sparqr.threads.TreeUnits;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several threads share a tree within the memory of one thread, and always finish. */
class UnitBookingTest {

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void neverBeyondTheBudgetAndNeverStuck(long seed) {
    var random = new Random(seed);
    SubtreeState state = state(forest(random));
    TreeUnits units = TreeRun.cut(state, 200);
    assertThat(units.count()).as("seed %d", seed).isGreaterThan(12);
    int[] pending = units.childrenOutside();
    var booking = new UnitBooking(state, units, 0);
    var running = new ArrayList<Integer>();
    var ready = new ArrayList<Integer>();
    long held = 0;
    int done = 0;
    int most = 0;
    while (done < units.count()) {
      for (int u = booking.admit(); u >= 0; u = booking.admit()) {
        if (pending[u] == 0) {
          ready.add(u);
        }
      }
      while (running.size() < 4 && !ready.isEmpty()) {
        running.add(ready.remove(random.nextInt(ready.size())));
      }
      assertThat(running).as("seed %d: stuck after %d units", seed, done).isNotEmpty();
      most = Math.max(most, running.size());
      long now = held + running.stream().mapToLong(booking::peak).sum();
      assertThat(now).as("seed %d", seed).isLessThanOrEqualTo(booking.budget());
      int unit = running.remove(random.nextInt(running.size()));
      held += booking.left(unit);
      done++;
      booking.finished(unit);
      for (int i = units.start(unit); i < units.start(unit + 1); i++) {
        int parent = state.parentIndex(i);
        if (parent >= 0 && units.unitOf(parent) != unit) {
          int above = units.unitOf(parent);
          if (--pending[above] == 0 && booking.isAdmitted(above)) {
            ready.add(above);
          }
        }
      }
    }
    assertThat(most).as("seed %d: units side by side", seed).isGreaterThan(1);
  }

  /** Blocks of random sizes, three entries a row, some columns that all of them share. */
  private static CsrMatrix forest(Random random) {
    int blocks = 24;
    int shared = 40;
    var rows = new ArrayList<int[]>();
    int first = 0;
    for (int b = 0; b < blocks; b++) {
      int columns = 60 + random.nextInt(120);
      for (int i = 0; i < 6 * columns; i++) {
        int from = first;
        IntStream own =
            IntStream.generate(() -> from + random.nextInt(columns)).distinct().limit(2);
        rows.add(own.sorted().toArray());
      }
      first += columns;
    }
    int n = first + shared;
    int[] start = new int[rows.size() + 1];
    int[] index = new int[3 * rows.size()];
    for (int i = 0; i < rows.size(); i++) {
      System.arraycopy(rows.get(i), 0, index, 3 * i, 2);
      index[3 * i + 2] = first + random.nextInt(shared);
      start[i + 1] = 3 * i + 3;
    }
    double[] values = random.doubles(index.length, 0.5, 1.5).toArray();
    return new CsrMatrix(rows.size(), n, start, index, values);
  }

  private static SubtreeState state(CsrMatrix a) {
    var analysis =
        SymbolicAnalyzer.analyze(a.pattern(), SymbolicOptions.defaults().withSingletons(false));
    double[] ones = new double[a.columns()];
    Arrays.fill(ones, 1);
    var rows = RowSplit.of(a, new double[a.rows()], 1, analysis, ones).rows();
    int[] all = IntStream.range(0, analysis.fronts()).toArray();
    return new SubtreeState(
        new SubtreeProblem(analysis, all, rows, List.of()),
        new FactorOptions(-1, 1, 0),
        GramRule.DEFAULT);
  }
}
