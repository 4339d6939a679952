/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparqr.error.WireFormatException;
import io.sparqr.numeric.FactorSummary;
import io.sparqr.spark.report.SolveReport.FactorBytes;
import java.util.List;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** A task's report arrives, and reports add up. */
class TaskReportTest {

  private static final TaskReport.Bytes BYTES =
      new TaskReport.Bytes(17, 18, 19, new FactorBytes(20, 21, 22, 23));

  static TaskReport report(int task, double square, String reason, int... dead) {
    var summary =
        new FactorSummary(
            "cuda",
            "H200 ½",
            new FactorSummary.Work(1, 2, 3.5, 12.5, 13.5),
            new FactorSummary.DeviceUse(4, 5, 6, 7, 8, 9),
            new FactorSummary.Gram(30, 31, 32.5, 33.5),
            10,
            new FactorSummary.Check(14.5, 15),
            List.of("first", "", "dritte: ü"));
    return new TaskReport(task, summary, new double[] {square}, 16, dead, BYTES, reason);
  }

  @Test
  void everyFieldComesBack() {
    TaskReport report = report(3, -0.0, "arithmetic intensity 7.0", 4, 9);
    assertThat(TaskReport.decode(report.encode())).usingRecursiveComparison().isEqualTo(report);
    byte[] frame = report.encode();
    frame[40] ^= 1;
    assertThatThrownBy(() -> TaskReport.decode(frame)).isInstanceOf(WireFormatException.class);
  }

  /** Saved factorizations have such frames: a change needs another version of their files. */
  @Test
  void theFormatStays() {
    var sum = new CRC32C();
    sum.update(report(3, -0.0, "arithmetic intensity 7.0", 4, 9).encode());
    assertThat(sum.getValue()).isEqualTo(1735314328L);
  }

  @Test
  void reportsAddUpInTheOrderOfTheTasks() {
    // 1 + 2^-53 + 2^-53 is 1 from the left: what the driver has comes first
    double tiny = 0x1p-53;
    FactorTotals all =
        FactorTotals.of(
            List.of(report(0, tiny, "", 7), report(1, tiny, "why"), report(2, tiny, "other", 1, 3)),
            new double[] {1});
    assertThat(all.residualSquares()).containsExactly(1);
    assertThat(all.dead()).containsExactly(7, 1, 3);
    assertThat(all.entries()).isEqualTo(48);
    assertThat(all.bytesIn()).isEqualTo(51);
    assertThat(all.reflectorBytes()).isEqualTo(57);
    assertThat(all.factorBytes()).isEqualTo(new FactorBytes(60, 63, 66, 69));
    assertThat(all.backendReason()).isEqualTo("why");
    assertThat(all.summary().flopsDone()).isEqualTo(10.5);
    FactorTotals none = FactorTotals.of(List.of(), new double[] {2});
    assertThat(none.summary().backend()).isEqualTo("none");
    assertThat(none.residualSquares()).containsExactly(2);
  }
}
