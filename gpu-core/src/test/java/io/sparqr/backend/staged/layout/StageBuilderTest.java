/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.backend.staged.layout;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparqr.backend.schedule.FrontDescriptor;
import io.sparqr.backend.schedule.SchedulerOptions;
import io.sparqr.backend.schedule.StageSchedule;
import io.sparqr.backend.schedule.TaskLayout;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.RowSplit;
import io.sparqr.numeric.SubtreeProblem;
import io.sparqr.numeric.assembly.RowsByFront;
import io.sparqr.ordering.OrderingMethod;
import io.sparqr.sparse.CsrMatrix;
import io.sparqr.symbolic.SymbolicAnalysis;
import io.sparqr.symbolic.SymbolicAnalyzer;
import io.sparqr.symbolic.SymbolicOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A stage's layout is the same, however many threads make it. */
class StageBuilderTest {

  /** All parts of a program, compared with the same of another. */
  private static void assertSame(StageProgram one, StageProgram many) {
    assertThat(many.descriptors()).isEqualTo(one.descriptors());
    assertThat(many.maps()).isEqualTo(one.maps());
    assertThat(many.sIndex()).isEqualTo(one.sIndex());
    assertThat(many.sBits()).isEqualTo(one.sBits()).isEqualTo(StageProgram.placeBits(one.sIndex()));
    assertThat(many.initialState()).isEqualTo(one.initialState());
    assertThat(many.outStart()).isEqualTo(one.outStart());
    assertThat(many.columns().number()).isEqualTo(one.columns().number());
    assertThat(many.deviceBytes()).isEqualTo(one.deviceBytes());
    assertThat(many.schedule().flops()).isEqualTo(one.schedule().flops());
    assertThat(tasks(many.schedule())).isEqualTo(tasks(one.schedule()));
    long rows = 0;
    for (int f = 0; f < many.fronts(); f++) {
      FrontDescriptor d = many.descriptor(f);
      assertThat(d).isEqualTo(FrontDescriptor.decode(one.descriptors(), f));
      rows += d.fm();
    }
    assertThat(many.probes()).isEqualTo(rows);
  }

  private static byte[] tasks(StageSchedule s) {
    byte[] bytes = new byte[Math.toIntExact(s.tasks() * TaskLayout.TASK_BYTES)];
    s.write(0, s.rounds(), ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN));
    return bytes;
  }

  private static void threadsChangeNothing(CsrMatrix a, OrderingMethod ordering) {
    var options = SymbolicOptions.defaults().withSingletons(false).withOrdering(ordering);
    SymbolicAnalysis analysis = SymbolicAnalyzer.analyze(a.pattern(), options);
    double[] ones = new double[a.columns()];
    Arrays.fill(ones, 1);
    RowSplit split = RowSplit.of(a, new double[2 * a.rows()], 2, analysis, ones);
    int[] fronts = new int[analysis.fronts()];
    Arrays.setAll(fronts, f -> f);
    var problem = new SubtreeProblem(analysis, fronts, split.rows(), List.of());
    StageProgram one = null;
    for (int threads : new int[] {1, 2, 7}) {
      var rows = new RowsByFront(problem, threads);
      var builder =
          new StageBuilder(analysis, rows, SchedulerOptions.defaults(), threads, true, false);
      StageProgram program = builder.build(fronts, List.of());
      one = one == null ? program : one;
      assertSame(one, program);
    }
  }

  /** More fronts in a round than one thread takes at a time. */
  @Test
  void ofManySmallFronts() {
    CsrMatrix a = Gallery.generate("gen:cells2d150");
    threadsChangeNothing(a, OrderingMethod.NESTED_DISSECTION);
  }

  /** A front with more rows than one thread takes, most of them with all of its columns. */
  @Test
  void ofOneTallFront() {
    var random = new Random(11);
    int m = 20_000;
    int n = 30;
    int[] start = new int[m + 1];
    int[] column = new int[m * n];
    int at = 0;
    for (int i = 0; i < m; i++) {
      int left = random.nextInt(4) > 0 ? -1 : random.nextInt(n);
      for (int j = 0; j < n; j++) {
        if (j != left) {
          column[at++] = j;
        }
      }
      start[i + 1] = at;
    }
    var a = new CsrMatrix(m, n, start, Arrays.copyOf(column, at), new double[at]);
    threadsChangeNothing(a, OrderingMethod.NATURAL);
  }
}
