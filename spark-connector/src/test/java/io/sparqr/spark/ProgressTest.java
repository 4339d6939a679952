/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sparqr.backend.BackendChoice;
import io.sparqr.matrix.gallery.DefaultRightHandSide;
import io.sparqr.matrix.gallery.Gallery;
import io.sparqr.numeric.Tolerances;
import io.sparqr.spark.model.SparseRow;
import io.sparqr.spark.report.ConsoleProgress;
import io.sparqr.spark.report.ProgressListener;
import io.sparqr.spark.report.SolveProfile;
import io.sparqr.spark.report.SolveReport;
import io.sparqr.sparse.CsrMatrix;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Progress is measured in flops, never goes back, and reaches the end. */
class ProgressTest {

  @Test
  void itIsSeenWithinATaskGoesForwardAndEndsAtAll() throws Exception {
    // one task, which counted as 0 of 1 until its end
    CsrMatrix a = Gallery.generate("gen:cells3d30");
    var all = Collections.synchronizedList(new ArrayList<ProgressListener.Progress>());
    SolveReport report =
        GpuSparseQR.builder()
            .backend(BackendChoice.CPU)
            .executors(1)
            .listener(all::add)
            .solve(Problems.rdd(a, 2, DefaultRightHandSide.of(a)))
            .report();
    assertThat(report.analysis().subtreeTasks()).isEqualTo(1);
    List<ProgressListener.Progress> factorize =
        all.stream().filter(p -> p.phase().equals("factorize")).toList();
    double flops = report.analysis().flops();
    double before = 0;
    for (ProgressListener.Progress p : factorize) {
      assertThat(p.fraction()).isBetween(before, 1.0);
      assertThat(p.flops()).isEqualTo(flops);
      assertThat(p.flopsDone())
          .isCloseTo(p.fraction() * flops, within(Tolerances.REORDERED * flops));
      before = p.fraction();
    }
    assertThat(before).isEqualTo(1);
    assertThat(factorize).anyMatch(p -> p.fraction() > 0 && p.fraction() < 1);
    assertThat(factorize)
        .filteredOn(p -> p.fraction() > 0.02 && p.fraction() < 1)
        .allMatch(p -> p.remainingSeconds() > 0);
    assertThat(all)
        .as("one clock for the whole solve")
        .isSortedAccordingTo((p, q) -> Double.compare(p.elapsedSeconds(), q.elapsedSeconds()));
    assertThat(all.get(all.size() - 1).phase()).isEqualTo("done");
    assertThat(all.get(all.size() - 1).fraction()).isEqualTo(1);
  }

  @Test
  void whatAFactorizationIsAskedForLaterIsToldAndNoted() {
    CsrMatrix a = Gallery.generate("gen:cells2d20");
    var all = Collections.synchronizedList(new ArrayList<ProgressListener.Progress>());
    var rows = Problems.rdd(a, 2, DefaultRightHandSide.of(a));
    for (boolean keepQ : new boolean[] {true, false}) {
      try (QRFactorization f =
          GpuSparseQR.builder()
              .keepQ(keepQ)
              .profile(true)
              .listener(all::add)
              .build()
              .factorize(rows)) {
        f.solve();
        all.clear();
        SolveReport further = f.solve(rows.map(SparseRow::labels)).report();
        assertThat(all).first().extracting(ProgressListener.Progress::phase).isEqualTo("solve");
        assertThat(all).last().extracting(ProgressListener.Progress::phase).isEqualTo("done");
        assertThat(further.profile().phases())
            .extracting(SolveProfile.Phase::name)
            .as("those of the factorization, and two solves")
            .contains("factorize")
            .filteredOn("solve"::equals)
            .hasSize(2);
        all.clear();
        f.standardErrors();
        assertThat(all).first().extracting(ProgressListener.Progress::phase).isEqualTo("errors");
        assertThat(all).last().extracting(ProgressListener.Progress::phase).isEqualTo("done");
        assertThat(f.summary().profile().phases())
            .last()
            .extracting(SolveProfile.Phase::name)
            .isEqualTo("errors");
      }
    }
  }

  @Test
  void theConsoleSaysWhatIsDoneAndWhatIsLeft() {
    var bytes = new ByteArrayOutputStream();
    var console =
        new ConsoleProgress(new PrintStream(bytes, true, StandardCharsets.UTF_8), 0, false);
    console.update(
        new ProgressListener.Progress("factorize", "level 1", 0.999, 10, 1.2e12, 3.4e12, 3723));
    console.update(new ProgressListener.Progress("solve", "back substitution", 0.5, 20));
    assertThat(bytes.toString(StandardCharsets.UTF_8).lines())
        .containsExactly(
            "[  10.0 s] factorize: level 1 (99%, 1.2 TFLOP of 3.4 TFLOP, about 1:02:03 left)",
            "[  20.0 s] solve: back substitution (50%)");
  }
}
