/* Copyright the Sparqr authors. SPDX-License-Identifier: Apache-2.0 */
package io.sparqr.spark.factor;

import io.sparqr.numeric.FactorSummary;
import io.sparqr.spark.report.SolveReport.FactorBytes;
import io.sparqr.spark.stored.TaskOutput;
import io.sparqr.spark.wire.Frame;
import io.sparqr.spark.wire.NumberFrame;
import java.util.ArrayList;
import java.util.List;

/**
 * The report of a subtree task to the driver.
 *
 * @param task its id
 * @param summary of its factorization
 * @param residualSquares size rhsCount: squares of the components that end in this task
 * @param entries number of stored values of R
 * @param dead positions of dead pivot columns, ascending
 * @param bytesIn bytes of rows and blocks received by shuffle
 * @param blockBytes bytes of contribution blocks passed on
 * @param reflectorBytes bytes of stored Q
 * @param factorBytes where R is
 * @param backendReason the reason for the backend
 */
public record TaskReport(
    int task,
    FactorSummary summary,
    double[] residualSquares,
    long entries,
    int[] dead,
    long bytesIn,
    long blockBytes,
    long reflectorBytes,
    FactorBytes factorBytes,
    String backendReason) {

  /** Encodes the report as a frame. */
  public byte[] encode() {
    var out = new NumberFrame.Writer();
    out.putInt(task);
    put(summary, out);
    out.putDoubles(residualSquares).putLong(entries).putInts(dead);
    out.putLong(bytesIn).putLong(blockBytes).putLong(reflectorBytes);
    out.putLong(factorBytes.device()).putLong(factorBytes.memory());
    out.putLong(factorBytes.file()).putLong(factorBytes.blocks()).putText(backendReason);
    return out.seal(Frame.Kind.TASK);
  }

  /**
   * The inverse of {@link #encode}.
   *
   * @throws io.sparqr.error.WireFormatException if the frame is damaged or of another kind
   */
  public static TaskReport decode(byte[] frame) {
    var in = new NumberFrame.Reader(frame, Frame.Kind.TASK);
    var report =
        new TaskReport(
            in.getInt(),
            summary(in),
            in.getDoubles(),
            in.getLong(),
            in.getInts(),
            in.getLong(),
            in.getLong(),
            in.getLong(),
            new FactorBytes(in.getLong(), in.getLong(), in.getLong(), in.getLong()),
            in.getText());
    in.end();
    return report;
  }

  /**
   * The report at the beginning of what a task has left.
   *
   * @throws IllegalStateException if it is something else
   */
  public static TaskReport of(TaskOutput first) {
    if (first instanceof TaskOutput.Report report) {
      return decode(report.frame());
    }
    throw new IllegalStateException(first.getClass() + " where a task's report should be");
  }

  private static void put(FactorSummary s, NumberFrame.Writer out) {
    out.putText(s.backend()).putText(s.device()).putLong(s.fronts()).putLong(s.rank());
    out.putDouble(s.flopsDone()).putLong(s.stages()).putLong(s.rounds()).putLong(s.tasks());
    out.putLong(s.h2dBytes()).putLong(s.d2hBytes());
    out.putLong(s.peakDeviceBytes()).putLong(s.peakHostBytes());
    out.putDouble(s.factorSeconds()).putDouble(s.droppedNorm());
    out.putDouble(s.normDeparture()).putLong(s.redoneTasks()).putInt(s.warnings().size());
    s.warnings().forEach(out::putText);
  }

  private static FactorSummary summary(NumberFrame.Reader in) {
    String backend = in.getText();
    String device = in.getText();
    long fronts = in.getLong();
    long rank = in.getLong();
    double flops = in.getDouble();
    var use =
        new FactorSummary.DeviceUse(
            in.getLong(), in.getLong(), in.getLong(), in.getLong(), in.getLong(), in.getLong());
    long peakHostBytes = in.getLong();
    var work = new FactorSummary.Work(fronts, rank, flops, in.getDouble(), in.getDouble());
    var check = new FactorSummary.Check(in.getDouble(), in.getLong());
    return new FactorSummary(backend, device, work, use, peakHostBytes, check, texts(in));
  }

  private static List<String> texts(NumberFrame.Reader in) {
    int count = in.getCount(Integer.BYTES);
    var texts = new ArrayList<String>();
    for (int k = 0; k < count; k++) {
      texts.add(in.getText());
    }
    return texts;
  }
}
