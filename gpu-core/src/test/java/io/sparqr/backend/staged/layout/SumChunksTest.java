/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.layout;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Chunks of S entries have whole rows, as many as fit. */
class SumChunksTest {

  /** One front of 5000 columns with rows of all lengths, some longer than a chunk. */
  private static StageProgram program(Random random) {
    int n = 5000;
    int m = n + 40;
    int[] start = new int[m + 1];
    int[] column = new int[0];
    int at = 0;
    for (int i = 0; i < m; i++) {
      // every column begins a row
      int first = i < n ? i : 0;
      int most = random.nextInt(40) == 0 ? n : random.nextInt(20) + 1;
      int length = Math.min(n - first, most);
      column = Arrays.copyOf(column, Math.max(column.length, 2 * (at + length)));
      for (int k = 0; k < length; k++) {
        column[at++] = first + k;
      }
      start[i + 1] = at;
    }
    var a = new CsrMatrix(m, n, start, Arrays.copyOf(column, at), new double[at]);
    var options = SymbolicOptions.defaults().withOrdering(OrderingMethod.NATURAL);
    var analysis = SymbolicAnalyzer.analyze(a.pattern(), options.withSingletons(false));
    double[] ones = new double[n];
    Arrays.fill(ones, 1);
    RowSplit split = RowSplit.of(a, new double[m], 1, analysis, ones);
    int[] fronts = new int[analysis.fronts()];
    Arrays.setAll(fronts, f -> f);
    var problem = new SubtreeProblem(analysis, fronts, split.rows(), List.of());
    var builder =
        new StageBuilder(
            analysis, new RowsByFront(problem), SchedulerOptions.defaults(), 1, false, false);
    return builder.build(fronts, List.of());
  }

  private static int row(StageProgram p, FrontDescriptor d, long entry) {
    return Integer.divideUnsigned(p.sIndex()[(int) entry], d.ld());
  }

  @Test
  void wholeRowsAsManyAsFit() {
    StageProgram p = program(new Random(5));
    ByteBuffer chunks = SumChunks.entries(p).order(ByteOrder.LITTLE_ENDIAN);
    int longRows = 0;
    int full = 0;
    int next = 0;
    for (int f = 0; f < p.fronts(); f++) {
      FrontDescriptor d = p.descriptor(f);
      long end = SumChunks.rightStart(p, d);
      for (long at = d.sFrom(); at < end; next += SumChunks.BYTES) {
        long from = chunks.getLong(next + SumChunks.FROM);
        long to = chunks.getLong(next + SumChunks.TO);
        assertThat(chunks.getInt(next + SumChunks.FRONT)).isEqualTo(f);
        assertThat(from).isEqualTo(at);
        assertThat(to).isGreaterThan(at).isLessThanOrEqualTo(end);
        boolean one = row(p, d, from) == row(p, d, to - 1);
        assertThat(one || to - from <= SumChunks.ENTRIES).isTrue();
        longRows += one && to - from > SumChunks.ENTRIES ? 1 : 0;
        if (to < end) {
          assertThat(row(p, d, to)).isNotEqualTo(row(p, d, to - 1));
          // the next row would not have fitted
          long more = to;
          while (more < end && row(p, d, more) == row(p, d, to)) {
            more++;
          }
          assertThat(more - from).isGreaterThan(SumChunks.ENTRIES);
          full++;
        }
        at = to;
      }
    }
    assertThat(next).isEqualTo(chunks.limit());
    assertThat(longRows).isPositive();
    assertThat(full).isGreaterThan(10);
  }
}
